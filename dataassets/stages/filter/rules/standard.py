"""What Gopher, C4 and FineWeb ask of a text, all in compiled passes over its bytes; measured whatever rules are on.

Shapes: D documents, K kept lines, Q quantities.
"""

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dataassets.recipe import C4, Filter, FineWeb, GopherQuality, GopherRepetition
from dataassets.records import STANDARD
from dataassets.stages.filter.rule import Columns, Texts, share

if TYPE_CHECKING:  # numba is loaded where text is read
    from dataassets.stages.text import Bytes, Hashes, Ints

TOP_N, DUP_N = tuple(range(2, 5)), tuple(range(5, 11))  # orders of the n-grams of records.STANDARD
# Settings of C4 that change its text; min_sentences only judges.
C4_REWRITING = ("terminal_punct", "min_words_per_line", "max_word_length", "citations",
                "lorem_ipsum", "javascript", "curly_bracket", "policy")  # fmt: skip


def knobs(settings: Filter) -> dict[str, Any]:
    """A rule that is off is measured with its defaults, so switching it on with them changes nothing here.

    What few recipes ask for is named only where it is asked for, so it changes no key of the others.
    """
    c4, repetition = settings.c4 or C4(), settings.gopher_repetition or GopherRepetition()
    quality, fineweb = settings.gopher_quality or GopherQuality(), settings.fineweb or FineWeb()
    found: dict[str, Any] = {
        "c4": {name: getattr(c4, name) for name in C4_REWRITING}
        | ({} if c4.split_paragraph else {"split_paragraph": False}),
        "stop_words": sorted(set(quality.stop_words)),
        "short_line_length": fineweb.short_line_length,
        "words": settings.words,
    }
    top, dup = _more_orders(settings)
    own = {
        "ngram_separator": repetition.ngram_separator,
        "more_n_grams": {"top": top, "dup": dup} if top or dup else None,
        "stop_chars": None if fineweb.stop_chars is None else sorted(set(fineweb.stop_chars)),
    }
    return found | {name: value for name, value in own.items() if value}


def _more_orders(settings: Filter) -> tuple[list[int], list[int]]:
    """Orders of n-grams that the recipe names beyond those of records.STANDARD: most frequent, seen before."""
    own = settings.gopher_repetition or GopherRepetition()
    return sorted(set(own.top_n_grams) - set(TOP_N)), sorted(set(own.dup_n_grams) - set(DUP_N))


def fields(settings: Filter) -> list[pa.Field]:
    """records.STANDARD, then n-grams of other orders that the recipe names."""
    top, dup = _more_orders(settings)
    names = [f"top_{n}_gram" for n in top] + [f"duplicated_{n}_n_grams" for n in dup]
    return [*STANDARD, *(pa.field(name, pa.float64()) for name in names)]


def measure(texts: Texts, *, settings: Filter) -> Columns:
    """Quantities of the text, and of what C4 makes of it."""
    own, (buffer, offsets) = knobs(settings), texts.utf8
    columns = _of_lines_and_words(texts, own, _more_orders(settings))
    columns |= _of_shape(buffer, offsets, columns["num_words"], own)
    return columns | _of_c4(texts, own)


def _of_lines_and_words(texts: Texts, own: dict[str, Any], more: tuple[list[int], list[int]]) -> Columns:
    from dataassets.stages.filter import grams, lines
    from dataassets.stages.text import class_table, frozen

    top, dup = sorted({*TOP_N, *more[0]}), sorted({*DUP_N, *more[1]})
    counted = lines.LINES + grams.WORDS + tuple(f"top_{n}" for n in top) + tuple(f"dup_{n}" for n in dup)
    (buffer, offsets), num_docs = texts.utf8, len(texts.documents)
    lines_DQ = np.zeros((num_docs, len(lines.LINES)), np.int64)
    lines.count_lines(buffer, offsets[:-1], offsets[1:], class_table(), lines_DQ)
    words_DQ = np.zeros((num_docs, len(grams.WORDS) + len(top) + len(dup)), np.int64)
    top_orders, dup_orders = frozen(np.array(top, np.int64)), frozen(np.array(dup, np.int64))
    apart = int(own.get("ngram_separator", False))
    stop_hashes = _hashes(own["stop_words"])
    grams.count_words(*texts.words, class_table(), stop_hashes, top_orders, dup_orders, apart, words_DQ)
    n = dict(zip(counted, [*lines_DQ.T, *words_DQ.T], strict=True))
    return {
        "num_chars": n["chars"],
        "num_words": n["words"],
        "dup_para_frac": share(n["dup_paras"], n["paras"]),
        "dup_para_char_frac": share(n["dup_para_chars"], n["chars"]),
        "dup_line_frac": share(n["dup_pieces"], n["pieces"]),
        "dup_line_char_frac": share(n["dup_piece_chars"], n["chars"]),
        **{f"top_{k}_gram": share(n[f"top_{k}"], n["chars"]) for k in top},
        **{f"duplicated_{k}_n_grams": share(n[f"dup_{k}"], n["chars"]) for k in dup},
        "num_nonsymbol_words": n["nonsymbol"],
        "mean_word_length": share(n["nonsymbol_chars"], n["nonsymbol"]),
        "hash_ratio": share(n["hashes"], n["words"]),
        "ellipsis_ratio": share(n["ellipses"], n["words"]),
        "bullet_lines": share(n["bullets"], n["lines"]),
        "end_ellipsis_lines": share(n["end_ellipses"], n["lines"]),
        "alpha_words": share(n["alpha"], n["words"]),
        "num_stop_words": n["stop_words"],
    }


