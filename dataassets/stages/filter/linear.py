"""A fastText classifier as what it is, a linear model: each word and n-gram adds its own share to each label's logit.

A text's embedding is the mean of its rows, and a label's logit that mean times the label's own row; so the product of
each row with each label is taken once, when the model is loaded. For two labels and 100 dimensions that is a fiftieth
of the memory, and a word costs two additions.

Shapes: D documents, W words of the vocabulary, R rows (words, then hashed n-grams), K labels, E embedding size.

Source: Joulin et al., "Bag of Tricks for Efficient Text Classification" (arXiv:1607.01759), and the hashing of
fastText's dictionary.cc.
"""

import mmap
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dataassets.recipe import RecipeError
from dataassets.stages.filter.ftz import MAGIC, VERSION, Reader, dense, quantized
from dataassets.stages.text import Bytes, Ints, compiled, utf8_buffers

Floats = npt.NDArray[np.float32]
Places = npt.NDArray[np.int32]

SOFTMAX = 3  # loss
LINE_END = np.frombuffer(b"</s>", np.uint8)  # ends every line, and a line in which it stands
MARK = np.frombuffer(b"__label__", np.uint8)  # fastText takes such a word for a label, and leaves it out
OPEN, CLOSE = 60, 62  # < and > around a word whose characters are read
ROWS_AT_ONCE = 1 << 16


class Weights(NamedTuple):
    """What the kernel reads.

    `words` are the bytes of the vocabulary, word w from `firsts[w]` on; `slots` finds a word by its hash, -1 is empty;
    `logits` [R, K] are the shares; `kept` [bucket] the row of a hashed n-gram, -1 where pruning took it, and empty
    where all are there.
    """

    words: Bytes
    firsts: Ints
    slots: Places
    logits: Floats
    kept: Places
    bucket: int
    word_ngrams: int
    minn: int
    maxn: int


class Model(NamedTuple):
    """Labels, in the order of their logits, and weights."""

    labels: list[str]
    weights: Weights


def probabilities(texts: pa.ChunkedArray | pa.Array, *, model: Path, label: str, key: str) -> Floats:
    """How likely a label is for each text.

    Args:
        texts: large_string [D], no nulls; line feeds are read as spaces.
        model: of fastText, .bin or .ftz, with softmax.
        label: one of the model's, with its prefix.
        key: where the recipe names the label, for errors.

    Returns:
        float32 [D], from 0 to 1: as fastText's, without the 1e-5 that it adds.

    Raises:
        RecipeError: the model is of another kind, or has no such label.
    """
    found = loaded(model)
    if label not in found.labels:
        raise RecipeError(f"{key} = {label!r}: {model} knows no such label; take one of {found.labels}")
    buffer, offsets = utf8_buffers(texts)
    score_D = np.empty(len(texts), np.float32)
    score_all(buffer, offsets, found.weights, found.labels.index(label), score_D)
    return score_D


def loaded(path: Path) -> Model:
    """A model file as weights; read once a process while it stays as it is.

    Args:
        path: .bin or .ftz.

    Raises:
        RecipeError: it is no such file, or its loss is no softmax.
    """
    stat = path.stat()
    return _loaded(path, (stat.st_size, stat.st_mtime_ns))


@lru_cache(maxsize=2)
def _loaded(path: Path, _stamp: tuple[int, int]) -> Model:
    with path.open("rb") as file:
        source = Reader(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if _stamp[0] else b"\0" * 8)
    found = source.take("<ii")
    if found != (MAGIC, VERSION):
        raise RecipeError(f"{path}: begins with {found}, a fastText model with {(MAGIC, VERSION)}; name a .bin or .ftz")
    size, _, _, _, _, word_ngrams, loss, _, bucket, minn, maxn, _ = source.take("<12i")
    source.take("<d")
    num_entries, num_words, _ = source.take("<iii")
    _, num_pruned = source.take("<qq")
    if loss != SOFTMAX:
        raise RecipeError(f"{path}: loss {loss}, but only softmax ({SOFTMAX}) is read; train it with loss=softmax")
    entries = [(source.text(), source.take("<qb"))[0] for _ in range(num_entries)]
    kept = np.empty(0, np.int32)
    if num_pruned >= 0:
        pruned = source.array("<i4", 2 * num_pruned).reshape(-1, 2)
        kept = np.full(bucket, -1, np.int32)
        kept[pruned[:, 0]] = num_words + pruned[:, 1]
    rows = quantized(source, size) if source.take("<?")[0] else dense(source)
    labels = quantized(source, size) if source.take("<?")[0] else dense(source)
    words = entries[:num_words]
    firsts = np.concatenate([[0], np.cumsum([len(word) for word in words])]).astype(np.int64)
    packed = np.frombuffer(b"".join(words), np.uint8)
    slots = np.full(1 << max(4, (2 * num_words).bit_length()), -1, np.int32)
    enter_all(packed, firsts, slots)
    weights = Weights(packed, firsts, slots, _logits(rows, labels), kept, bucket, word_ngrams, minn, maxn)
    return Model([name.decode() for name in entries[num_words:]], weights)


