"""Compiled loops of dedup: words to shingles to signatures, and the one ordered pass over pairs.

Shapes: D documents, W words, H hashes a signature, M shingles of one document, P pairs, N documents in pairs.
"""

import numpy as np
import numpy.typing as npt

from dataassets.stages.text import Bytes, Hashes, Int, Ints, compiled, fnv1a, word_spans

Hash32 = npt.NDArray[np.uint32]

BASE = np.uint64(0x9E3779B97F4A7C15)  # odd: 2^64 / golden ratio
_FEW = 128  # values; below it, clearing three tables of counts costs more than a plain sort
_S16, _S13, _MAX = np.uint32(16), np.uint32(13), np.uint32(0xFFFFFFFF)
_FMIX32_A, _FMIX32_B = np.uint32(0x85EBCA6B), np.uint32(0xC2B2AE35)
_FMIX64_A, _FMIX64_B = np.uint64(0xFF51AFD7ED558CCD), np.uint64(0xC4CEB9FE1A85EC53)
_S33, _S32 = np.uint64(33), np.uint64(32)


@compiled
def fmix64(x: np.uint64) -> np.uint64:
    """The 64-bit finalizer of MurmurHash3.  Source: Appleby, MurmurHash3.cpp."""
    x = (x ^ (x >> _S33)) * _FMIX64_A
    x = (x ^ (x >> _S33)) * _FMIX64_B
    return x ^ (x >> _S33)


@compiled
def fmix32(x: np.uint32) -> np.uint32:
    """The 32-bit finalizer of MurmurHash3, by which datasketch's affine schemes mix every input hash."""
    x = np.uint32(np.uint32(x ^ (x >> _S16)) * _FMIX32_A)
    x = np.uint32(np.uint32(x ^ (x >> _S13)) * _FMIX32_B)
    return np.uint32(x ^ (x >> _S16))


@compiled
def shingle_hashes(words: Hashes, num_words: Int, ngram: Int, out: Hash32) -> int:
    """Hash each run of `ngram` words: top half of fmix64(sum of fmix64(word k) * BASE^(ngram - 1 - k)), a rolling sum.

    Args:
        words: uint64 hashes of the words; overwritten.
        num_words: how many.
        ngram: words in a shingle.
        out: uint32, at least num_words - ngram + 1 places.

    Returns:
        M, the number of shingles.
    """
    if num_words < ngram:
        return 0
    power, rolling = np.uint64(1), np.uint64(0)
    for _ in range(ngram):
        power *= BASE
    for w in range(num_words):
        words[w] = fmix64(words[w])
        rolling = rolling * BASE + words[w]
        if w >= ngram:
            rolling -= words[w - ngram] * power
        if w >= ngram - 1:
            out[w - ngram + 1] = np.uint32(fmix64(rolling) >> _S32)
    num_shingles: int = num_words - ngram + 1
    return num_shingles


@compiled
def sort_distinct(values: Hash32, num: Int, spare: Hash32, counts: Ints) -> int:
    """Sort some values in place and drop what repeats: three passes of 11 bits, a plain sort where there are few.

    Args:
        values: uint32, the first `num` are sorted.
        num: how many.
        spare: uint32, at least num places.
        counts: int64 [3 * 2048], overwritten.

    Returns:
        How many are left, at the front.
    """
    if num < _FEW:
        values[:num].sort()
    else:
        counts[:] = 0
        for i in range(num):
            v = np.int64(values[i])
            counts[v & 2047] += 1
            counts[2048 + ((v >> 11) & 2047)] += 1
            counts[4096 + (v >> 22)] += 1
        for digit in range(3):
            table = counts[2048 * digit : 2048 * digit + 2048]
            table[:] = np.cumsum(table) - table
            for i in range(num):
                v = values[i]
                k = (np.int64(v) >> (11 * digit)) & 2047
                spare[table[k]] = v
                table[k] += 1
            values[:num] = spare[:num]
    left = 0
    for i in range(num):
        if left == 0 or values[i] != values[left - 1]:
            values[left] = values[i]
            left += 1
    return left


@compiled
def shingle_sets(
    buffer: Bytes,
    starts: Ints,
    stops: Ints,
    first: Ints,
    ngram: Int,
    out: Hash32,
    out_num: npt.NDArray[np.int32],
    out_distinct: npt.NDArray[np.int32],
) -> int:
    """The sorted, distinct shingle hashes of each document of a buffer, one set after the other.

    Args:
        buffer: uint8 [bytes], UTF-8.
        starts: int64 [W], first byte of each word (or character).
        stops: int64 [W], the byte after each.
        first: int64 [D + 1]; document d has words first[d] to first[d + 1].
        ngram: words in a shingle.
        out: uint32, at least W places.
        out_num: int32 [D], the number of shingles.
        out_distinct: int32 [D], the number of distinct hashes.

    Returns:
        How many hashes there are in all.
    """
    longest = np.int64(0)
    for d in range(len(first) - 1):
        longest = max(longest, first[d + 1] - first[d])
    words, spare, counts = np.empty(longest, np.uint64), np.empty(longest, np.uint32), np.empty(6144, np.int64)
    total = 0
    for d in range(len(first) - 1):
        num_words = first[d + 1] - first[d]
        for w in range(num_words):
            words[w] = fnv1a(buffer, starts[first[d] + w], stops[first[d] + w])
        own = out[total:]
        num = shingle_hashes(words, num_words, ngram, own)
        out_num[d] = num
        out_distinct[d] = sort_distinct(own, num, spare, counts)
        total += out_distinct[d]
    return total


