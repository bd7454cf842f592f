"""Laws of the automaton and of folding: what `re` finds of an alternation, whatever the patterns and the text."""

import re

import numpy as np
import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from dataassets.stages.filter.automaton import build, count_found, first_found
from dataassets.stages.filter.folding import fold_table, folded, simple_fold

SMALL = st.text("ab -_\n", max_size=40) | st.text("aAéÉß\u0301日x- ", max_size=30)
ENTRIES = st.text("aAb -_éÉß日", min_size=1, max_size=6).map(lambda text: " ".join(text.split())).filter(bool)
AS_IS = np.arange(256, dtype=np.uint8)


def folding_of(text):
    """Plain: simple case folding, one space for white space."""
    return re.sub(r"\s+", " ", "".join(map(simple_fold, text)))


def found_by_re(text, whole, anywhere):
    """All that `re` finds of one alternation, longest entries first."""
    flanked = {entry: rf"(?<!\w){re.escape(entry)}(?!\w)" for entry in whole - anywhere}
    entries = flanked | {entry: re.escape(entry) for entry in anywhere}
    longest_first = sorted(entries, key=len, reverse=True)
    return re.findall("|".join(entries[entry] for entry in longest_first), folding_of(text))


def counted(text, whole, anywhere, dense_states=1024):
    patterns = [folded(entry) for entry in whole - anywhere] + [folded(entry)[1:] for entry in anywhere]
    found, raw = build(patterns, dense_states=dense_states), folded(text)
    buffer, seen = np.frombuffer(raw + b"\0", np.uint8), np.full(len(patterns), -1)
    return count_found(buffer, len(raw), found, fold_table(), seen, 0)


DENSE = st.sampled_from([1, 3, 1024])  # how many states have a dense row changes nothing


@given(text=SMALL, whole=st.sets(ENTRIES.map(folding_of)), anywhere=st.sets(ENTRIES.map(folding_of)), dense=DENSE)
def test_what_is_counted_is_what_re_finds(text, whole, anywhere, dense):
    if whole | anywhere:
        expected = found_by_re(text, whole, anywhere)
        assert counted(text, whole, anywhere, dense) == (len(expected), len(set(expected)))


@given(st.data())
def test_entries_cut_from_the_text_itself_are_counted_as_re_finds_them(data):
    text = data.draw(st.text(max_size=60) | SMALL.map(lambda text: text * 3))
    cuts = st.tuples(st.integers(0, len(text)), st.integers(1, 9)).map(lambda at: text[at[0] : at[0] + at[1]])
    entries = st.sets(cuts.map(folding_of).map(str.strip).filter(bool), max_size=8)
    whole, anywhere = data.draw(entries), data.draw(entries)
    if whole | anywhere:
        expected = found_by_re(text, whole, anywhere)
        assert counted(text, whole, anywhere) == (len(expected), len(set(expected)))


@pytest.mark.parametrize(
    ("text", "entries", "expected"),
    [
        ("ab abc abcd", {"ab", "abc", "bc", "abcd"}, (3, 3)),  # nested: the whole word
        ("a b d", {"a", "b", "a b c"}, (2, 2)),  # a long one that does not come lets the short ones count
        ("a b a b a", {"a b a", "b a b", "b"}, (2, 2)),  # overlapping: from the left
        ("ab", {"a"}, (0, 0)),
        ("a_ _a a1 ²a é", {"a", "e"}, (0, 0)),  # of a word are letters, digits and the low line
        ("a.(a)\u3000a\x85«a»", {"a"}, (4, 1)),
        ("A\n\t a", {"a a"}, (1, 1)),  # white space in a phrase is any white space
        ("a$$ $a a$$b", {"a$$", "$a"}, (2, 2)),  # an entry that ends in a mark is flanked too
        ("ΣΟΦΟΣ σοφος ΣΟΦΌΣ", {"σοφος"}, (2, 1)),
        ("STRASSE Straße STRAẞE", {"straße"}, (2, 1)),  # simple folding leaves ß one character
        ("日本語", {"日本"}, (0, 0)),
        ("", {"a"}, (0, 0)),
    ],
)
def test_known_texts(text, entries, expected):
    assert counted(text, {folding_of(entry) for entry in entries}, set()) == expected


@given(
    text=st.text("abé", max_size=30),
    entries=st.sets(st.text("abé", min_size=1, max_size=5), min_size=1, max_size=8),
    dense=DENSE,
)
def test_the_first_that_ends_is_found_the_longest_of_them(text, entries, dense):
    buffer = np.frombuffer(text.encode() + b"\0", np.uint8)
    found = build((entry.encode() for entry in entries), dense_states=dense)
    ends = [
        (end, -len(entry), entry) for entry in entries for end in range(len(text) + 1) if text[:end].endswith(entry)
    ]
    p = first_found(buffer, 0, len(text.encode()), found, AS_IS)
    assert (found.pattern(p).decode() if p >= 0 else None) == (min(ends)[2] if ends else None)


def test_a_hundred_thousand_patterns_are_small_and_each_is_found():
    entries = [f"{k * 2654435761 % 2**40:010x}" for k in range(100_000)]
    found = build(entry.encode() for entry in entries)
    assert sum(array.nbytes for array in found) < 25e6
    for k in (0, 4711, 99_999):
        text = np.frombuffer(f"xyz{entries[k]}".encode(), np.uint8)
        assert found.pattern(first_found(text, 0, len(text), found, AS_IS)).decode() == entries[k]


def test_folding_is_that_of_regex():
    """`regex` matches by simple case folding, in its own tables."""
    changed = [chr(point) for point in range(0x110000) if simple_fold(chr(point)) != chr(point)]
    assert len(changed) > 1400
    for char in changed:
        assert regex.fullmatch(regex.escape(simple_fold(char)), char, regex.IGNORECASE), f"U+{ord(char):04X}"


@given(st.text(max_size=60))
def test_a_folded_text_is_the_plain_one_with_marks_where_words_may_start(text):
    raw = folded(text)
    assert raw.replace(b"\xff", b"").decode() == folding_of(text)
    starts = [part.decode() for part in raw.split(b"\xff")[1:]]
    assert starts == re.findall(r"\w+[^\w]?|[^\w]", folding_of(text))
