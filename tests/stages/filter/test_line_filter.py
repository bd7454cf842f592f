"""Laws of the line filter: the lines of a plain reference, alone and with C4; what stays is what it was."""

import unicodedata

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dataassets.recipe import C4, Filter, LineFilter
from dataassets.stages.filter import edits, judge, language, measure, measured_by, schema
from dataassets.stages.text import plain

SHARES = st.sampled_from([None, 0, 0.2, 1 / 3, 0.5, 0.8, 1])
COUNTS = st.sampled_from([None, 0, 1, 2, 3, 5])
LINE_FILTERS = st.builds(
    LineFilter,
    max_symbol_share=SHARES,
    min_stop_words=COUNTS,
    stop_words=st.sampled_from([("the", "be", "and"), (), ("日本語", "x", "12"), ("über", "...")]),
    min_words=COUNTS,
    max_upper_share=SHARES,
    need_letter=st.booleans(),
    keep_fences=st.booleans(),
    min_kept=SHARES,
)
ALL_STAY = LineFilter(max_symbol_share=None)
MORE = [
    "```\n",
    "~~~\n",
    "```py\n",
    "\n```\n",
    "ALL CAPS\n",
    "ÜBER Über\n",
    "---\n",
    "* * *\n",
    "हिन्दी\n",
    "1.\n",
    "AND\n",
]


@pytest.fixture(autouse=True)
def _no_model(monkeypatch):
    """Language has its own tests; here it would be most of the time."""
    monkeypatch.setattr(language, "identify", lambda texts: (["en"] * len(texts), np.ones(len(texts), np.float32)))


def stays(line, own):
    """Whether a line stays for what it holds."""
    chars = [char for char in line if not char.isspace()]
    if not chars:
        return True
    kinds = [unicodedata.category(char) for char in chars]
    if own.max_symbol_share is not None and sum(kind[0] in "PS" for kind in kinds) / len(chars) > own.max_symbol_share:
        return False
    upper, lower = kinds.count("Lu"), kinds.count("Ll")
    if own.max_upper_share is not None and upper and upper / (upper + lower) > own.max_upper_share:
        return False
    found = [line[a:b] for a, b in plain._word_places(line)]  # IS_ALPHA, which datatrove deletes, is a word here
    spelled = {form for word in own.stop_words for form in (word, word.capitalize(), word.upper())}
    if sum(word in spelled for word in found) < (own.min_stop_words or 0):
        return False
    if sum(any(char.isalpha() or char.isdecimal() for char in word) for word in found) < (own.min_words or 0):
        return False
    return any(map(str.isalpha, chars)) or not own.need_letter


def fenced(lines):
    """Numbers of the lines from a fence to the next one of its kind."""
    found, at = set(), 0
    while at < len(lines):
        fence = lines[at].strip()[:3]
        ends = [k for k in range(at + 1, len(lines)) if fence in ("```", "~~~") and lines[k].strip().startswith(fence)]
        if ends:
            found |= set(range(at, ends[0] + 1))
            at = ends[0]
        at += 1
    return found


def filtered(text, own):
    """Numbers of the lines that stay, and their share of the characters."""
    lines = text.splitlines()
    safe = fenced(lines) if own.keep_fences else set()
    numbers = [k for k, line in enumerate(lines) if k in safe or stays(line, own)]
    sizes = [len("".join(line.split())) for line in lines]
    return numbers, sum(sizes[k] for k in numbers) / sum(sizes) if sum(sizes) else None


def text_of(text, numbers):
    """The lines with their ends; without the last end where lines behind it are gone."""
    lines = text.splitlines(keepends=True)
    kept = [lines[k] for k in numbers]
    if numbers and numbers[-1] < len(lines) - 1:
        kept[-1] = "".join(kept[-1].splitlines())
    return "".join(kept)


