"""Compiled passes over texts: chunks are found, looked up and written out as words; sentences are counted of words.

A chunk is what stands between white space. A thread's arena holds a record for each chunk that it knows: HEADER bytes
(how many bytes, how many words, whether neighbours may matter, codes of the first and last word), the chunk, and where
its words end. A slot holds the top half of a chunk's hash and the place of its record; equal hashes prove nothing, the
bytes are compared.

Shapes: T texts, C chunks, S slots (a power of two), W words.
"""

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from dataassets.stages.text.buffers import Bytes, Hashes, Int, Ints, decode, frozen
from dataassets.stages.text.classes import END_MARK, PUNCT, SPACE, class_table
from dataassets.stages.text.compiling import bare, inner
from dataassets.stages.text.eight import TOPS, has_below, hash64, head64, load64, low_zeros, where_is

HEADER = 8  # bytes of a record before its chunk: length, number of words, JOINED or not, 0, two codes of 16 bits
_TOGETHER = 128  # chunks that are looked up together
MAX_CHUNK = 255  # bytes of the longest chunk that is kept
_LOOK = 2
UNKNOWN = 0  # of a chunk that has no record and gets none

_HIGH = np.uint64(0xFFFFFFFF00000000)
LOW = np.uint64(0xFFFFFFFF)
_NUM_WORDS, _JOINED, _CODE = np.uint64(0xFF00), np.uint64(0xFF0000), np.uint64(0xFFFF)  # in a head
_FIRST_MARK = np.uint64(33)  # all white space of ASCII lies below
_C2, _E1, _E2, _E3 = np.uint64(0xC2), np.uint64(0xE1), np.uint64(0xE2), np.uint64(0xE3)  # first bytes of the other


@bare
def find_chunks(  # noqa: PLR0913 (a kernel takes arrays, not objects)
    buffer: Bytes, starts: Ints, stops: Ints, table: Bytes, leads: Bytes, slots: Hashes, arena: Bytes, used: Int,
    out_starts: Ints, out_stops: Ints, out_records: Ints, out_heads: Hashes, out_first: Ints, out_new: Ints,
) -> tuple[Int, Int]:  # fmt: skip
    """Find the chunks of texts and their records; a chunk that is not known yet gets a record without words.

    Args:
        buffer: uint8 [bytes], UTF-8.
        starts: int64 [T], first byte of each text.
        stops: int64 [T], the byte after each.
        table: `class_table()`.
        leads: `leads()`.
        slots: uint64 [S].
        arena: uint8 [bytes].
        used: bytes of the arena in use.
        out_starts: int64, at least as many as chunks: filled with the first byte of each.
        out_stops: int64, the same: the byte after each.
        out_records: int64, the same: place in the arena, UNKNOWN where the chunk is too long or the arena full.
        out_heads: uint64, the same: the head of the record; as it lies there, so that of a new one has no words.
        out_first: int64 [T + 1]; text t has the chunks from out_first[t] up to out_first[t + 1].
        out_new: int64, at least as many as chunks: filled with the places of new records.

    Returns:
        How many records are new, and the bytes of the arena then in use.
    """
    num, done, num_new = np.int64(0), np.int64(0), np.int64(0)
    for t in range(len(starts)):
        out_first[t] = num
        at, stop = starts[t], stops[t]
        while at < stop:
            lead = np.int64(leads[buffer[at]])
            width = lead if lead < _LOOK else _space(buffer, at, stop, table)
            if width > 0:
                at += width
                continue
            start, at = at, _end_of_chunk(buffer, at, stop, leads, table)
            out_starts[num], out_stops[num] = start, at
            num += 1
            if num == done + _TOGETHER:
                num_new, used = _look_up(
                    buffer,
                    out_starts,
                    out_stops,
                    done,
                    num,
                    slots,
                    arena,
                    used,
                    out_records,
                    out_heads,
                    out_new,
                    num_new,
                )
                done = num
    out_first[len(starts)] = num
    return _look_up(
        buffer, out_starts, out_stops, done, num, slots, arena, used, out_records, out_heads, out_new, num_new
    )


