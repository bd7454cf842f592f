"""The filters as FILTERS.md states them, one document at a time, in plain Python: slow and easy to read."""

import re
from collections import Counter

from dataassets.stages.text import OTHER_SYMBOLS, TERMINAL_MARKS, code_points, sentences, words

TERMINAL = set(map(chr, code_points(TERMINAL_MARKS)))
SYMBOLS = TERMINAL | set(map(chr, code_points(OTHER_SYMBOLS)))
CITATION = re.compile(r"\[\d*]|\[edit]|\[citation needed]")
POLICY = ["terms of use", "privacy policy", "cookie policy", "uses cookies", "use of cookies", "use cookies"]


def share(part, whole):
    return part / whole if whole else None


def repeats(items):
    """Number and characters of the items seen before."""
    seen, found = set(), []
    for item in items:
        if item in seen:
            found.append(item)
        seen.add(item)
    return len(found), sum(map(len, found))


def repetition(text, limits=None):
    """With the orders of n-grams that limits name beside those that are always there."""
    top, dup = ({*limits.top_n_grams}, {*limits.dup_n_grams}) if limits else (set(), set())
    separator = "\n" if limits and limits.ngram_separator else ""
    paragraphs, lines, W = re.split(r"\n{2,}", text.strip()), re.split(r"\n+", text), words(text)
    found = {}
    for name, items in (("para", paragraphs), ("line", lines)):
        count, chars = repeats(items)
        found[f"dup_{name}_frac"] = share(count, len(items))
        found[f"dup_{name}_char_frac"] = share(chars, len(text))
    for n in sorted({2, 3, 4} | top):
        grams = [" ".join(W[i : i + n]) for i in range(len(W) - n + 1)]
        top, count = Counter(grams).most_common(1)[0] if grams else ("", 0)
        found[f"top_{n}_gram"] = share(len(top) * count, len(text))
    for n in sorted({*range(5, 11)} | dup):
        seen, chars, i = set(), 0, 0
        while i < len(W) - n + 1:
            key = separator.join(W[i : i + n])
            chars += len("".join(W[i : i + n])) if key in seen else 0
            i += n if key in seen else 1
            seen.add(key)
        found[f"duplicated_{n}_n_grams"] = share(chars, len(text))
    return found


def quality(text, stop_words):
    W, lines = words(text), text.splitlines()
    S = [w for w in W if any(c not in SYMBOLS for c in w)]
    return {
        "num_chars": len(text),
        "num_words": len(W),
        "num_nonsymbol_words": len(S),
        "mean_word_length": share(sum(map(len, S)), len(S)),
        "hash_ratio": share(text.count("#"), len(W)),
        "ellipsis_ratio": share(text.count("...") + text.count("…"), len(W)),
        "bullet_lines": share(sum(line.lstrip().startswith(("•", "-")) for line in lines), len(lines)),
        "end_ellipsis_lines": share(sum(line.rstrip().endswith(("...", "…")) for line in lines), len(lines)),
        "alpha_words": share(sum(any(c.isalpha() for c in w) for w in W), len(W)),
        "num_stop_words": len(set(stop_words) & set(W)),
    }


def fineweb(text, limits):
    stop_chars = tuple(TERMINAL) if limits.stop_chars is None else limits.stop_chars
    lines = [line for line in text.split("\n") if line.strip()]
    return {
        "num_lines": len(lines),
        "line_punct_ratio": share(sum(line.endswith(stop_chars) for line in lines), len(lines)),
        "short_line_ratio": share(sum(len(line) <= limits.short_line_length for line in lines), len(lines)),
        "char_dup_ratio": share(repeats(lines)[1], len(text) - text.count("\n")),
        "list_ratio": share(text.count("\n"), len(words(text))),
    }


def c4(text, settings):
    """Why the document is refused, numbers of kept lines, the text of them, their sentences."""
    numbers, kept, num_sentences = [], [], 0
    pieces = text.splitlines() if settings.split_paragraph else sentences(text) or [text]
    for number, line in enumerate(pieces):
        line = line.strip()
        W = line.split()
        if settings.max_word_length and any(len(w) > settings.max_word_length for w in W):
            continue
        if settings.citations:
            line = CITATION.sub("", line)
        ends = line.endswith((".", "?", "!", '"', "'")) and not line.endswith("...")
        if settings.terminal_punct and not ends:
            continue
        if len(W) < settings.min_words_per_line:
            continue
        low = line.lower()
        if settings.lorem_ipsum and "lorem ipsum" in low:
            return "lorem_ipsum", None, None, None
        if settings.javascript and "javascript" in low:
            continue
        if settings.curly_bracket and "{" in line:
            return "curly_bracket", None, None, None
        if settings.policy and any(p in low for p in POLICY):
            continue
        num_sentences += max(1, len(sentences(line))) if settings.split_paragraph else 1
        numbers.append(number)
        kept.append(line)
    return "", numbers, ("\n" if settings.split_paragraph else " ").join(kept).strip(), num_sentences


