"""Compiled passes over texts: chunks are found, looked up and written out as words; sentences are counted of words.

A chunk is what stands between white space. A thread's arena holds a record for each chunk that it knows: HEADER bytes
(how many bytes, how many words, whether neighbours may matter, codes of the first and last word), the chunk, and where
its words end. A slot holds the top half of a chunk's hash and the place of its record; equal hashes prove nothing, the
bytes are compared.

Shapes: T texts, C chunks, S slots (a power of two), W words.
"""

import numpy as np
import numpy.typing as npt

from dataassets.stages.text.buffers import FNV_BASIS, FNV_PRIME, Bytes, Hashes, Int, Ints, compiled, decode
from dataassets.stages.text.classes import END_MARK, PUNCT, SPACE

HEADER = 8  # bytes of a record before its chunk: length, number of words, JOINED or not, 0, two codes of 16 bits
MAX_CHUNK = 255  # bytes of the longest chunk that is kept
_LOOK = 2
UNKNOWN = 0  # of a chunk that has no record and gets none

_HIGH = np.uint64(0xFFFFFFFF00000000)
_LOW = np.uint64(0xFFFFFFFF)
_MIX, _HALF = np.uint64(0x9E3779B97F4A7C15), np.uint64(32)


@compiled
def find_chunks(  # noqa: PLR0913 (a kernel takes arrays, not objects)
    buffer: Bytes, starts: Ints, stops: Ints, table: Bytes, slots: Hashes, arena: Bytes, used: Int,
    out_starts: Ints, out_stops: Ints, out_records: Ints, out_first: Ints, out_new: Ints,
) -> tuple[Int, Int]:  # fmt: skip
    """Find the chunks of texts and their records; a chunk that is not known yet gets a record without words.

    Args:
        buffer: uint8 [bytes], UTF-8.
        starts: int64 [T], first byte of each text.
        stops: int64 [T], the byte after each.
        table: `class_table()`.
        slots: uint64 [S].
        arena: uint8 [bytes].
        used: bytes of the arena in use.
        out_starts: int64, at least as many as chunks: filled with the first byte of each.
        out_stops: int64, the same: the byte after each.
        out_records: int64, the same: place in the arena, UNKNOWN where the chunk is too long or the arena full.
        out_first: int64 [T + 1]; text t has the chunks from out_first[t] up to out_first[t + 1].
        out_new: int64, at least as many as chunks: filled with the places of new records.

    Returns:
        How many records are new, and the bytes of the arena then in use.
    """
    num, num_new, leads = np.int64(0), np.int64(0), _leads(table)
    for t in range(len(starts)):
        out_first[t] = num
        at, stop = starts[t], stops[t]
        while at < stop:
            lead = leads[buffer[at]]
            width = lead if lead < _LOOK else _space(buffer, at, stop, table)
            if width > 0:
                at += width
                continue
            start, h = at, FNV_BASIS
            while at < stop:
                byte = buffer[at]
                lead = leads[byte]
                if lead != 0 and (lead != _LOOK or _space(buffer, at, stop, table) > 0):
                    break
                h = (h ^ np.uint64(byte)) * FNV_PRIME
                at += 1
            out_starts[num], out_stops[num] = start, at
            out_records[num], is_new = _record(buffer, start, at, h, slots, arena, used)
            if is_new:
                out_new[num_new] = used
                num_new += 1
                used += HEADER + 2 * (at - start)
            num += 1
    out_first[len(starts)] = num
    return num_new, used


@compiled
def _leads(table: Bytes) -> Ints:
    """What the first byte of a character tells: 1 white space, 0 none, _LOOK where only the character does."""
    leads = np.zeros(256, np.int64)
    for byte in range(0x80):
        leads[byte] = np.int64(table[byte] & SPACE != 0)
    for byte in (0xC2, 0xE1, 0xE2, 0xE3):
        leads[byte] = _LOOK
    return leads


@compiled
def _space(buffer: Bytes, at: Int, stop: Int, table: Bytes) -> Int:
    """Width in bytes of the character that starts here if it is white space, else 0."""
    point, width = decode(buffer, at, stop)
    return width if table[point] & SPACE else np.int64(0)


@compiled
def _record(
    buffer: Bytes, start: Int, stop: Int, h: np.uint64, slots: Hashes, arena: Bytes, used: Int
) -> tuple[Int, bool]:
    """Place of a chunk's record, and whether it is new: then it lies at `used` and has no words yet."""
    size = stop - start
    if size > MAX_CHUNK:
        return np.int64(UNKNOWN), False
    h = (h ^ (h >> _HALF)) * _MIX
    mask = np.int64(len(slots) - 1)
    at = np.int64(h & _LOW) & mask
    while slots[at] != 0:
        if (slots[at] ^ h) & _HIGH == 0:
            place = np.int64(slots[at] & _LOW)
            if arena[place] == size and _same(buffer, start, arena, place + HEADER, size):
                return place, False
        at = (at + 1) & mask
    if used + HEADER + 2 * size > len(arena):
        return np.int64(UNKNOWN), False
    slots[at] = (h & _HIGH) | np.uint64(used)
    arena[used] = size
    for k in range(size):
        arena[used + HEADER + k] = buffer[start + k]
    return used, True


@compiled
def _same(a: Bytes, at: Int, b: Bytes, there: Int, size: Int) -> bool:
    for k in range(size):  # noqa: SIM110 (any() is no numba)
        if a[at + k] != b[there + k]:
            return False
    return True