def _logits(rows_RE: Floats, labels_KE: Floats) -> Floats:
    """Each row times each label, some rows at a time: the file is mapped, and never in memory as a whole."""
    out = np.empty((len(rows_RE), len(labels_KE)), np.float32)
    for start in range(0, len(rows_RE), ROWS_AT_ONCE):
        piece = rows_RE[start : start + ROWS_AT_ONCE].astype(np.float64)
        # einsum, not @: a BLAS library may add in another order on another machine or with other threads
        out[start : start + ROWS_AT_ONCE] = np.einsum("re,ke->rk", piece, labels_KE.astype(np.float64))
    return out


@compiled
def _hash(buffer: Bytes, start: int, stop: int) -> np.uint32:
    """FNV-1a of 32 bits over bytes taken as signed, as fastText hashes words and n-grams."""
    h = np.uint32(2166136261)
    for i in range(start, stop):
        wide = np.uint32(buffer[i]) | (np.uint32(0xFFFFFF00) if buffer[i] >= 128 else np.uint32(0))
        h = np.uint32(np.uint32(h ^ wide) * np.uint32(16777619))
    return h


@compiled
def _slot(buffer: Bytes, start: int, stop: int, h: np.uint32, words: Bytes, firsts: Ints, slots: Places) -> int:
    """Where a word stands among the slots, or the empty slot where it would."""
    mask = np.uint64(len(slots) - 1)
    slot = (np.uint64(h) * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(20)) & mask
    while True:
        word = slots[np.int64(slot)]
        if word < 0:
            return np.int64(slot)  # type: ignore[return-value]
        first, length = firsts[word], firsts[word + 1] - firsts[word]
        if length == stop - start:
            same = True
            for i in range(length):
                if buffer[start + i] != words[first + i]:
                    same = False
                    break
            if same:
                return np.int64(slot)  # type: ignore[return-value]
        slot = (slot + np.uint64(1)) & mask


@compiled
def enter_all(words: Bytes, firsts: Ints, slots: Places) -> None:
    """Put every word of a vocabulary into the slots."""
    for w in range(len(firsts) - 1):
        h = _hash(words, firsts[w], firsts[w + 1])
        slots[_slot(words, firsts[w], firsts[w + 1], h, words, firsts, slots)] = w


@compiled
def _is_space(b: int) -> bool:
    """What fastText cuts words at: space, TAB to CR, NUL."""
    return b == 32 or 9 <= b <= 13 or b == 0


@compiled
def _begins(buffer: Bytes, start: int, stop: int, other: Bytes) -> bool:
    if stop - start < len(other):
        return False
    for i in range(len(other)):  # noqa: SIM110 - numba compiles loops, not generators
        if buffer[start + i] != other[i]:
            return False
    return True


@compiled
def _add(place: int, num_words: int, logits: Floats, kept: Places, total: npt.NDArray[np.float64]) -> int:
    """Add the row of a hashed n-gram, unless pruning took it; how many were added."""
    row = num_words + place
    if len(kept):
        row = int(kept[place])
        if row < 0:
            return 0
    for k in range(len(total)):
        total[k] += logits[row, k]
    return 1