@inner
def _look_up(  # noqa: PLR0913 (a kernel takes arrays, not objects)
    buffer: Bytes, starts: Ints, stops: Ints, a: Int, b: Int, slots: Hashes, arena: Bytes, used: Int,
    records: Ints, heads: Hashes, new: Ints, num_new: Int,
) -> tuple[Int, Int]:  # fmt: skip
    """Fill in the records of the chunks from a up to b.

    Slots and records lie anywhere in much memory: those of many chunks are asked for before the first one is used, so
    that the waits overlap (a third of the time of one after another).
    """
    mask = np.uint64(len(slots) - 1)
    for c in range(a, b):
        heads[c] = hash64(buffer, starts[c], stops[c])
    for c in range(a, b):
        records[c] = slots[np.int64(heads[c] & mask)]
    for c in range(a, b):
        h, slot, size = heads[c], np.uint64(records[c]), stops[c] - starts[c]
        heads[c] = load64(arena, np.int64(slot & LOW))
        records[c] = np.int64(slot & LOW) if slot != 0 and (slot ^ h) & _HIGH == 0 else UNKNOWN
    for c in range(a, b):
        place, size = records[c], stops[c] - starts[c]
        if place and np.int64(arena[place]) == size and _same(buffer, starts[c], arena, place + HEADER, size):
            continue
        records[c], is_new = _record(buffer, starts[c], stops[c], slots, arena, used)
        heads[c] = load64(arena, records[c])
        if is_new:
            new[num_new] = used
            num_new += 1
            used += HEADER + 2 * size
    return num_new, used


@bare
def read_heads(records: Ints, arena: Bytes, out_heads: Hashes) -> None:
    """Read again the heads that had no words: those of records that were new."""
    for c in range(len(records)):
        if records[c] != UNKNOWN and not out_heads[c] & _NUM_WORDS:
            out_heads[c] = load64(arena, records[c])


@lru_cache(maxsize=1)
def leads() -> Bytes:
    """What the first byte of a character tells: 1 white space, 0 none, _LOOK where only the character does: [256]."""
    found = np.zeros(256, np.uint8)
    found[:0x80] = class_table()[:0x80] & SPACE != 0
    found[[0xC2, 0xE1, 0xE2, 0xE3]] = _LOOK
    return frozen(found)


@inner
def _space(buffer: Bytes, at: Int, stop: Int, table: Bytes) -> Int:
    """Width in bytes of the character that starts here if it is white space, else 0."""
    point, width = decode(buffer, at, stop)
    return width if table[point] & SPACE else np.int64(0)


@inner
def _end_of_chunk(buffer: Bytes, at: Int, stop: Int, leads: Bytes, table: Bytes) -> Int:
    """The next white space, or `stop`: eight bytes are passed at once where none can begin a space."""
    while at < stop:
        x = head64(buffer, at, stop - at)
        found = has_below(x, _FIRST_MARK)  # zeros beyond `stop` are found, too
        if x & TOPS:
            found |= where_is(x, _C2) | where_is(x, _E1) | where_is(x, _E2) | where_is(x, _E3)
        if not found:
            at += 8
            continue
        at += low_zeros(found) >> 3
        if at >= stop:
            break
        lead = leads[buffer[at]]
        if lead != 0 and (lead != _LOOK or _space(buffer, at, stop, table) > 0):
            return at
        at += 1
    return stop


