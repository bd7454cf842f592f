"""Kernels of language identification: the embedding of each word is summed up once and kept in a table.

fastText adds up one embedding for each word of its vocabulary and for each n-gram of any word. Words repeat by Zipf's
law, so a known word costs one look-up and E additions. Labels are fastText's; scores differ from its own in the last
bits, since sums are taken word by word. What the table holds never changes a result: the same sum is found or made.

Shapes: D documents, E = SIZE embedding size, K labels, N n-grams.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dataassets.stages.filter.ftz import LABEL
from dataassets.stages.text import Bytes, Ints, compiled, inner

Floats = npt.NDArray[np.float32]

SIZE, BUCKET = 16, 2_000_000  # of lid.176, known when the kernels are compiled
WORD_BYTES = 48  # longer words are not kept: they hardly repeat
LINE_END = np.frombuffer(b"</s>", np.uint8)  # ends every line, and a line in which it stands
LABEL_MARK = np.frombuffer(LABEL, np.uint8)  # fastText takes such a word for a label, and leaves it out
OPEN, CLOSE = 60, 62  # < and > around each word


class Model(NamedTuple):
    """What the kernels read: `rows` [N, E] and their hashes, the tree of labels, its `nodes` [K - 1, E]."""

    rows: Floats
    ngram_row: npt.NDArray[np.int32]
    kept: Bytes
    minn: int
    maxn: int
    tree: npt.NDArray[np.int32]
    nodes: Floats


class Table(NamedTuple):
    """Words seen: slot -> word number; by number the bytes, their length, the sum of embeddings, how many they are."""

    slots: npt.NDArray[np.int32]
    keys: Bytes
    lengths: npt.NDArray[np.int32]
    sums: Floats
    counts: npt.NDArray[np.int32]
    used: Ints


@inner
def _equal(buffer: Bytes, start: int, stop: int, other: Bytes, length: int) -> bool:
    if stop - start != length:
        return False
    for i in range(length):  # noqa: SIM110 - numba compiles loops, not generators
        if buffer[start + i] != other[i]:
            return False
    return True


@inner
def _slot(
    buffer: Bytes,
    start: int,
    stop: int,
    slots: npt.NDArray[np.int32],
    keys: Bytes,
    lengths: npt.NDArray[np.int32],
) -> int:
    """Where a word stands in the table, or the empty slot where it would."""
    h = np.uint64(0xCBF29CE484222325)
    for i in range(start, stop):
        h = (h ^ np.uint64(buffer[i])) * np.uint64(0x100000001B3)
    mask = np.uint64(len(slots) - 1)
    slot = (h ^ (h >> np.uint64(29))) & mask
    while True:
        number = slots[np.int64(slot)]
        if number < 0 or _equal(buffer, start, stop, keys[number], lengths[number]):
            return np.int64(slot)  # type: ignore[return-value]
        slot = (slot + np.uint64(1)) & mask


@inner
def _add_ngrams(
    word: Bytes,
    length: int,
    rows: Floats,
    ngram_row: npt.NDArray[np.int32],
    kept: Bytes,
    minn: int,
    maxn: int,
    total: Floats,
) -> int:
    """Add the rows of all n-grams of `<word>`, brackets included, to total [E]; returns their number.

    An n-gram's hash is FNV-1a of 32 bits over bytes taken as signed, modulo BUCKET (fastText, dictionary.cc).
    """
    found = 0
    for i in range(length):
        if (word[i] & 0xC0) == 0x80:  # inside a character
            continue
        h, j = np.uint32(2166136261), i
        for n in range(1, maxn + 1):
            if j >= length:
                break
            while True:  # one character
                wide = np.uint32(word[j]) | (np.uint32(0xFFFFFF00) if word[j] >= 128 else np.uint32(0))
                h = np.uint32(np.uint32(h ^ wide) * np.uint32(16777619))
                j += 1
                if j >= length or (word[j] & 0xC0) != 0x80:
                    break
            place = np.int64(h % np.uint32(BUCKET))
            if n >= minn and kept[place >> 3] >> (place & 7) & 1:
                row = ngram_row[place]
                found += 1
                for k in range(SIZE):
                    total[k] += rows[row, k]
    return found


@compiled
def enter_vocabulary(word: Bytes, row: int, model: Model, table: Table) -> None:
    """Put a word of the model's vocabulary in the table; the line end has no n-grams."""
    number = table.used[0]
    table.slots[_slot(word, 0, len(word), table.slots, table.keys, table.lengths)] = number
    table.keys[number, : len(word)] = word
    table.lengths[number] = len(word)
    table.sums[number] = model.rows[row]
    table.counts[number] = 1
    if not _equal(word, 0, len(word), LINE_END, len(LINE_END)):
        whole = np.concatenate((np.array([OPEN], np.uint8), word, np.array([CLOSE], np.uint8)))
        table.counts[number] += _add_ngrams(
            whole, len(whole), model.rows, model.ngram_row, model.kept, model.minn, model.maxn, table.sums[number]
        )
    table.used[0] += 1


