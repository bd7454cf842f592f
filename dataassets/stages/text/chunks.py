"""Words over buffers: each thread remembers how chunks are cut, and only chunks that it never met go through the rules.

What is remembered changes no result: a record depends on its chunk alone. It is bounded, and forgotten when full.

Shapes: D documents, T texts, C chunks, W words.
"""

import re
import threading
from collections.abc import Iterator
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dataassets.stages.text import kernels, learning
from dataassets.stages.text.buffers import Bytes, Hashes, Ints, frozen
from dataassets.stages.text.classes import class_table
from dataassets.stages.text.exceptions import exceptions
from dataassets.stages.text.plain import REFUSED, less_refused
from dataassets.stages.text.rules import MOST_WORDS, cuts, joined, pairs

BLOCK_BYTES = 1 << 20  # of text cut at a time: bounds the memory, changes no result
NUM_SLOTS = 1 << 21  # of a thread's memory: 16 MB, touched as it fills
ARENA_BYTES = 48 << 20


class Words(NamedTuple):
    """Where the words of some texts lie.

    Args:
        buffer: uint8, read-only: the bytes of the texts. Not always the buffer that was given: see `less_refused`.
        starts: int64 [W], first byte of each word.
        stops: int64 [W], the byte after each.
        first: int64 [T + 1]; the words of text t are those from first[t] up to first[t + 1].
    """

    buffer: Bytes
    starts: Ints
    stops: Ints
    first: Ints


class _Chunks(NamedTuple):
    """Chunks of some texts: starts, stops, records, heads of these, and first [T + 1] as of Words."""

    starts: Ints
    stops: Ints
    records: Ints
    heads: Hashes
    first: Ints


class _Memory(threading.local):
    """What a thread knows of chunks; exceptions and their words from the start. Place 0, UNKNOWN, stays empty."""

    def __init__(self) -> None:
        self.arena, self.slots = np.zeros(0, np.uint8), np.zeros(0, np.uint64)
        self.spans, self.heads = np.zeros((4, 0), np.int64), np.zeros(0, np.uint64)
        self.used = self.known = 0

    def begin(self) -> None:
        """Forget all but the exceptions."""
        self.arena = np.zeros(ARENA_BYTES, np.uint8)
        self.slots = np.zeros(NUM_SLOTS, np.uint64)
        self.used, self.known = 8, 0
        seeds = sorted({*exceptions(), *(word for pair in pairs() for word in pair)})
        buffer = np.frombuffer("\n".join(seeds).encode(), np.uint8)
        ends = frozen(np.array([0, len(buffer)], np.int64))
        _learn(self.arena, self.find(buffer, ends[:1], ends[1:])[1])

    def find(self, buffer: Bytes, starts: Ints, stops: Ints) -> tuple["_Chunks", Ints]:
        """The chunks of texts, valid until the next call, and the records that are new."""
        most = int((stops - starts).sum() + len(starts) + 1) // 2 + 1
        if most > len(self.heads):
            self.spans, self.heads = np.empty((4, most), np.int64), np.empty(most, np.uint64)
        at, end, records, new = self.spans
        first = np.zeros(len(starts) + 1, np.int64)
        num_new, self.used = kernels.find_chunks(
            buffer, starts, stops, class_table(), kernels.leads(), self.slots, self.arena, self.used,
            at, end, records, self.heads, first, new,
        )  # fmt: skip
        self.known += num_new
        num = int(first[-1])
        return _Chunks(at[:num], end[:num], records[:num], self.heads[:num], first), new[:num_new]

    def is_full(self) -> bool:
        return 2 * self.known >= len(self.slots) or self.used + (ARENA_BYTES >> 6) > len(self.arena)


class _Rare(NamedTuple):
    """Cuts of the chunks of one block that have no record."""

    ends: list[list[int]]
    codes: list[tuple[int, int, int]]

    def arrays(self) -> tuple[Ints, Ints, Ints]:
        """int64 [K + 1] first, int64 ends, int64 [K, 3] codes."""
        first = np.cumsum([0, *map(len, self.ends)], dtype=np.int64)
        ends = np.array([end for own in self.ends for end in own], np.int64)
        return first, ends, np.array(self.codes, np.int64).reshape(-1, 3)


_memory = _Memory()


def word_spans(buffer: Bytes, offsets: Ints, *, in_place: bool = False) -> Words:
    """Where the words of some documents lie.

    Args:
        buffer: uint8 [bytes], UTF-8, as `utf8_buffers` gives it.
        offsets: int64 [D + 1]; document d is buffer[offsets[d]:offsets[d + 1]].
        in_place: what `less_refused` would delete stays a word, so that all words lie in the buffer that was given.

    >>> from dataassets.stages.text import utf8_buffers
    >>> import pyarrow as pa
    >>> buffer, offsets = utf8_buffers(pa.array(["Hi, you", ""], pa.large_string()))
    >>> [x.tolist() for x in word_spans(buffer, offsets)[1:]]
    [[0, 2, 4], [2, 3, 7], [0, 3, 3]]
    """
    return _words(buffer, offsets[:-1], offsets[1:], in_place=in_place)[0]