@inner
def _record(buffer: Bytes, start: Int, stop: Int, slots: Hashes, arena: Bytes, used: Int) -> tuple[Int, bool]:
    """Place of a chunk's record, and whether it is new: then it lies at `used` and has no words yet."""
    size = stop - start
    if size > MAX_CHUNK:
        return np.int64(UNKNOWN), False
    h = hash64(buffer, start, stop)
    at = slot_of(buffer, start, size, h, slots, arena)
    if slots[at] != 0:
        return np.int64(slots[at] & LOW), False
    if used + HEADER + 2 * size > len(arena):
        return np.int64(UNKNOWN), False
    slots[at] = (h & _HIGH) | np.uint64(used)
    arena[used] = size
    for k in range(size):
        arena[used + HEADER + k] = buffer[start + k]
    return used, True


@inner
def slot_of(buffer: Bytes, start: Int, size: Int, h: np.uint64, slots: Hashes, arena: Bytes) -> Int:
    """The slot of a chunk's record, or the free one where it is to be put."""
    mask = np.int64(len(slots) - 1)
    at = np.int64(h & LOW) & mask
    while slots[at] != 0:
        if (slots[at] ^ h) & _HIGH == 0:
            place = np.int64(slots[at] & LOW)
            if arena[place] == size and _same(buffer, start, arena, place + HEADER, size):
                break
        at = (at + 1) & mask
    return at


@inner
def _same(a: Bytes, at: Int, b: Bytes, there: Int, size: Int) -> bool:
    for k in range(0, size, 8):  # noqa: SIM110 (any() is no numba)
        if head64(a, at + k, size - k) != head64(b, there + k, size - k):
            return False
    return True


@bare
def find_touching(  # noqa: PLR0913 (a kernel takes arrays, not objects)
    buffer: Bytes, starts: Ints, stops: Ints, records: Ints, heads: Hashes, first: Ints,
    pairs: npt.NDArray[np.bool_], codes: npt.NDArray[np.int64], out: Ints,
) -> Int:  # fmt: skip
    """Chunks whose joined words may be others beside their neighbours.

    Args:
        buffer: uint8 [bytes], UTF-8.
        starts: int64 [C].
        stops: int64 [C].
        records: int64 [C]; -1 - k for the k-th chunk without a record.
        heads: uint64 [C].
        first: int64 [T + 1].
        pairs: bool [codes, codes], which words stand side by side in an exception.
        codes: int64 [chunks without a record, 3]: joined or not, first word, last word.
        out: int64 [C], filled with the numbers of such chunks.

    Returns:
        How many there are.
    """
    num = np.int64(0)
    for t in range(len(first) - 1):
        for c in range(first[t], first[t + 1]):
            if records[c] >= 0 and not heads[c] & _JOINED:
                continue
            joined, head, tail = _codes(heads[c], records[c], codes)
            if not joined:
                continue
            touching: Int = False
            if c > first[t] and starts[c] == stops[c - 1] + 1 and buffer[stops[c - 1]] == 32:
                touching = pairs[_codes(heads[c - 1], records[c - 1], codes)[2], head]
            if c + 1 < first[t + 1] and starts[c + 1] == stops[c] + 1 and buffer[stops[c]] == 32:
                touching = touching or pairs[tail, _codes(heads[c + 1], records[c + 1], codes)[1]]
            if touching:
                out[num] = c
                num += 1
    return num


@inner
def _codes(head: np.uint64, record: Int, codes: Ints) -> tuple[Int, Int, Int]:
    """Whether words of a chunk were joined, and the codes of its first and last word before that."""
    if record < 0:
        return codes[-1 - record, 0], codes[-1 - record, 1], codes[-1 - record, 2]
    joined = np.int64(head & _JOINED != 0)
    return joined, np.int64((head >> np.uint64(32)) & _CODE), np.int64(head >> np.uint64(48))


@bare
def count_words(records: Ints, heads: Hashes, first: Ints, rare_first: Ints, out: Ints) -> None:
    """Fill int64 [T] with the number of words of each text; arguments as of `write_words`."""
    for t in range(len(first) - 1):
        num = np.int64(0)
        for c in range(first[t], first[t + 1]):
            record = records[c]
            if record < 0:
                num += rare_first[-record] - rare_first[-record - 1]
            else:
                num += np.int64((heads[c] & _NUM_WORDS) >> np.uint64(8))
        out[t] = num