@inner
def _is_space(b: int) -> bool:
    """What fastText cuts words at: space, TAB to CR, NUL."""
    return b == 32 or 9 <= b <= 13 or b == 0


@compiled
def label_all(  # noqa: C901, PLR0915 - one hot loop: calls with the tables cost more than the work
    buffer: Bytes, offsets: Ints, model: Model, table: Table, label_D: Ints, score_D: Floats
) -> None:
    """Label each document.

    Args:
        buffer: UTF-8 of all documents.
        offsets: int64 [D + 1], where they begin.
        model: to judge by.
        table: words seen; grows.
        label_D: gets the number of each label.
        score_D: gets its probability.
    """
    hidden, total = np.zeros(SIZE, np.float32), np.zeros(SIZE, np.float32)
    short = np.empty(WORD_BYTES + 2, np.uint8)
    rows, ngram_row, kept, minn, maxn = model.rows, model.ngram_row, model.kept, model.minn, model.maxn
    used = table.used
    slots, keys, lengths, sums, counts = table.slots, table.keys, table.lengths, table.sums, table.counts
    end = slots[_slot(LINE_END, 0, len(LINE_END), slots, keys, lengths)]
    for d in range(len(offsets) - 1):
        hidden[:] = sums[end]
        num_rows = np.int64(counts[end])
        i, stop = offsets[d], offsets[d + 1]
        while i < stop:
            if _is_space(buffer[i]):
                i += 1
                continue
            start = i
            while i < stop and not _is_space(buffer[i]):
                i += 1
            if _equal(buffer, start, i, LINE_END, len(LINE_END)):
                break
            slot = _slot(buffer, start, i, slots, keys, lengths) if i - start <= WORD_BYTES else -1
            number = slots[slot] if slot >= 0 else np.int32(-1)
            if number >= 0:
                num_rows += counts[number]
                for k in range(SIZE):
                    hidden[k] += sums[number, k]
            else:
                total[:] = 0
                count = 0
                if not _equal(buffer, start, min(start + len(LABEL_MARK), i), LABEL_MARK, len(LABEL_MARK)):
                    length = i - start + 2
                    word = short if length <= len(short) else np.empty(length, np.uint8)
                    word[0], word[length - 1] = OPEN, CLOSE
                    for k in range(start, i):
                        word[k - start + 1] = buffer[k]
                    count = _add_ngrams(word, length, rows, ngram_row, kept, minn, maxn, total)
                if slot >= 0 and used[0] < len(lengths):
                    number = np.int32(used[0])
                    used[0] += 1
                    slots[slot] = number
                    for k in range(start, i):
                        keys[number, k - start] = buffer[k]
                    lengths[number] = i - start
                    sums[number] = total
                    counts[number] = count
                num_rows += count
                for k in range(SIZE):
                    hidden[k] += total[k]
        for k in range(SIZE):
            hidden[k] *= np.float32(1.0 / num_rows)
        label_D[d], score_D[d] = _best(hidden, model)


@inner
def _best(hidden: Floats, model: Model) -> tuple[int, float]:
    """The likeliest label: depth first through the tree, leaving out branches below the best leaf so far."""
    num_labels = len(model.tree) + 1
    stack, scores = np.zeros(2 * num_labels, np.int64), np.zeros(2 * num_labels, np.float64)
    stack[0] = 2 * num_labels - 2
    depth, best, label = 1, -np.inf, 0
    while depth > 0:
        depth -= 1
        node, score = stack[depth], scores[depth]
        if score < best:
            continue
        if node < num_labels:
            best, label = score, node
            continue
        inner = node - num_labels
        f = np.float32(0)
        for k in range(SIZE):
            f += hidden[k] * model.nodes[inner, k]
        p = 1.0 / (1.0 + np.exp(-np.float64(f)))
        stack[depth], scores[depth] = model.tree[inner, 1], score + np.log(p + 1e-5)  # fastText's guarded log
        stack[depth + 1], scores[depth + 1] = model.tree[inner, 0], score + np.log(1.0 - p + 1e-5)
        depth += 2
    return label, np.exp(best)