def word_counts(buffer: Bytes, offsets: Ints) -> Ints:
    """Number of words in each of some documents: int64 [D]; arguments as of `word_spans`.

    >>> from dataassets.stages.text import utf8_buffers
    >>> import pyarrow as pa
    >>> word_counts(*utf8_buffers(pa.array(["Hi, you", ""], pa.large_string()))).tolist()
    [3, 0]
    """
    return np.diff(word_spans(buffer, offsets).first)


def sentence_counts(buffer: Bytes, starts: Ints, stops: Ints) -> Ints:
    """Number of sentences, as `sentences` cuts them, in each of some texts; arguments as of `counts`.

    >>> from dataassets.stages.text import utf8_buffers
    >>> import pyarrow as pa
    >>> buffer, offsets = utf8_buffers(pa.array(["Hi. You!", "", "a"], pa.large_string()))
    >>> sentence_counts(buffer, offsets[:-1], offsets[1:]).tolist()
    [2, 0, 1]
    """
    return counts(buffer, starts, stops)[1]


def counts(buffer: Bytes, starts: Ints, stops: Ints) -> tuple[Ints, Ints]:
    """Numbers of words and of sentences in each of some texts.

    Args:
        buffer: uint8 [bytes], UTF-8.
        starts: int64 [T], first byte of each text.
        stops: int64 [T], the byte after each.

    Returns:
        int64 [T] words and int64 [T] sentences.
    """
    sentences = np.zeros(len(starts), np.int64)
    words, starts, stops = _words(buffer, starts, stops)
    kernels.count_sentences(words.buffer, starts, stops, words[1:], class_table(), sentences)
    return np.diff(words.first), sentences


def counts_of_parts(words: Words, starts: Ints, stops: Ints) -> tuple[Ints, Ints]:
    """What `counts` gives for parts of texts that were cut already, where these are cut as by themselves.

    That is so where what bounds a part is an end of a text or white space that is no space (chunks are cut by
    themselves, but for neighbours that one space parts), and where nothing in it is `REFUSED`.

    Args:
        words: of the texts.
        starts: int64 [P], first byte of each part, rising.
        stops: int64 [P], the byte after each; no part reaches into the next.
    """
    num_words, sentences = np.zeros(len(starts), np.int64), np.zeros(len(starts), np.int64)
    starts, stops = frozen(starts.view()), frozen(stops.view())
    kernels.count_parts(words.buffer, starts, stops, words[1:3], class_table(), num_words, sentences)
    return num_words, sentences


def _words(buffer: Bytes, starts: Ints, stops: Ints, *, in_place: bool = False) -> tuple[Words, Ints, Ints]:
    """The words of texts, and where the texts then lie in the buffer of these."""
    if in_place:
        starts, stops = frozen(starts.view()), frozen(stops.view())
    else:
        buffer, starts, stops = _without_refused(buffer, starts, stops)
    found = [_block(buffer, starts[a:b], stops[a:b]) for a, b in _blocks(starts, stops)]
    word_starts, word_stops = (
        frozen(parts[0] if len(parts) == 1 else np.concatenate([np.zeros(0, np.int64), *parts]))
        for parts in ([one[0] for one in found], [one[1] for one in found])
    )
    first = np.zeros(len(starts) + 1, np.int64)
    np.cumsum(np.concatenate([np.zeros(0, np.int64), *(one[2] for one in found)]), out=first[1:])
    return Words(buffer, word_starts, word_stops, frozen(first)), starts, stops


def _blocks(starts: Ints, stops: Ints) -> Iterator[tuple[int, int]]:
    """Ranges of texts with about BLOCK_BYTES each, one text at least."""
    ends = np.cumsum(stops - starts)
    at = 0
    while at < len(ends):
        before = int(ends[at - 1]) if at else 0
        stop = max(at + 1, int(np.searchsorted(ends, before + BLOCK_BYTES, "right")))
        yield at, stop
        at = stop


def _without_refused(buffer: Bytes, starts: Ints, stops: Ints) -> tuple[Bytes, Ints, Ints]:
    """Texts as `less_refused` leaves them: changed ones are written behind the others."""
    data = buffer.data
    places = [found.start() for found in re.finditer(REFUSED.encode(), data)]
    changed: dict[int, bytes] = {}
    for t in np.flatnonzero(np.searchsorted(places, starts) < np.searchsorted(places, stops)) if places else ():
        text = _text(bytes(data[starts[t] : stops[t]]))
        if text is not None and (less := less_refused(text)) != text:
            changed[int(t)] = less.encode()
    if not changed:
        return buffer, frozen(starts.view()), frozen(stops.view())
    starts, stops, size = starts.copy(), stops.copy(), len(buffer)
    for row, less_bytes in changed.items():
        starts[row], stops[row] = size, size + len(less_bytes)
        size += len(less_bytes)
    joint = np.frombuffer(b"".join([data, *changed.values()]), np.uint8)
    return frozen(joint), frozen(starts), frozen(stops)


