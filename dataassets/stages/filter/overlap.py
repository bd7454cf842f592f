"""Which n-grams of documents are n-grams of evaluation items: a rolling hash, one look-up a word, then the words.

A hash only says where to look: a match is one only if all its words are equal, so it is never a matter of chance.
Items shorter than n words make n-grams of several lengths. Only where the first words, as many as the shortest has,
may be those of any n-gram (two bits of one number in `heads`, by their hash) each length is looked up.

Shapes: D documents, I items, W words of documents, V words of items, E distinct n-grams of items, H matches,
L lengths, R runs of matching words, S slots.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dataassets.stages.filter.matching import Cut, Folding, cut, folding, mixed, same_word
from dataassets.stages.text import Bytes, Hashes, Int, Ints, compiled, frozen

_BASE = np.uint64(0xD6E8FEB86659FD93)  # of the rolling hash; any odd number, since words' hashes are mixed
_EMPTY = np.uint64(0)


class Index(NamedTuple):
    """The n-grams of evaluation items, each at the first item that holds it.

    Args:
        buffer: uint8, UTF-8 of the items.
        words: V of them.
        item: int64 [V], whose word each is.
        lengths: int64 [L], the lengths of n-grams, longest first.
        word: int64 [E], where each n-gram begins.
        length: int64 [E], its words.
        heads: uint64, power of two: bits by hash of the first words of each n-gram, as many as the shortest has.
        keys: uint64 [S], hash of the n-gram in each slot of the table, 0 where it is empty; S is a power of two.
        slots: int32 [S], that n-gram.
    """

    buffer: Bytes
    words: Cut
    item: Ints
    lengths: Ints
    word: Ints
    length: Ints
    heads: Hashes
    keys: Hashes
    slots: npt.NDArray[np.int32]


class Matches(NamedTuple):
    """Places at which an n-gram of an item begins, in the order of the documents.

    Args:
        document: int64 [H].
        word: int64 [H], number of the first word, counted over all documents.
        length: int64 [H], words; the longest n-gram that begins here.
        item: int64 [H].
    """

    document: Ints
    word: Ints
    length: Ints
    item: Ints


class Runs(NamedTuple):
    """Words that matches cover, in runs without a gap.

    Args:
        document: int64 [R].
        start: int64 [R], first word.
        stop: int64 [R], the word after the last.
    """

    document: Ints
    start: Ints
    stop: Ints


def index_of(buffer: Bytes, offsets: Ints, *, ngram: int, min_words: int) -> Index:
    """Enter all n-grams of some items.

    Args:
        buffer: uint8, UTF-8 of the items, read-only.
        offsets: int64 [I + 1], where they begin, read-only.
        ngram: n.
        min_words: an item with fewer than n words, but this many, is one n-gram of its own length.
    """
    words = cut(buffer, offsets)
    num_words = np.diff(words.first)
    num_grams = np.where(num_words >= ngram, num_words - ngram + 1, num_words >= min(min_words, ngram))
    most = int(num_grams.sum())
    lengths = np.unique(np.minimum(num_words[num_grams > 0], ngram))[::-1].astype(np.int64)
    lengths = lengths if most else np.array([ngram])
    num_slots = 1 << int(2 * most + 1).bit_length()
    index = Index(
        buffer=buffer,
        words=words,
        item=frozen(np.repeat(np.arange(len(num_words)), num_words)),
        lengths=frozen(lengths),
        word=np.empty(most, np.int64),
        length=np.empty(most, np.int64),
        heads=np.zeros(max(num_slots // 8, 1), np.uint64),
        keys=np.zeros(num_slots, np.uint64),
        slots=np.zeros(num_slots, np.int32),
    )
    num = _enter(index, folding(), ngram, min_words)
    return index._replace(
        word=frozen(index.word[:num]),
        length=frozen(index.length[:num]),
        heads=frozen(index.heads),
        keys=frozen(index.keys),
        slots=frozen(index.slots),
    )


def find(buffer: Bytes, words: Cut, *, index: Index) -> Matches:
    """Every place of some documents at which an n-gram of an item begins.

    Args:
        buffer: uint8, UTF-8 of the documents, read-only.
        words: of them.
        index: of the items.
    """
    entry = np.full(len(words.starts), -1, np.int32)
    _find(buffer, words, index, folding(), entry)
    at = np.flatnonzero(entry >= 0)
    found = entry[at]
    document = np.searchsorted(words.first, at, "right") - 1
    return Matches(document, at, index.length[found], index.item[index.word[found]])


def runs(matches: Matches) -> Runs:
    """The words that matches cover; matches that touch are one run.

    >>> matches = Matches(*np.array([[0, 0, 0, 1], [0, 1, 9, 12], [3, 3, 3, 3], [0, 0, 0, 0]]))
    >>> [own.tolist() for own in runs(matches)]
    [[0, 0, 1], [0, 9, 12], [4, 12, 15]]
    """
    if not len(matches.word):
        return Runs(matches.document, matches.word, matches.word)
    reach = np.maximum.accumulate(matches.word + matches.length)
    begins = np.concatenate([[True], (matches.word[1:] > reach[:-1]) | (np.diff(matches.document) > 0)])
    last = np.concatenate([np.flatnonzero(begins)[1:], [len(begins)]]) - 1
    return Runs(matches.document[begins], matches.word[begins], reach[last])


def most_matched(matches: Matches) -> tuple[Ints, Ints]:
    """The item with most matches in each document that has one; of several the first.

    Returns:
        int64 documents, rising, and their items.

    >>> matches = Matches(*np.array([[3, 3, 3, 5, 5], [0] * 5, [13] * 5, [8, 2, 2, 9, 4]]))
    >>> [own.tolist() for own in most_matched(matches)]
    [[3, 5], [2, 4]]
    """
    pairs, counts = np.unique(np.stack([matches.document, matches.item], axis=1), axis=0, return_counts=True)
    ranked = pairs[np.lexsort((pairs[:, 1], -counts, pairs[:, 0]))]
    document, at = np.unique(ranked[:, 0], return_index=True)
    return document, ranked[at, 1]


@compiled
def _power(length: Int) -> np.uint64:
    """_BASE ** length, modulo 2**64."""
    found = np.uint64(1)
    for _ in range(length):
        found *= _BASE
    return found


@compiled
def _head(h: np.uint64, heads: Hashes) -> tuple[Int, np.uint64]:
    """Place and bits of some words, of which the hash is given."""
    key, one = mixed(h), np.uint64(1)
    bits = (one << (key >> np.uint64(58))) | (one << ((key >> np.uint64(52)) & np.uint64(63)))
    return np.int64(key) & np.int64(len(heads) - 1), bits


@compiled
def _key(hashes: Hashes, at: Int, length: Int) -> np.uint64:
    """Hash of the n-gram from a word on, never 0."""
    h = np.uint64(length)
    for w in range(at, at + length):
        h = h * _BASE + hashes[w]
    return max(mixed(h), np.uint64(1))


@compiled
def _equal(buffer: Bytes, words: Cut, at: Int, length: Int, index: Index, entry: Int, folding: Folding) -> bool:
    """Whether the words from one on are those of an n-gram of the index."""
    if index.length[entry] != length:
        return False
    own = index.word[entry]
    for i in range(length):
        if not same_word(
            buffer, words.starts[at + i], words.stops[at + i],
            index.buffer, index.words.starts[own + i], index.words.stops[own + i], folding,
        ):  # fmt: skip
            return False
    return True


@compiled
def _slot(buffer: Bytes, words: Cut, at: Int, length: Int, index: Index, folding: Folding) -> tuple[Int, np.uint64]:
    """The slot of the n-gram from a word on, or the empty one where it would stand; its hash."""
    keys, mask = index.keys, np.int64(len(index.keys) - 1)
    key = _key(words.hashes, at, length)
    slot = np.int64(key) & mask
    while keys[slot] != _EMPTY:
        if keys[slot] == key and _equal(buffer, words, at, length, index, index.slots[slot], folding):
            break
        slot = (slot + 1) & mask
    return slot, key


@compiled
def _enter(index: Index, folding: Folding, ngram: Int, min_words: Int) -> Int:
    words, num, shortest = index.words, np.int64(0), index.lengths[-1]
    for d in range(len(words.first) - 1):
        start, stop = words.first[d], words.first[d + 1]
        length = min(stop - start, ngram)
        if length == 0 or (length < ngram and length < min_words):
            continue
        for at in range(start, stop - length + 1):
            slot, key = _slot(index.buffer, words, at, length, index, folding)
            if index.keys[slot] == _EMPTY:
                index.keys[slot], index.slots[slot] = key, num
                index.word[num], index.length[num] = at, length
                num += 1
                h = np.uint64(0)
                for w in range(at, at + shortest):
                    h = h * _BASE + words.hashes[w]
                place, bits = _head(h, index.heads)
                index.heads[place] |= bits
    return num


@compiled
def _find(buffer: Bytes, words: Cut, index: Index, folding: Folding, entry: npt.NDArray[np.int32]) -> None:
    hashes, heads, shortest = words.hashes, index.heads, index.lengths[-1]
    power = _power(shortest)
    for d in range(len(words.first) - 1):
        start, stop, h = words.first[d], words.first[d + 1], np.uint64(0)
        for w in range(start, stop):
            h = h * _BASE + hashes[w]
            at = w - shortest + 1
            if at < start:
                continue
            if at > start:
                h -= power * hashes[at - 1]
            place, bits = _head(h, heads)
            if heads[place] & bits != bits:
                continue
            for length in index.lengths:
                if at + length <= stop:
                    slot, _ = _slot(buffer, words, at, length, index, folding)
                    if index.keys[slot] != _EMPTY:
                        entry[at] = index.slots[slot]
                        break
