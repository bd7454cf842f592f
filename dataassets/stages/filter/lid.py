"""Kernels of language identification: the embedding of each word is summed up once and kept in a table.

fastText adds up one embedding for each word of its vocabulary and for each n-gram of any word. Words repeat by Zipf's
law, so a known word costs one look-up and E additions. Labels are fastText's; scores differ from its own in the last
bits, since sums are taken word by word. What the table holds never changes a result: the same sum is found or made.

Tables are larger than a core's caches. So many words are looked up together, and many n-grams: memory that is asked
for before the first answer is used comes in a third of the time.

Shapes: D documents, E = SIZE embedding size, K labels, N n-grams, S slots (a power of two), T words of the table,
W words of the vocabulary.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dataassets.stages.filter.ftz import LABEL
from dataassets.stages.filter.rows import SIZE, add_rows
from dataassets.stages.text import (
    EIGHT,
    Bytes,
    Hashes,
    Int,
    Ints,
    bare,
    count_ones,
    has_below,
    hash64,
    head64,
    inner,
    low_zeros,
    store64,
)

Floats = npt.NDArray[np.float32]

BUCKET, MINN, MAXN = 2_000_000, 2, 4  # of lid.176, as SIZE: known when the kernels are compiled
KEY = 8  # of 64 bits, of a word in the table: its length, how many embeddings its sum is of, its bytes
WORD_BYTES = 8 * (KEY - 1)  # longer words are not kept: they hardly repeat
LINE_END = b"</s>"  # ends every line, and a line in which it stands
_END = np.uint64(int.from_bytes(LINE_END, "little"))
_LABEL_A = np.uint64(int.from_bytes(LABEL[:8], "little"))  # a word that begins with it is a label to fastText, which
_LABEL_B = np.uint64(LABEL[8])  # leaves it out
OPEN, CLOSE = 60, 62  # < and > around each word
_TOGETHER = 128  # words looked up together, and n-grams
_BESIDE = 2 + 8  # bytes beside a word: brackets, and what is written eight at a time
_ONE, _SIX, _ABOVE_SPACE = np.uint64(1), np.uint64(63), np.uint64(33)
_LOW, _HIGH, _HALF = np.uint64(0xFFFFFFFF), np.uint64(0xFFFFFFFF00000000), np.uint64(32)


class Model(NamedTuple):
    """What the kernels read.

    Args:
        words: float32 [W, E], a row for each word of the vocabulary.
        ngrams: float32 [N, E], a row for each n-gram that pruning left, in the order of their hashes.
        kept: uint64 [BUCKET / 64], a bit for each hash: whether pruning left it.
        before: int32 [BUCKET / 64], how many were left before each 64. The row of a hash is found in 380 kB that stay
            in a core's cache, where an index of all hashes would take 8 MB.
        tree: int32 [K - 1, 2], as of `ftz.Classifier`.
        nodes: float32 [K - 1, E], as there.
    """

    words: Floats
    ngrams: Floats
    kept: Hashes
    before: npt.NDArray[np.int32]
    tree: npt.NDArray[np.int32]
    nodes: Floats


class Table(NamedTuple):
    """Words seen.

    Args:
        slots: uint64 [S], half of a hash, and 1 + the word's number; 0 where empty.
        keys: uint64 [T, KEY], of each word its length | number of embeddings << 32, then its bytes.
        sums: float32 [T, E], of its embeddings.
        used: int64 [1], how many words there are.
    """

    slots: Hashes
    keys: Hashes
    sums: Floats
    used: Ints


class Room(NamedTuple):
    """What the kernels write to meanwhile: they make no arrays (`bare`).

    Args:
        word: uint8, its bytes with brackets.
        places: int64 [_TOGETHER], hashes of its n-grams modulo BUCKET.
        starts: int64 [_TOGETHER], of words that are looked up together.
        stops: int64 [_TOGETHER].
        numbers: int64 [_TOGETHER], in the table.
        hashes: uint64 [_TOGETHER].
        hidden: float32 [E], sum of a document.
        total: float32 [E], sum of a word.
        stack: int64 [2K], nodes of the tree to be looked at.
        scores: float64 [2K], of these.
    """

    word: Bytes
    places: Ints
    starts: Ints
    stops: Ints
    numbers: Ints
    hashes: Hashes
    hidden: Floats
    total: Floats
    stack: Ints
    scores: npt.NDArray[np.float64]


def room_for(*, longest: int, num_labels: int) -> Room:
    """Room for words of so many bytes, and for a tree of so many labels."""
    numbers = np.empty((4, _TOGETHER), np.int64)
    return Room(
        word=np.empty(longest + _BESIDE, np.uint8),
        places=numbers[0],
        starts=numbers[1],
        stops=numbers[2],
        numbers=numbers[3],
        hashes=np.empty(_TOGETHER, np.uint64),
        hidden=np.empty(SIZE, np.float32),
        total=np.empty(SIZE, np.float32),
        stack=np.empty(2 * num_labels, np.int64),
        scores=np.empty(2 * num_labels, np.float64),
    )


@inner
def _find(buffer: Bytes, start: Int, stop: Int, h: np.uint64, slots: Hashes, keys: Hashes) -> tuple[Int, Int]:
    """Slot of a word, or the empty one where it would stand; its number, -1 if it is not there."""
    mask = np.int64(len(slots) - 1)
    at = np.int64(h & _LOW) & mask
    while slots[at] != 0:
        number = np.int64(slots[at] & _LOW) - 1
        if (slots[at] ^ h) & _HIGH == 0 and _is(buffer, start, stop, keys, number):
            return at, number
        at = (at + 1) & mask
    return at, np.int64(-1)


@inner
def _is(buffer: Bytes, start: Int, stop: Int, keys: Hashes, number: Int) -> bool:
    """Whether a word is that of a number."""
    if np.int64(keys[number, 0] & _LOW) != stop - start:
        return False
    k = np.int64(1)
    for at in range(start, stop, 8):
        if head64(buffer, at, stop - at) != keys[number, k]:
            return False
        k += 1
    return True


@inner
def _put(
    buffer: Bytes, start: Int, stop: Int, slot: Int, h: np.uint64, count: Int, total: Floats, table: Table
) -> None:
    """A word in the table, with its sum."""
    number = table.used[0]
    table.used[0] += 1
    table.slots[slot] = (h & _HIGH) | np.uint64(number + 1)
    table.keys[number, 0] = np.uint64(stop - start) | np.uint64(count) << _HALF
    k = np.int64(1)
    for at in range(start, stop, 8):
        table.keys[number, k] = head64(buffer, at, stop - at)
        k += 1
    for e in range(SIZE):
        table.sums[number, e] = total[e]


@inner
def _add_rows(places: Ints, num: Int, model: Model, total: Floats) -> None:
    """Add the rows of n-grams to total [E]; `places` are overwritten."""
    for k in range(num):
        block, below = places[k] >> 6, (_ONE << (np.uint64(places[k]) & _SIX)) - _ONE
        places[k] = model.before[block] + count_ones(model.kept[block] & below)
    add_rows(total, model.ngrams, places, num)


@inner
def _add_ngrams(word: Bytes, length: Int, model: Model, room: Room, total: Floats) -> Int:
    """Add the rows of all n-grams of `<word>`, brackets included, to total [E]; returns their number.

    An n-gram's hash is FNV-1a of 32 bits over bytes taken as signed, modulo BUCKET (fastText, dictionary.cc).
    """
    places, kept, found, num = room.places, model.kept, np.int64(0), np.int64(0)
    for i in range(length):
        if (word[i] & 0xC0) == 0x80:  # inside a character
            continue
        h, j = np.uint32(2166136261), i
        for n in range(1, MAXN + 1):
            if j >= length:
                break
            while True:  # one character
                wide = np.uint32(word[j]) | (np.uint32(0xFFFFFF00) if word[j] >= 128 else np.uint32(0))
                h = np.uint32(np.uint32(h ^ wide) * np.uint32(16777619))
                j += 1
                if j >= length or (word[j] & 0xC0) != 0x80:
                    break
            if n >= MINN:
                place = np.int64(h % np.uint32(BUCKET))
                places[num] = place
                num += np.int64(kept[place >> 6] >> (np.uint64(place) & _SIX) & _ONE)
        if num >= len(places) - MAXN:
            _add_rows(places, num, model, total)
            found, num = found + num, np.int64(0)
    _add_rows(places, num, model, total)
    return found + num


@inner
def _bracketed(buffer: Bytes, start: Int, stop: Int, word: Bytes) -> Bytes:
    """`<word>`; what follows it in `word` is overwritten."""
    size = stop - start
    word[0] = OPEN
    for k in range(0, size, EIGHT):
        store64(word, k + 1, head64(buffer, start + k, size - k))
    word[size + 1] = CLOSE
    return word


@bare
def enter_vocabulary(buffer: Bytes, offsets: Ints, model: Model, table: Table, room: Room) -> None:
    """Put the model's vocabulary in an empty table: the line end has no n-grams.

    Args:
        buffer: uint8 [bytes], the words one after another.
        offsets: int64 [words + 1].
        model: whose words they are.
        table: to be filled.
        room: to work in.
    """
    total = room.total
    for k in range(len(offsets) - 1):
        start, stop = offsets[k], offsets[k + 1]
        for e in range(SIZE):
            total[e] = model.words[k, e]
        count = np.int64(1)
        if not (stop - start == len(LINE_END) and head64(buffer, start, len(LINE_END)) == _END):
            word = _bracketed(buffer, start, stop, room.word)
            count += _add_ngrams(word, stop - start + 2, model, room, total)
        h = hash64(buffer, start, stop)
        _put(buffer, start, stop, _find(buffer, start, stop, h, table.slots, table.keys)[0], h, count, total, table)


@inner
def _is_space(b: Int) -> bool:
    """What fastText cuts words at: space, TAB to CR, NUL."""
    return bool(b == 32 or 9 <= b <= 13 or b == 0)


@inner
def _end_of_word(buffer: Bytes, at: Int, stop: Int) -> Int:
    """The next space, or `stop`."""
    while at < stop:
        found = has_below(head64(buffer, at, stop - at), _ABOVE_SPACE)  # zeros beyond `stop` are found, too
        if not found:
            at += EIGHT
            continue
        at += low_zeros(found) >> 3
        if at >= stop or _is_space(buffer[at]):
            return min(at, stop)
        at += 1
    return stop


@inner
def _some_words(buffer: Bytes, at: Int, stop: Int, starts: Ints, stops: Ints) -> tuple[Int, Int]:
    """The next words of a document, as many as there is room for: how many, and where to go on."""
    num = np.int64(0)
    while at < stop and num < len(starts):
        if _is_space(buffer[at]):
            at += 1
            continue
        start, at = at, _end_of_word(buffer, at, stop)
        if at - start == len(LINE_END) and head64(buffer, start, len(LINE_END)) == _END:
            return num, stop
        starts[num], stops[num] = start, at
        num += 1
    return num, at


@bare
def label_all(
    buffer: Bytes, offsets: Ints, model: Model, table: Table, room: Room, label_D: Ints, score_D: Floats
) -> None:
    """Label each document.

    Args:
        buffer: UTF-8 of all documents.
        offsets: int64 [D + 1], where they begin.
        model: to judge by.
        table: words seen; grows.
        room: to work in, for words as long as a document.
        label_D: gets the number of each label.
        score_D: gets its probability.
    """
    hidden, total, starts, stops, numbers = room.hidden, room.total, room.starts, room.stops, room.numbers
    hashes = room.hashes
    for d in range(len(offsets) - 1):
        for e in range(SIZE):
            hidden[e] = table.sums[0, e]  # the line end is word 0
        num_rows, at, stop = np.int64(table.keys[0, 0] >> _HALF), offsets[d], offsets[d + 1]
        while at < stop:
            num, at = _some_words(buffer, at, stop, starts, stops)
            _ask(buffer, starts, stops, num, table, hashes, numbers)
            found = np.int64(0)  # words whose sums are still to be added
            for w in range(num):
                number = numbers[w]
                if number < 0 or not _is(buffer, starts[w], stops[w], table.keys, number):
                    number = _learn(buffer, starts[w], stops[w], hashes[w], model, table, room)
                if number >= 0:
                    num_rows += np.int64(table.keys[number, 0] >> _HALF)
                    numbers[found] = number
                    found += 1
                else:
                    num_rows += -1 - number
                    add_rows(hidden, table.sums, numbers, found)
                    found = np.int64(0)
                    for e in range(SIZE):
                        hidden[e] += total[e]
            add_rows(hidden, table.sums, numbers, found)
        for e in range(SIZE):
            hidden[e] *= np.float32(1.0 / num_rows)
        label_D[d], score_D[d] = _best(hidden, model, room)


@inner
def _ask(buffer: Bytes, starts: Ints, stops: Ints, num: Int, table: Table, hashes: Hashes, numbers: Ints) -> None:
    """Hash words, and number each as the slot says that it is met first; -1 where that is another's or empty."""
    mask = np.uint64(len(table.slots) - 1)
    for w in range(num):
        hashes[w] = hash64(buffer, starts[w], stops[w])
    for w in range(num):
        numbers[w] = table.slots[np.int64(hashes[w] & mask)]
    for w in range(num):
        slot = np.uint64(numbers[w])
        numbers[w] = np.int64(slot & _LOW) - 1 if (slot ^ hashes[w]) & _HIGH == 0 else -1
    touched = np.uint64(0)
    for w in range(num):
        touched |= table.keys[max(numbers[w], 0), 0]
    if touched == 0:  # never: a length is not 0; so that the loop stays
        numbers[0] = -1