def _block(buffer: Bytes, starts: Ints, stops: Ints) -> tuple[Ints, Ints, Ints]:
    """Starts and stops of the words of some texts, and how many words each has."""
    memory = _memory
    if memory.is_full():
        memory.begin()
    chunks, new = memory.find(buffer, starts, stops)
    if len(new):
        left = np.empty_like(new)
        _learn(memory.arena, left[: learning.learn_plain(memory.arena, memory.slots, new, class_table(), left)])
        kernels.read_heads(chunks.records, memory.arena, chunks.heads)
    rare_first, rare_ends, _ = _look_closer(buffer, chunks).arrays()
    counts = np.zeros(len(starts), np.int64)
    kernels.count_words(chunks.records, chunks.heads, chunks.first, rare_first, counts)
    word_starts, word_stops = (np.empty(int(counts.sum()), np.int64) for _ in range(2))
    kernels.write_words(*chunks[:4], memory.arena, (rare_first, rare_ends), word_starts, word_stops)
    return word_starts, word_stops, counts


def _learn(arena: Bytes, places: Ints) -> None:
    """Write the words of new records."""
    data = arena.data
    for place in places.tolist():
        start = place + kernels.HEADER
        stop = start + data[place]
        ends, (is_joined, head, tail) = _cut(bytes(data[start:stop]))
        data[stop : stop + len(ends)] = bytes(ends)
        data[place + 1 : start] = bytes((len(ends), is_joined, 0, head & 255, head >> 8, tail & 255, tail >> 8))


def _look_closer(buffer: Bytes, chunks: _Chunks) -> _Rare:
    """Cut the chunks without a record, and those whose neighbours matter; their records then number them."""
    rare = _Rare([], [])
    at, end, records, heads, first = chunks
    data = buffer.data
    for c in np.flatnonzero(records == kernels.UNKNOWN).tolist():
        ends, codes = _cut(bytes(data[at[c] : end[c]]))
        records[c] = _add(rare, ends, codes)
    touching = np.empty(len(at), np.int64)
    num = kernels.find_touching(buffer, at, end, records, heads, first, _pairs()[1], rare.arrays()[2], touching)
    cut = [(c, _among_neighbours(data, at, end, c)) for c in touching[:num].tolist()]
    for c, ends in cut:
        records[c] = _add(rare, ends, (0, 0, 0))
    return rare


def _add(rare: _Rare, ends: list[int], codes: tuple[int, int, int]) -> int:
    rare.ends.append(ends)
    rare.codes.append(codes)
    return -len(rare.ends)


def _among_neighbours(data: memoryview, at: Ints, end: Ints, c: int) -> list[int]:
    """Ends of the words of a chunk, in bytes, with the chunks around it that one space parts."""
    first, last = c, c
    while first > 0 and c - first < MOST_WORDS and bytes(data[end[first - 1] : at[first]]) == b" ":
        first -= 1
    while last + 1 < len(at) and last - c < MOST_WORDS and bytes(data[end[last] : at[last + 1]]) == b" ":
        last += 1
    texts = [bytes(data[at[k] : end[k]]).decode("utf-8", "replace") for k in range(first, last + 1)]
    return _in_bytes(texts[c - first], joined(texts, [cuts(text) for text in texts])[c - first])


def _cut(chunk: bytes) -> tuple[list[int], tuple[int, int, int]]:
    """Ends of the words of a chunk by itself, in bytes; if words were joined, and codes of the outer ones before."""
    text = _text(chunk)
    if text is None:  # no UTF-8: one word
        return [len(chunk)], (0, 0, 0)
    plain = cuts(text)
    if len(plain) == 1:
        code = _pairs()[0].get(text, 0)
        return [len(chunk)], (0, code, code)
    ends = joined([text], [plain])[0]
    codes = _pairs()[0]
    head, tail = codes.get(text[: plain[0]], 0), codes.get(text[plain[-2] :], 0)
    return _in_bytes(text, ends), (int(ends != plain), head, tail)


def _in_bytes(text: str, ends: list[int]) -> list[int]:
    """Places in a text, as bytes of its UTF-8."""
    if text.isascii():
        return ends
    return list(accumulate(len(text[a:b].encode()) for a, b in pairwise([0, *ends])))


def _text(data: bytes) -> str | None:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None


@lru_cache(maxsize=1)
def _pairs() -> tuple[dict[str, int], npt.NDArray[np.bool_]]:
    """Codes of the words of exceptions, from 1 on, and which two stand side by side."""
    codes = {word: k + 1 for k, word in enumerate(sorted({word for pair in pairs() for word in pair}))}
    table = np.zeros((len(codes) + 1, len(codes) + 1), np.bool_)
    for before, after in pairs():
        table[codes[before], codes[after]] = True
    return codes, frozen(table)


def warm_up() -> None:
    """Compile or load the kernels of this room, and learn the exceptions."""
    buffer, offsets = np.frombuffer(b"A word.", np.uint8), np.array([0, 7])
    words = word_spans(buffer, offsets)
    counts(buffer, offsets[:-1], offsets[1:])
    counts_of_parts(words, offsets[:-1], offsets[1:])