@compiled
def find_touching(  # noqa: PLR0913 (a kernel takes arrays, not objects)
    buffer: Bytes, starts: Ints, stops: Ints, records: Ints, first: Ints, arena: Bytes,
    pairs: npt.NDArray[np.bool_], codes: npt.NDArray[np.int64], out: Ints,
) -> Int:  # fmt: skip
    """Chunks whose joined words may be others beside their neighbours.

    Args:
        buffer: uint8 [bytes], UTF-8.
        starts: int64 [C].
        stops: int64 [C].
        records: int64 [C]; -1 - k for the k-th chunk without a record.
        first: int64 [T + 1].
        arena: uint8 [bytes].
        pairs: bool [codes, codes], which words stand side by side in an exception.
        codes: int64 [chunks without a record, 3]: joined or not, first word, last word.
        out: int64 [C], filled with the numbers of such chunks.

    Returns:
        How many there are.
    """
    num = np.int64(0)
    for t in range(len(first) - 1):
        for c in range(first[t], first[t + 1]):
            joined, head, tail = _codes(arena, records[c], codes)
            if not joined:
                continue
            touching: Int = False
            if c > first[t] and starts[c] == stops[c - 1] + 1 and buffer[stops[c - 1]] == 32:
                touching = pairs[_codes(arena, records[c - 1], codes)[2], head]
            if c + 1 < first[t + 1] and starts[c + 1] == stops[c] + 1 and buffer[stops[c]] == 32:
                touching = touching or pairs[tail, _codes(arena, records[c + 1], codes)[1]]
            if touching:
                out[num] = c
                num += 1
    return num


@compiled
def _codes(arena: Bytes, record: Int, codes: Ints) -> tuple[Int, Int, Int]:
    """Whether words of a chunk were joined, and the codes of its first and last word before that."""
    if record < 0:
        return codes[-1 - record, 0], codes[-1 - record, 1], codes[-1 - record, 2]
    head = np.int64(arena[record + 4]) | (np.int64(arena[record + 5]) << 8)
    tail = np.int64(arena[record + 6]) | (np.int64(arena[record + 7]) << 8)
    return np.int64(arena[record + 2]), head, tail


@compiled
def count_words(records: Ints, first: Ints, arena: Bytes, rare_first: Ints, out: Ints) -> None:
    """Fill int64 [T] with the number of words of each text; arguments as of `write_words`."""
    for t in range(len(first) - 1):
        num = np.int64(0)
        for c in range(first[t], first[t + 1]):
            record = records[c]
            if record < 0:
                num += rare_first[-record] - rare_first[-record - 1]
            else:
                num += np.int64(arena[record + 1])
        out[t] = num


@compiled
def write_words(
    starts: Ints, records: Ints, arena: Bytes, rare_first: Ints, rare_ends: Ints, out_starts: Ints, out_stops: Ints
) -> None:
    """Write the words of chunks.

    Args:
        starts: int64 [C].
        records: int64 [C]; -1 - k for the k-th chunk without a record.
        arena: uint8 [bytes].
        rare_first: int64 [chunks without a record + 1]; the k-th has rare_ends[rare_first[k]:rare_first[k + 1]].
        rare_ends: int64, where words end, in bytes from the start of the chunk.
        out_starts: int64 [W], filled.
        out_stops: int64 [W], filled.
    """
    w = 0
    for c in range(len(starts)):
        start, record = starts[c], records[c]
        at = start
        if record < 0:
            for k in range(rare_first[-record - 1], rare_first[-record]):
                out_starts[w] = at
                at = start + rare_ends[k]
                out_stops[w] = at
                w += 1
        else:
            ends = record + HEADER + np.int64(arena[record])
            for k in range(ends, ends + np.int64(arena[record + 1])):
                out_starts[w] = at
                at = start + np.int64(arena[k])
                out_stops[w] = at
                w += 1


@compiled
def count_sentences(
    buffer: Bytes, starts: Ints, stops: Ints, words: tuple[Ints, Ints, Ints], table: Bytes, out: Ints
) -> None:
    """Fill int64 [T] with the number of sentences of texts whose words (starts, stops, first) are given."""
    word_starts, word_stops, first = words
    for t in range(len(starts)):
        num, seen, last = np.int64(starts[t] < stops[t]), False, starts[t]
        for w in range(first[t], first[t + 1]):
            start, stop = word_starts[w], word_stops[w]
            if seen and _is_blank(buffer, last, start):
                num += 1
                seen = False
            mark, punct = _kind(buffer, start, stop, table)
            if seen and not mark and not punct:
                num += 1
                seen = False
            seen, last = seen or mark, stop
        out[t] = num + (seen and _is_blank(buffer, last, stops[t]))


@compiled
def _is_blank(buffer: Bytes, start: Int, stop: Int) -> bool:
    """Whether the white space between two words is a word to the rule of sentences: all is, but a single space."""
    return stop > start and not (stop == start + 1 and buffer[start] == 32)


@compiled
def _kind(buffer: Bytes, start: Int, stop: Int, table: Bytes) -> tuple[bool, bool]:
    """Whether a word is an end mark, and whether all of it is punctuation."""
    point, width = decode(buffer, start, stop)
    mark = bool(table[point] & END_MARK) and width == stop - start
    at, punct = start, True
    while at < stop and punct:
        point, width = decode(buffer, at, stop)
        punct = bool(table[point] & PUNCT)
        at += width
    return mark, punct