@compiled
def sign_shingles(shingles: Hash32, num_shingles: Int, a: Hash32, b: Hash32, out: Hash32) -> None:
    """MinHash of one document under datasketch's affine32; the shingles are overwritten.

    Four permutations a pass: the shingle is loaded once, the four minima stay in registers.

    Args:
        shingles: uint32 [M].
        num_shingles: M.
        a: uint32 [H], odd factors.
        b: uint32 [H], summands.
        out: uint32 [H].
    """
    for i in range(num_shingles):
        shingles[i] = fmix32(shingles[i])
    num_perm = len(a)
    for j in range(0, num_perm - 3, 4):
        a0, a1, a2, a3 = a[j], a[j + 1], a[j + 2], a[j + 3]
        b0, b1, b2, b3 = b[j], b[j + 1], b[j + 2], b[j + 3]
        v0 = v1 = v2 = v3 = _MAX
        for i in range(num_shingles):
            h = shingles[i]
            v0 = min(v0, np.uint32(a0 * h + b0))
            v1 = min(v1, np.uint32(a1 * h + b1))
            v2 = min(v2, np.uint32(a2 * h + b2))
            v3 = min(v3, np.uint32(a3 * h + b3))
        out[j], out[j + 1], out[j + 2], out[j + 3] = v0, v1, v2, v3
    for j in range(num_perm - num_perm % 4, num_perm):
        v = _MAX
        for i in range(num_shingles):
            v = min(v, np.uint32(a[j] * shingles[i] + b[j]))
        out[j] = v


@compiled
def sign_sets(values: Hash32, sizes: npt.NDArray[np.int32], a: Hash32, b: Hash32, out: Hash32) -> None:
    """Signatures of sets of shingles.

    Args:
        values: uint32, the sets one after the other.
        sizes: int32 [D].
        a: uint32 [H], odd factors.
        b: uint32 [H], summands.
        out: uint32 [D, H]; rows of empty sets are left as they are.
    """
    longest = np.int64(0)
    for d in range(len(sizes)):
        longest = max(longest, np.int64(sizes[d]))
    mine, start = np.empty(longest, np.uint32), 0
    for d in range(len(sizes)):
        if sizes[d] > 0:
            mine[: sizes[d]] = values[start : start + sizes[d]]
            sign_shingles(mine, sizes[d], a, b, out[d])
            start += sizes[d]


@compiled
def jaccard(
    values: Hash32, starts: Ints, sizes: Ints, left_P: Ints, right_P: Ints, out: npt.NDArray[np.float64]
) -> None:
    """The true Jaccard similarity of pairs of sets: shared values by all values.

    Args:
        values: uint32, sorted and distinct within each set.
        starts: int64 [N], where each set begins.
        sizes: int64 [N].
        left_P: int64 [P], numbers of sets.
        right_P: int64 [P].
        out: float64 [P]; 0 for two empty sets, which have nothing in common.
    """
    for p in range(len(left_P)):
        i, j = starts[left_P[p]], starts[right_P[p]]
        i_stop, j_stop = i + sizes[left_P[p]], j + sizes[right_P[p]]
        whole, shared = sizes[left_P[p]] + sizes[right_P[p]], 0
        while i < i_stop and j < j_stop:  # no branch that the data could mislead
            x, y = values[i], values[j]
            shared += x == y
            i += x <= y
            j += y <= x
        out[p] = shared / (whole - shared) if whole else 0.0


@compiled
def resolve(later_P: Ints, earlier_P: Ints, exact_P: npt.NDArray[np.bool_], out_match: Ints) -> None:
    """Drop a document iff one of its earlier partners stays; one pass in document order.

    Args:
        later_P: int64 [P], numbers below N; pairs sorted by (later, earlier), each once.
        earlier_P: int64 [P].
        exact_P: bool [P], whether the two have one text.
        out_match: int64 [N], filled with -1; becomes the pair by which a document goes: that with its earliest kept
            partner, among the exact ones where there is any.
    """
    for p in range(len(later_P)):
        later = later_P[p]
        if out_match[earlier_P[p]] >= 0:
            continue
        if out_match[later] < 0 or (exact_P[p] and not exact_P[out_match[later]]):
            out_match[later] = p


@compiled
def components(left_P: Ints, right_P: Ints, root: Ints) -> None:
    """Connected components: each document's root is the least number in its component.

    Args:
        left_P: int64 [P], numbers below N.
        right_P: int64 [P].
        root: int64 [N], 0 to N - 1 at first; becomes the root of each.
    """
    for p in range(len(left_P)):
        a, b = left_P[p], right_P[p]
        while root[a] != a:
            root[a] = root[root[a]]
            a = root[a]
        while root[b] != b:
            root[b] = root[root[b]]
            b = root[b]
        root[max(a, b)] = min(a, b)
    for d in range(len(root)):  # roots come before all that hang on them
        root[d] = root[root[d]]


def warm_up() -> None:
    """Compile the kernels, or load them from numba's cache, before a clock or a pool of workers starts."""
    one, num = np.ones(1, np.uint32), np.ones(1, np.int32)
    zero = np.zeros(1, np.int64)
    spans = word_spans(np.frombuffer(b"a", np.uint8), np.array([0, 1]))
    shingle_sets(*spans, 1, np.empty(1, np.uint32), num, num.copy())
    sign_sets(one, num, one, one, np.zeros((1, 1), np.uint32))
    jaccard(one, zero, zero, zero, zero, np.zeros(1))
    components(zero, zero, zero.copy())
    resolve(np.ones(1, np.int64), zero, np.zeros(1, bool), np.full(2, -1, np.int64))