def judged(documents, chosen):
    signals, _ = measure(documents, settings=chosen)
    table, _ = judge(documents, signals, settings=chosen)
    return signals, table["reason"].to_pylist(), table["text"].to_pylist()


def with_more(texts, data):
    """Texts with lines that this rule looks at."""
    return ["".join(data.draw(st.lists(st.sampled_from([text, *MORE]), max_size=8))) for text in texts]


def test_a_text_that_is_cut_elsewhere_changes_nothing_of_those_around_it(documents_of):
    own = LineFilter(max_symbol_share=None, min_words=2, min_stop_words=1, stop_words=("the",))
    texts = ["the first\nno", "0 IS_ALPHA the\nIS_ALPHA", "the last one\nnor this"]
    signals, _, _ = judged(documents_of(texts), Filter(line_filter=own))
    assert signals["line_filter_lines"].to_pylist() == [[0], [0], [0]]


@settings(deadline=None, max_examples=200)
@given(data=st.data(), own=LINE_FILTERS, batch_rows=st.sampled_from([2, 4096]))
def test_lines_share_reason_and_text_are_those_of_the_reference(data, own, batch_rows, nasty_texts, documents_of):
    texts = with_more(data.draw(nasty_texts), data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(edits, "BATCH_ROWS", batch_rows)
        signals, reasons, made = judged(documents_of(texts), Filter(line_filter=own))
    expected = [filtered(text, own) for text in texts]
    assert signals["line_filter_lines"].to_pylist() == [numbers for numbers, _ in expected]
    assert signals["line_filter_kept"].to_pylist() == [share for _, share in expected]
    for text, reason, new, (numbers, share) in zip(texts, reasons, made, expected, strict=True):
        gone = own.min_kept is not None and share is not None and share < own.min_kept
        assert (reason, new) == (("line_filter:too_little_left", text) if gone else ("", text_of(text, numbers)))


@settings(deadline=None, max_examples=100)
@given(
    data=st.data(), own=LINE_FILTERS, c4=st.builds(C4, terminal_punct=st.booleans(), min_sentences=st.integers(0, 2))
)
def test_with_c4_a_line_stays_iff_both_keep_it(data, own, c4, nasty_texts, reference, documents_of):
    texts = with_more(data.draw(nasty_texts), data)
    _, reasons, made = judged(documents_of(texts), Filter(line_filter=own, c4=c4))
    for text, reason, new in zip(texts, reasons, made, strict=True):
        refused, numbers, _, num_sentences = reference.c4(text, c4)
        ours, share = filtered(text, own)
        if refused or num_sentences < c4.min_sentences:
            assert (reason, new) == (f"c4:{refused or 'too_few_sentences'}", text)
        elif own.min_kept is not None and share is not None and share < own.min_kept:
            assert (reason, new) == ("line_filter:too_little_left", text)
        else:
            both = set(numbers) & set(ours)
            lines = [
                reference.CITATION.sub("", line.strip()) if c4.citations else line.strip() for line in text.splitlines()
            ]
            assert (reason, new) == ("", "\n".join(lines[k] for k in sorted(both)).strip())


@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_where_nothing_goes_the_text_is_byte_for_byte_the_same(data, nasty_texts, documents_of):
    texts = data.draw(nasty_texts)
    assert judged(documents_of(texts), Filter(line_filter=ALL_STAY))[2] == texts


@settings(deadline=None, max_examples=60)
@given(data=st.data(), own=LINE_FILTERS)
def test_a_second_time_removes_nothing_more(data, own, nasty_texts, documents_of):
    chosen = Filter(
        line_filter=own.model_copy(update={"keep_fences": False, "min_kept": None})
    )  # a fence may lose its partner
    once = judged(documents_of(with_more(data.draw(nasty_texts), data)), chosen)[2]
    assert judged(documents_of(once), chosen)[2] == once


def test_defaults_remove_rulers_and_keep_what_is_written(documents_of):
    text = 'A title\n=======\n\nफ़िल्म की कहानी\n  Indented (twice), "so"…\r\n* * *\nเขาไปที่ตลาด\n```\n}{;\n```\n}{;\n'
    expected = text.replace("=======\n", "").replace("* * *\n", "").removesuffix("\n}{;\n")
    assert judged(documents_of([text]), Filter(line_filter=LineFilter()))[2] == [expected]


@pytest.mark.parametrize(
    ("own", "gone"),
    [
        ({"min_stop_words": 1}, {"SOLD OUT", "7", "Home page"}),
        ({"min_words": 2}, {"7"}),
        ({"max_upper_share": 0.5}, {"SOLD OUT"}),
        ({"need_letter": True}, {"7"}),
        ({"min_stop_words": 1, "stop_words": ("out", "page", "dog")}, {"7"}),
        ({}, set()),
    ],
)
def test_each_switch_removes_its_lines(own, gone, documents_of):
    lines = ["The dog of the house.", "SOLD OUT", "7", "Home page"]
    made = judged(documents_of(["\n".join(lines)]), Filter(line_filter=LineFilter(max_symbol_share=None, **own)))[2]
    assert made == ["\n".join(line for line in lines if line not in gone)]


def test_fineweb_judges_what_it_judged_before(documents_of, real_texts):
    """It stands before in the order, so a line filter changes none of its reasons."""
    from dataassets.recipe import FineWeb

    documents = documents_of(real_texts)
    own = LineFilter(min_stop_words=2, max_upper_share=0.2)
    for c4 in (None, C4(terminal_punct=False)):
        alone = judged(documents, Filter(c4=c4, fineweb=FineWeb()))
        both = judged(documents, Filter(c4=c4, fineweb=FineWeb(), line_filter=own))
        assert alone[1] == both[1]
        assert alone[2] != both[2]


def test_it_is_measured_where_it_is_on_and_its_limit_does_not_shape_it(documents_of):
    on = Filter(line_filter=LineFilter())
    assert "line_filter" not in measured_by(Filter())
    assert schema(on).names[-2:] == ["line_filter_lines", "line_filter_kept"]
    assert measured_by(on) == measured_by(Filter(line_filter=LineFilter(min_kept=0.9)))
    assert measured_by(on) != measured_by(Filter(line_filter=LineFilter(min_words=2)))
    empty, _ = measure(documents_of([]), settings=on)
    assert empty.schema == schema(on)
    assert judge(documents_of([]), empty, settings=on)[0]["text"].type == pa.large_string()


def test_numbers_of_lines_of_several_lists():
    lists = [
        pa.array([[0, 5], [], None, [1]], pa.list_(pa.int32())),
        pa.array([[5, 7], [0], [0], [1, 2]], pa.list_(pa.int32())),
    ]
    lines, first = edits.kept_by_all(lists, pa.array([True, True, False, True]))
    assert (lines.tolist(), first.tolist()) == ([5, 1], [0, 1, 1, 1, 2])


def test_each_language_has_its_own_lines(documents_of, monkeypatch):
    """One language with C4, one without, one with neither; in one table, in its order."""
    monkeypatch.setattr(language, "identify", lambda texts: ([text.as_py()[:2] for text in texts], np.ones(len(texts))))
    chosen = Filter(
        line_filter=LineFilter(),
        languages={"de": {"c4": {"min_sentences": 0, "terminal_punct": False}}, "fr": {"line_filter": None}},
    )
    bodies = [f"{code}  one [1] two three.\n***\n more  \n" for code in ("fr", "de", "en", "de")]
    signals, reasons, made = judged(documents_of(bodies), chosen)
    assert reasons == [""] * 4
    assert signals["line_filter_lines"].to_pylist() == [None, [0, 2], [0, 2], [0, 2]]
    assert made == [bodies[0], "de  one  two three.", bodies[2].replace("***\n", ""), "de  one  two three."]