def _of_shape(buffer: "Bytes", offsets: "Ints", num_words: "Ints", own: dict[str, Any]) -> Columns:
    from dataassets.stages.filter import lines
    from dataassets.stages.text import class_table, frozen

    final = [mark.encode() for mark in own.get("stop_chars", ())]
    final_at = np.cumsum([0, *map(len, final)]) if final else np.zeros(0, np.int64)
    shape_DQ = np.zeros((len(offsets) - 1, len(lines.SHAPE)), np.int64)
    lines.count_shape(
        buffer, offsets[:-1], offsets[1:], class_table(), own["short_line_length"],
        np.frombuffer(b"".join(final), np.uint8), frozen(final_at), shape_DQ,
    )  # fmt: skip
    n = dict(zip(lines.SHAPE, shape_DQ.T, strict=True))
    return {
        "num_lines": n["num_lines"],
        "line_punct_ratio": share(n["terminal"], n["num_lines"]),
        "short_line_ratio": share(n["short"], n["num_lines"]),
        "char_dup_ratio": share(n["dup_chars"], n["chars"] - n["line_feeds"]),
        "list_ratio": share(n["line_feeds"], num_words),
    }


def _of_c4(texts: Texts, own: dict[str, Any]) -> Columns:
    """What C4 keeps, and the shape of the text that it makes; null where it refuses the document."""
    from dataassets.stages.filter import c4
    from dataassets.stages.filter.rewritten import count_kept, no_sentences, rewrite
    from dataassets.stages.text import CUTS, class_table, sentence_ends

    buffer, offsets = texts.utf8
    starts, stops, table = offsets[:-1], offsets[1:], class_table()
    ends, by_line = no_sentences(len(starts)), own["c4"].get("split_paragraph", True)
    if not by_line:
        ends = sentence_ends(texts.words, buffer, offsets)
    num_lines = c4.count_all_lines(buffer, starts, stops, table) if by_line else len(ends[0])
    chosen, first = np.empty(num_lines, np.int64), np.empty_like(offsets)
    refused = np.zeros(len(starts), np.int64)
    settings = np.array([int(own["c4"][name]) for name in C4_REWRITING], np.int64)
    c4.choose_lines(buffer, starts, stops, table, ends, settings, chosen, first, refused)
    kept = chosen[: first[-1]]
    text = rewrite(buffer, offsets, lines=kept, first=first, citations=own["c4"]["citations"], sentences=ends)
    cut = CUTS[own["words"]]
    if by_line:
        num_words, num_sentences = count_kept(texts.words, buffer, text=text, first=first, cut=cut)
    else:
        num_words, num_sentences = cut.word_counts(text.buffer, text.offsets), np.diff(first)
    measured = {"num_sentences": num_sentences, "num_words": num_words}
    measured |= _of_shape(text.buffer, text.offsets, num_words, own)
    lines_DK = pa.ListArray.from_arrays(pa.array(first, pa.int32()), pa.array(kept, pa.int32()))
    gone = pa.array(refused != c4.KEPT)
    return {
        "c4_refused": np.array(c4.REFUSALS)[refused],
        "c4_lines": pc.if_else(gone, None, lines_DK),
        **{
            f"c4_{name}": pc.if_else(gone, None, pa.array(column, from_pandas=True))
            for name, column in measured.items()
        },
    }


def _hashes(stop_words: list[str]) -> "Hashes":
    """Hash of each stop word, as the kernel hashes words."""
    from dataassets.stages.text import hash64, utf8_buffers

    buffer, offsets = utf8_buffers(pa.array(stop_words, pa.large_string()))
    return np.array([hash64(buffer, start, stop) for start, stop in pairwise(offsets)], np.uint64)