@compiled
def _add_characters(
    buffer: Bytes, start: int, stop: int, weights: Weights, num_words: int, total: npt.NDArray[np.float64]
) -> int:
    """Add the rows of all n-grams of characters of `<word>`; how many they are."""
    length, added = stop - start + 2, 0
    word = np.empty(length, np.uint8)
    word[0], word[length - 1] = OPEN, CLOSE
    for i in range(start, stop):
        word[i - start + 1] = buffer[i]
    for i in range(length):
        if (word[i] & 0xC0) == 0x80:  # inside a character
            continue
        j = i
        for n in range(1, weights.maxn + 1):
            if j >= length:
                break
            j += 1
            while j < length and (word[j] & 0xC0) == 0x80:
                j += 1
            if n >= weights.minn and not (n == 1 and (i == 0 or j == length)):
                place = int(_hash(word, i, j) % np.uint32(weights.bucket))
                added += _add(place, num_words, weights.logits, weights.kept, total)
    return added


@compiled
def score_all(  # noqa: C901, PLR0915 - one hot loop: calls with the tables cost more than the work
    buffer: Bytes, offsets: Ints, weights: Weights, label: int, score_D: Floats
) -> None:
    """The probability of a label for each document.

    Args:
        buffer: UTF-8 of all documents.
        offsets: int64 [D + 1], where they begin.
        weights: of the model.
        label: its number.
        score_D: gets the probabilities.
    """
    words, firsts, slots, logits, kept = weights.words, weights.firsts, weights.slots, weights.logits, weights.kept
    num_words, num_labels = len(firsts) - 1, logits.shape[1]
    total = np.zeros(num_labels, np.float64)
    most, bucket, pruned, maxn = max(weights.word_ngrams, 1), np.uint64(weights.bucket), len(kept) > 0, weights.maxn
    last = np.zeros(most, np.uint64)  # hashes of the words before, the latest at (number of words) % most
    end_hash = _hash(LINE_END, 0, len(LINE_END))
    end_word = slots[_slot(LINE_END, 0, len(LINE_END), end_hash, words, firsts, slots)]
    for d in range(len(offsets) - 1):
        total[:] = 0
        num_rows, seen = 0, 0
        i, stop, ended = offsets[d], offsets[d + 1], False
        while not ended:
            while i < stop and _is_space(buffer[i]):
                i += 1
            start, h = i, np.uint32(2166136261)
            while i < stop and not _is_space(buffer[i]):
                wide = np.uint32(buffer[i]) | (np.uint32(0xFFFFFF00) if buffer[i] >= 128 else np.uint32(0))
                h = np.uint32(np.uint32(h ^ wide) * np.uint32(16777619))
                i += 1
            ended = start == i or (h == end_hash and i - start == len(LINE_END) and _begins(buffer, start, i, LINE_END))
            if ended:
                h, word = end_hash, end_word
            elif buffer[start] == MARK[0] and _begins(buffer, start, i, MARK):
                continue
            else:
                word = slots[_slot(buffer, start, i, h, words, firsts, slots)]
            if word >= 0:
                num_rows += 1
                for k in range(num_labels):
                    total[k] += logits[word, k]
            if maxn > 0 and not ended:
                num_rows += _add_characters(buffer, start, i, weights, num_words, total)
            signed = np.uint64(h) | (np.uint64(0xFFFFFFFF00000000) if h >> np.uint32(31) else np.uint64(0))
            # the n-grams of words that end here: each hash runs from its first word to this one
            for n in range(2, min(most, seen + 1) + 1):
                joined = last[(seen - n + 1) % most]
                for m in range(seen - n + 2, seen):
                    joined = joined * np.uint64(116049371) + last[m % most]
                joined = joined * np.uint64(116049371) + signed
                row = np.int64(joined % bucket)
                row = np.int64(kept[row]) if pruned else num_words + row
                if row >= 0:
                    num_rows += 1
                    for k in range(num_labels):
                        total[k] += logits[row, k]
            last[seen % most] = signed
            seen += 1
        score_D[d] = _softmax(total, num_rows, label)


@compiled
def _softmax(total: npt.NDArray[np.float64], num_rows: int, label: int) -> float:
    """Of the mean logits; equal shares where the model knows nothing of a text."""
    if num_rows == 0:
        return 1.0 / len(total)
    top, whole = total.max() / num_rows, 0.0
    for k in range(len(total)):
        whole += np.exp(total[k] / num_rows - top)
    return float(np.exp(total[label] / num_rows - top) / whole)
