"""Shingles and permutations, in plain Python: what the kernels must equal, and what datasketch needs to read us.

Shapes: D documents, H hashes a signature, B bands, R = H / B hashes a band.
"""

import functools

import numpy as np
import numpy.typing as npt

_MASK = (1 << 64) - 1
_BASE = 0x9E3779B97F4A7C15
_FNV_BASIS, _FNV_PRIME = 0xCBF29CE484222325, 0x100000001B3
_FOLD = np.uint64(0xBF58476D1CE4E5B9)  # splitmix64's first multiplier


def shingle_hash(shingle: bytes) -> int:
    """32-bit hash of a shingle: a `hashfunc` for datasketch that gives the signatures of `sign`.

    h_k is the 64-bit FNV-1a of word k; the hash is the top half of fmix64(sum fmix64(h_k) * BASE^(n - 1 - k)), with
    fmix64 MurmurHash3's finalizer and BASE 0x9E3779B97F4A7C15, all modulo 2^64.

    Args:
        shingle: UTF-8 of lower-cased words, joined by one space.

    >>> hex(shingle_hash(b"the quick brown fox jumps"))
    '0x61f621ff'
    """
    total = 0
    for word in shingle.split(b" "):
        h = _FNV_BASIS
        for byte in word:
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


def band_keys(sig_DH: npt.NDArray[np.uint32], *, num_bands: int, salt: int) -> npt.NDArray[np.uint64]:
    """One 64-bit key for each band of each document: equal where number of band, values and salt are.

    Args:
        sig_DH: uint32 [D, H].
        num_bands: B, a divisor of H.
        salt: 64 bits that keep apart what must not meet.

    Returns:
        uint64 [B, D]; fold of x -> (x ^ v) * 0xBF58476D1CE4E5B9, x ^= x >> 29 over the band's values.

    >>> keys = band_keys(np.array([[1, 2, 3, 4], [1, 2, 9, 4]], np.uint32), num_bands=2, salt=0)
    >>> (keys[:, 0] == keys[:, 1]).tolist()
    [True, False]
    """
    num_docs, num_perm = sig_DH.shape
    rows = num_perm // num_bands
    keys = np.empty((num_bands, num_docs), np.uint64)
    for band in range(num_bands):
        x = np.full(num_docs, (salt + (band + 1) * _BASE) & _MASK, np.uint64)
        for column in range(band * rows, (band + 1) * rows):
            x = (x ^ sig_DH[:, column].astype(np.uint64)) * _FOLD
            x ^= x >> np.uint64(29)
        keys[band] = x
    return keys