def signals(text, *, c4_settings, stop_words, shape, grams=None):
    """One row of signals, without id and language; and the text that C4 makes."""
    row = repetition(text, grams) | quality(text, stop_words) | fineweb(text, shape)
    refused, numbers, rewritten, num_sentences = c4(text, c4_settings)
    row |= {"c4_refused": refused, "c4_lines": numbers, "c4_num_sentences": num_sentences}
    row["c4_num_words"] = None if refused else len(words(rewritten))
    made = fineweb(rewritten or "", shape)
    row |= {f"c4_{name}": None if refused else value for name, value in made.items()}
    return row, rewritten


def judge(text, settings, *, language="en", score=1.0):
    """Reason of one document and its text, by a chain of ifs."""
    if (own := settings.length) and (test := _length_test(text, own)):
        return f"length:{test}", text
    if (own := settings.language) and (language not in own.keep or score < own.min_score):
        return f"language:{'low_score' if language in own.keep else 'other'}", text
    if (own := settings.gopher_repetition) and (test := _repetition_test(text, own)):
        return f"gopher_repetition:{test}", text
    if (own := settings.gopher_quality) and (test := _quality_test(text, own)):
        return f"gopher_quality:{test}", text
    judged, refused = c4_judged(text, settings.c4) if settings.c4 else (text, "")
    if refused:
        return f"c4:{refused}", text
    if (own := settings.fineweb) and (test := _fineweb_test(judged, own)):
        return f"fineweb:{test}", text
    return "", judged


def c4_judged(text, limits):
    refused, _, rewritten, num_sentences = c4(text, limits)
    if not refused and num_sentences < limits.min_sentences:
        return None, "too_few_sentences"
    return rewritten, refused


def _length_test(text, limits):
    found = {"num_chars": len(text), "num_words": len(words(text))}
    found["num_lines"] = sum(bool(line.strip()) for line in text.split("\n"))
    tests = [
        ("short", "num_chars", "<", limits.min),
        ("long", "num_chars", ">", limits.max),
        ("few_words", "num_words", "<", limits.min_words),
        ("many_words", "num_words", ">", limits.max_words),
        ("few_lines", "num_lines", "<", limits.min_lines),
        ("many_lines", "num_lines", ">", limits.max_lines),
    ]
    return _first_failed(found, tests)


def _repetition_test(text, limits):
    if text == "":
        return "empty"
    found = repetition(text, limits)
    tests = [(name, getattr(limits, name)) for name in list(found)[:4]]
    tests = [(name, limit or None) for name, limit in tests]
    tests += [(f"top_{n}_gram", limit) for n, limit in sorted(limits.top_n_grams.items())]
    tests += [(f"duplicated_{n}_n_grams", limit) for n, limit in sorted(limits.dup_n_grams.items())]
    return next((name for name, limit in tests if limit is not None and found[name] > limit), None)


def _quality_test(text, limits):
    found = quality(text, limits.stop_words)
    tests = [
        ("gopher_short_doc", "num_nonsymbol_words", "<", limits.min_words),
        ("gopher_long_doc", "num_nonsymbol_words", ">", limits.max_words),
        ("gopher_below_avg_threshold", "mean_word_length", "<", limits.min_avg_word_length),
        ("gopher_above_avg_threshold", "mean_word_length", ">", limits.max_avg_word_length),
        ("gopher_too_many_hashes", "hash_ratio", ">", limits.max_symbol_ratio),
        ("gopher_too_many_ellipsis", "ellipsis_ratio", ">", limits.max_symbol_ratio),
        ("gopher_too_many_bullets", "bullet_lines", ">", limits.max_bullet_lines),
        ("gopher_too_many_end_ellipsis", "end_ellipsis_lines", ">", limits.max_ellipsis_lines),
        ("gopher_below_alpha_threshold", "alpha_words", "<", limits.min_alpha_words),
        ("gopher_enough_stop_words", "num_stop_words", "<", limits.min_stop_words),
    ]
    return _first_failed(found, tests)


def _first_failed(found, tests):
    for name, quantity, sign, limit in tests:
        value = found[quantity]
        if limit and value is not None and (value < limit if sign == "<" else value > limit):
            return name
    return None


def _fineweb_test(text, limits):
    found = fineweb(text, limits)
    if not found["num_lines"]:
        return "empty"
    ratio = found["line_punct_ratio"]
    low = limits.line_punct_ratio is not None and ratio < limits.line_punct_ratio
    if low and not (ratio == 0 and limits.line_punct_exclude_zero):
        return "line_punct_ratio"
    tests = [("short_line_ratio", limits.short_line_ratio), ("char_dup_ratio", limits.char_dup_ratio)]
    tests.append(("list_ratio", limits.new_line_ratio))
    return next((name for name, limit in tests if limit is not None and (found[name] or 0) > limit), None)
