"""Many patterns in one pass over the bytes: an Aho-Corasick automaton, built and run compiled.

States are numbered by breadth, so the children of a state are neighbours, sorted by their bytes. The shallow states,
where nearly all of a text is read, have a row of the dense table, which answers with one load; a deep state has 21
bytes, and a search among its few children. 100,000 words of 10 letters want some 10 MB.

Shapes: P patterns, N states (at most their bytes + 1), R states with a dense row.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dataassets.stages.filter.folding import START, ends_word
from dataassets.stages.text import Bytes, Int, Ints, compiled, frozen

DENSE_STATES = 1024  # R at most: a table of 1 MB, which stays in the cache
_NONE = -1


class Automaton(NamedTuple):
    """Sorted patterns, each once, and the states that find them.

    Args:
        patterns: uint8 [bytes], one behind the other.
        offsets: int64 [P + 1]; pattern p is patterns[offsets[p]:offsets[p + 1]].
        dense: int32 [R, 256], the state after a byte.
        first: int32 [N + 1]; the children of state n are those from first[n] up to first[n + 1].
        labels: uint8 [N], the byte that leads to a state.
        depths: int32 [N], how many bytes lead to it.
        misses: int32 [N], the state of the longest end of its bytes that is one too.
        ends: int32 [N], the pattern that its bytes are, -1 where they are none.
        longest: int32 [N], the state of the longest pattern that its bytes end in, 0 where there is none.
    """

    patterns: Bytes
    offsets: Ints
    dense: npt.NDArray[np.int32]
    first: npt.NDArray[np.int32]
    labels: Bytes
    depths: npt.NDArray[np.int32]
    misses: npt.NDArray[np.int32]
    ends: npt.NDArray[np.int32]
    longest: npt.NDArray[np.int32]

    def pattern(self, p: int) -> bytes:
        """The bytes of a pattern."""
        return self.patterns[self.offsets[p] : self.offsets[p + 1]].tobytes()


def build(patterns: Iterable[bytes], *, dense_states: int = DENSE_STATES) -> Automaton:
    """The automaton of some patterns.

    Args:
        patterns: none empty; in any order, each as often as one likes.
        dense_states: R at most, 1 or more; changes the speed alone.

    Source: Aho, Corasick, "Efficient String Matching: An Aid to Bibliographic Search", 1975.

    >>> found = build([b"she", b"he", b"hers"])
    >>> text = np.frombuffer(b"ushers", np.uint8)
    >>> found.pattern(first_found(text, 0, len(text), found, np.arange(256, dtype=np.uint8)))
    b'she'
    """
    chosen = sorted(set(patterns))
    assert b"" not in chosen, "the empty pattern is everywhere"
    offsets = np.zeros(len(chosen) + 1, np.int64)
    np.cumsum([len(one) for one in chosen], out=offsets[1:])
    joined = frozen(np.frombuffer(b"".join(chosen) or b"\0", np.uint8))
    most = int(offsets[-1]) + 1
    first, labels = np.zeros(most + 1, np.int32), np.zeros(most, np.uint8)
    depths, misses, ends, longest = (np.zeros(most, np.int32) for _ in range(4))
    num = int(_branch(joined, frozen(offsets), first, labels, depths, ends))
    first, labels = first[: num + 1].copy(), labels[:num].copy()
    depths, misses, ends, longest = (one[:num].copy() for one in (depths, misses, ends, longest))
    _link(first, labels, misses, ends, longest)
    dense = np.zeros((min(num, dense_states), 256), np.int32)
    _spread(first, labels, misses, dense)
    found = Automaton(joined, offsets, dense, first, labels, depths, misses, ends, longest)
    for array in found:
        frozen(array)
    return found


@compiled
def _branch(
    patterns: Bytes, offsets: Ints, first: npt.NDArray[np.int32], labels: Bytes, depths: npt.NDArray[np.int32],
    ends: npt.NDArray[np.int32],
) -> Int:  # fmt: skip
    """Write the states by breadth; how many there are. A state stands for a range of the sorted patterns."""
    lows, highs = np.zeros(len(labels), np.int32), np.zeros(len(labels), np.int32)
    highs[0] = len(offsets) - 1
    num: Int = np.int64(1)
    n: Int = np.int64(0)
    while n < num:
        low, high, depth = np.int64(lows[n]), np.int64(highs[n]), np.int64(depths[n])
        ends[n], first[n] = _NONE, num
        if low < high and offsets[low + 1] - offsets[low] == depth:
            ends[n] = low
            low += 1
        while low < high:
            byte, start = patterns[offsets[low] + depth], low
            while low < high and patterns[offsets[low] + depth] == byte:
                low += 1
            lows[num], highs[num], labels[num], depths[num] = start, low, byte, depth + 1
            num += 1
        n += 1
    first[num] = num
    return num


@compiled
def _child(first: npt.NDArray[np.int32], labels: Bytes, state: Int, byte: Int) -> Int:
    """The child of a state by a byte; 0 where it has none."""
    low, high = np.int64(first[state]), np.int64(first[state + 1])
    while low < high:
        middle = (low + high) >> 1
        if labels[middle] < byte:
            low = middle + 1
        else:
            high = middle
    return low if low < first[state + 1] and labels[low] == byte else np.int64(0)


@compiled
def _link(
    first: npt.NDArray[np.int32], labels: Bytes, misses: npt.NDArray[np.int32], ends: npt.NDArray[np.int32],
    longest: npt.NDArray[np.int32],
) -> None:  # fmt: skip
    """Write misses and longest: what they name is less deep, so it is known before."""
    for n in range(len(labels)):
        for child in range(first[n], first[n + 1]):
            found: Int = np.int64(0)
            at: Int = n
            while at != 0 and found == 0:
                at = np.int64(misses[at])
                found = _child(first, labels, at, labels[child])
            misses[child] = found
            longest[child] = child if ends[child] != _NONE else longest[found]


@compiled
def _spread(
    first: npt.NDArray[np.int32], labels: Bytes, misses: npt.NDArray[np.int32], dense: npt.NDArray[np.int32]
) -> None:
    for n in range(len(dense)):
        if n > 0:
            dense[n] = dense[misses[n]]
        for child in range(first[n], first[n + 1]):
            dense[n, labels[child]] = child


@compiled
def _deep_state(found: Automaton, state: Int, byte: Int) -> Int:
    """The state after one more byte, of a state without a dense row."""
    while state >= len(found.dense):
        child = _child(found.first, found.labels, state, byte)
        if child != 0:
            return child
        state = np.int64(found.misses[state])
    return np.int64(found.dense[state, byte])


@compiled
def first_found(text: Bytes, start: Int, stop: Int, found: Automaton, fold: Bytes) -> Int:
    """The pattern that ends first in a text, the longest if several do; -1 where there is none.

    Args:
        text: uint8 [bytes].
        start: first byte to read.
        stop: the byte after the last.
        found: the automaton.
        fold: uint8 [256], what each byte is read as; 0 is read as nothing.
    """
    dense, longest, state = found.dense, found.longest, np.int64(0)
    for at in range(start, stop):
        byte = np.int64(fold[text[at]])
        if byte != 0:
            state = np.int64(dense[state, byte]) if state < len(dense) else _deep_state(found, state, byte)
            if longest[state] != 0:
                return np.int64(found.ends[longest[state]])
    return np.int64(_NONE)


@compiled
def count_found(
    text: Bytes, size: Int, found: Automaton, table: npt.NDArray[np.int32], seen: Ints, mark: Int
) -> tuple[Int, Int]:  # fmt: skip
    """Count patterns as `re.finditer` finds an alternation: from the left, the longest first, none over another.

    A pattern that begins with START stands for a whole word: it counts where no character of a word is behind it.

    Args:
        text: uint8 [bytes], folded.
        size: bytes of it.
        found: the automaton.
        table: `fold_table()`.
        seen: int64 [P]; a pattern found gets `mark`.
        mark: of this text, not among `seen`.

    Returns:
        How many were found, and how many distinct ones.
    """
    dense, longest, depths = found.dense, found.longest, found.depths
    num, num_distinct = np.int64(0), np.int64(0)
    at, state = np.int64(0), np.int64(0)
    best, best_start, best_stop = np.int64(_NONE), size, size
    while at < size or best != _NONE:
        if at < size:
            byte = np.int64(text[at])
            state = np.int64(dense[state, byte]) if state < len(dense) else _deep_state(found, state, byte)
            at += 1
            if longest[state] != 0:
                p, start = _leftmost(text, at, size, state, best_start, found, table)
                if p != _NONE:
                    best, best_start, best_stop = p, start, at
        if best != _NONE and (at == size or at - depths[state] > best_start):  # no better one can come
            num += 1
            num_distinct += seen[best] != mark
            seen[best] = mark
            at, state = best_stop, np.int64(0)
            best, best_start = np.int64(_NONE), size
    return num, num_distinct


@compiled
def _leftmost(
    text: Bytes, at: Int, size: Int, state: Int, limit: Int, found: Automaton, table: npt.NDArray[np.int32]
) -> tuple[Int, Int]:
    """Of the patterns that end here, count and start at `limit` or before: the longest, and its start; -1 for none."""
    node = np.int64(found.longest[state])
    while node != 0:
        p = np.int64(found.ends[node])
        whole = found.patterns[found.offsets[p]] == START
        start = at - found.depths[node] + whole  # of its first character
        if start > limit:
            break
        if not whole or ends_word(text, at, size, table):
            return p, start
        node = np.int64(found.longest[found.misses[node]])
    return np.int64(_NONE), size
