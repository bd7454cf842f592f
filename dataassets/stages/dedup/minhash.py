"""Shingles and permutations, in plain Python: what the kernels must equal, and what datasketch needs to read us.

Shapes: D documents, H hashes a signature, B bands, R hashes a band.
"""

import functools

import numpy as np
import numpy.typing as npt

_MASK = (1 << 64) - 1
_BASE = 0x9E3779B97F4A7C15
_FNV_BASIS, _FNV_PRIME = 0xCBF29CE484222325, 0x100000001B3
_FOLD = np.uint64(0xBF58476D1CE4E5B9)  # splitmix64's first multiplier


def shingle_hash(shingle: bytes) -> int:
    """32-bit hash of a shingle of words: a `hashfunc` for datasketch that gives the signatures of `sign`.

    h_k is the 64-bit FNV-1a of word k; the hash is the top half of fmix64(sum fmix64(h_k) * BASE^(n - 1 - k)), with
    fmix64 MurmurHash3's finalizer and BASE 0x9E3779B97F4A7C15, all modulo 2^64.

    Args:
        shingle: UTF-8 of lower-cased words, joined by one space.

    >>> hex(shingle_hash(b"the quick brown fox jumps"))
    '0x61f621ff'
    """
    return _hash_of(shingle.split(b" "))


def character_hash(shingle: bytes) -> int:
    """The same of a shingle of characters: each is what a word is to `shingle_hash`.

    Args:
        shingle: UTF-8 of a run of characters of the normalized text.

    >>> character_hash(b"ab") == shingle_hash(b"a b")
    True
    """
    return _hash_of([character.encode() for character in shingle.decode()])


def _hash_of(tokens: list[bytes]) -> int:
    total = 0
    for token in tokens:
        h = _FNV_BASIS
        for byte in token:
            h = (h ^ byte) * _FNV_PRIME & _MASK
        total = (total * _BASE + _fmix64(h)) & _MASK
    return _fmix64(total) >> 32


def _fmix64(x: int) -> int:
    x = (x ^ (x >> 33)) * 0xFF51AFD7ED558CCD & _MASK
    x = (x ^ (x >> 33)) * 0xC4CEB9FE1A85EC53 & _MASK
    return x ^ (x >> 33)


@functools.cache
def permutations(*, num_perm: int, seed: int) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32]]:
    """Odd factors and summands of datasketch 2's `affine32`: v -> a * v + b mod 2^32.

    Args:
        num_perm: H.
        seed: of datasketch.MinHash.

    Returns:
        uint32 [H] factors, uint32 [H] summands.

    Source: datasketch 2.0.0, MinHash._init_permutations; RandomState's stream is frozen by numpy's policy (NEP 19).

    >>> [x.tolist() for x in permutations(num_perm=2, seed=1)]
    [[3582191691, 4270784983], [3093770124, 4005303368]]
    """
    generator = np.random.RandomState(seed)  # datasketch's generator: its bits are the contract
    a = generator.randint(0, 1 << 31, num_perm, dtype=np.uint32) * np.uint32(2) + np.uint32(1)
    b = generator.randint(0, 1 << 32, num_perm, dtype=np.uint32)
    return a, b


def band_keys(sig_DH: npt.NDArray[np.uint32], *, num_bands: int, num_rows: int, salt: int) -> npt.NDArray[np.uint64]:
    """One 64-bit key for each band of each document: equal where number of band, values and salt are.

    Args:
        sig_DH: uint32 [D, H].
        num_bands: B.
        num_rows: R, values in a band; B * R is at most H.
        salt: 64 bits that keep apart what must not meet.

    Returns:
        uint64 [B, D]; fold of x -> (x ^ v) * 0xBF58476D1CE4E5B9, x ^= x >> 29 over the band's values.

    >>> keys = band_keys(np.array([[1, 2, 3, 4], [1, 2, 9, 4]], np.uint32), num_bands=2, num_rows=2, salt=0)
    >>> (keys[:, 0] == keys[:, 1]).tolist()
    [True, False]
    """
    num_docs = len(sig_DH)
    keys = np.empty((num_bands, num_docs), np.uint64)
    for band in range(num_bands):
        x = np.full(num_docs, (salt + (band + 1) * _BASE) & _MASK, np.uint64)
        for column in range(band * num_rows, (band + 1) * num_rows):
            x = (x ^ sig_DH[:, column].astype(np.uint64)) * _FOLD
            x ^= x >> np.uint64(29)
        keys[band] = x
    return keys