@bare
def write_words(
    starts: Ints, stops: Ints, records: Ints, heads: Hashes, arena: Bytes, rare: tuple[Ints, Ints],
    out_starts: Ints, out_stops: Ints,
) -> None:  # fmt: skip
    """Write the words of chunks.

    Args:
        starts: int64 [C].
        stops: int64 [C].
        records: int64 [C]; -1 - k for the k-th chunk without a record.
        heads: uint64 [C].
        arena: uint8 [bytes].
        rare: int64 first [chunks without a record + 1] and ends: the k-th has ends[first[k]:first[k + 1]], where its
            words end, in bytes from the start of the chunk.
        out_starts: int64 [W], filled.
        out_stops: int64 [W], filled.
    """
    rare_first, rare_ends = rare
    w = 0
    for c in range(len(starts)):
        start, record = starts[c], records[c]
        at, num = start, np.int64((heads[c] & _NUM_WORDS) >> np.uint64(8))
        if record < 0:
            for k in range(rare_first[-record - 1], rare_first[-record]):
                out_starts[w] = at
                at = start + rare_ends[k]
                out_stops[w] = at
                w += 1
        elif num == 1:
            out_starts[w], out_stops[w] = start, stops[c]
            w += 1
        else:
            ends = record + HEADER + stops[c] - start
            for k in range(ends, ends + num):
                out_starts[w] = at
                at = start + np.int64(arena[k])
                out_stops[w] = at
                w += 1


@bare
def count_sentences(
    buffer: Bytes, starts: Ints, stops: Ints, words: tuple[Ints, Ints, Ints], table: Bytes, out: Ints
) -> None:
    """Fill int64 [T] with the number of sentences of texts whose words (starts, stops, first) are given."""
    word_starts, word_stops, first = words
    for t in range(len(starts)):
        out[t] = _num_sentences(buffer, starts[t], stops[t], word_starts, word_stops, first[t], first[t + 1], table)


@bare
def count_parts(
    buffer: Bytes, starts: Ints, stops: Ints, words: tuple[Ints, Ints], table: Bytes, out_words: Ints,
    out_sentences: Ints,
) -> None:  # fmt: skip
    """Fill two int64 [P] with numbers of words and sentences of parts of texts, in order, no word across their ends."""
    word_starts, word_stops = words
    w = np.int64(0)
    for p in range(len(starts)):
        while w < len(word_starts) and word_starts[w] < starts[p]:
            w += 1
        begin = w
        while w < len(word_starts) and word_stops[w] <= stops[p]:
            w += 1
        out_words[p] = w - begin
        out_sentences[p] = _num_sentences(buffer, starts[p], stops[p], word_starts, word_stops, begin, w, table)


@inner
def _num_sentences(
    buffer: Bytes, start: Int, stop: Int, word_starts: Ints, word_stops: Ints, begin: Int, end: Int, table: Bytes
) -> Int:
    """Sentences of a text whose words are those from `begin` up to `end`."""
    num, seen, last = np.int64(start < stop), False, start
    for w in range(begin, end):
        first = buffer[word_starts[w]]
        if not seen and first < 0x80 and not table[first] & END_MARK:
            last = word_stops[w]
            continue
        if seen and _is_blank(buffer, last, word_starts[w]):
            num += 1
            seen = False
        mark, punct = _kind(buffer, word_starts[w], word_stops[w], table)
        if seen and not mark and not punct:
            num += 1
            seen = False
        seen, last = seen or mark, word_stops[w]
    return num + (seen and _is_blank(buffer, last, stop))


@inner
def _is_blank(buffer: Bytes, start: Int, stop: Int) -> bool:
    """Whether the white space between two words is a word to the rule of sentences: all is, but a single space."""
    return stop > start and not (stop == start + 1 and buffer[start] == 32)


@inner
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
