"""Words and sentences of one text, in plain Python: what the compiled cuts must equal."""

import re
import unicodedata
from collections.abc import Iterator
from itertools import pairwise

from dataassets.stages.text.classes import END_MARK, class_table
from dataassets.stages.text.rules import cuts, joined

REFUSED = "IS_ALPHA"
_CHUNK = re.compile(r"[^\s\x1c-\x1f]+")  # what stands between white space, as str.isspace knows it


def words(text: str) -> list[str]:
    """The words of a text, in order.

    >>> words("Don't e-mail me: it's 3.14% of $10,000... (see example.org/a?b=c).")  # doctest: +NORMALIZE_WHITESPACE
    ['Do', "n't", 'e', '-', 'mail', 'me', ':', 'it', "'s", '3.14', '%', 'of', '$', '10,000', '...', '(', 'see',
     'example.org/a?b=c', ')', '.']
    """
    text = less_refused(text)
    return [text[start:stop] for start, stop in _word_places(text)]


def less_refused(text: str) -> str:
    """The text less IS_ALPHA where that is a word: spaCy throws at the word, datatrove then deletes the letters."""
    if REFUSED in text and any(text[start:stop] == REFUSED for start, stop in _word_places(text)):
        return text.replace(REFUSED, "")
    return text


def sentences(text: str) -> list[str]:
    """The sentences of a text, in order; joined they are the text. White space between two goes to the second.

    A sentence ends before the first word after an end mark that is no punctuation; white space counts as such a word,
    unless it is a single space.

    >>> sentences('He said "3.14." Then... he left! Or not?')
    ['He said "3.14."', ' Then... he left!', ' Or not?']
    """
    ends, seen, last, read = [], False, 0, less_refused(text)
    for start, stop in _tokens(read):
        token = read[start:stop]
        mark = len(token) == 1 and bool(class_table()[ord(token)] & END_MARK)
        if seen and not mark and not all(unicodedata.category(char)[0] == "P" for char in token):
            ends.append(last)
            seen = False
        seen, last = seen or mark, stop
    return [text[a:b] for a, b in zip([0, *ends], [*ends, len(text)], strict=True) if read]


def _word_places(text: str) -> Iterator[tuple[int, int]]:
    """Start and end of each word."""
    chunks = list(_CHUNK.finditer(text))
    at = 0
    while at < len(chunks):
        end = at + 1
        while end < len(chunks) and text[chunks[end - 1].end() : chunks[end].start()] == " ":
            end += 1
        spelled = [found.group() for found in chunks[at:end]]
        for found, own in zip(chunks[at:end], joined(spelled, [cuts(chunk) for chunk in spelled]), strict=True):
            for start, stop in pairwise([0, *own]):
                yield found.start() + start, found.start() + stop
        at = end


def _tokens(text: str) -> Iterator[tuple[int, int]]:
    """Words, and white space but for a single space after a word."""
    last = 0
    for start, stop in [*_word_places(text), (len(text), len(text))]:
        if last < start and not (last and text[last:start] == " "):
            yield last, start
        if start < stop:
            yield start, stop
        last = stop