@inner
def _learn(
    buffer: Bytes, start: Int, stop: Int, h: np.uint64, model: Model, table: Table, room: Room
) -> Int:  # fmt: skip
    """Number of a word, found or put in the table; where it is not kept, -1 - embeddings; room.total is their sum."""
    slot, keeps, total = np.int64(0), stop - start <= WORD_BYTES, room.total
    if keeps:
        slot, number = _find(buffer, start, stop, h, table.slots, table.keys)
        if number >= 0:
            return number
    for e in range(SIZE):
        total[e] = 0
    count, size = np.int64(0), stop - start
    if not (size > EIGHT and head64(buffer, start, size) == _LABEL_A and buffer[start + 8] == _LABEL_B):
        count = _add_ngrams(_bracketed(buffer, start, stop, room.word), size + 2, model, room, total)
    if keeps and table.used[0] < len(table.keys):
        _put(buffer, start, stop, slot, h, count, total, table)
        return table.used[0] - 1
    return -1 - count


@inner
def _best(hidden: Floats, model: Model, room: Room) -> tuple[int, float]:
    """The likeliest label: depth first through the tree, leaving out branches below the best leaf so far."""
    num_labels = len(model.tree) + 1
    stack, scores = room.stack, room.scores
    stack[0], scores[0] = 2 * num_labels - 2, 0.0
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
