"""Words and parts of addresses: what lists of them find in a column of addresses.

Words are what is left when an address is cut at everything but ASCII letters and digits, in small letters.

Shapes: D documents.
"""

import re
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from dataassets.recipe import RecipeError
from dataassets.stages.filter import automaton, lists
from dataassets.stages.filter.addresses import lower
from dataassets.stages.filter.automaton import Automaton
from dataassets.stages.filter.entries import NOT_THERE, Entries, Pile, hash_back, place_of
from dataassets.stages.text import Bytes, Int, Ints, compiled, frozen

_NO_WORD = re.compile("[^a-z0-9]+")
_AS_WRITTEN = frozen(np.array([ord(chr(b).lower()) if b < 128 else b for b in range(256)], np.uint8))
_SQUEEZED = frozen(
    np.where([chr(b).isascii() and chr(b).isalnum() for b in range(256)], _AS_WRITTEN, 0).astype(np.uint8)
)


def load_words(files: lists.Files) -> Entries:
    """Words of lists: small letters, and what is no letter or digit taken out.

    Args:
        files: key in the recipe and path.

    Raises:
        RecipeError: a file cannot be read, or a line holds no word; or there is no entry.
    """
    pile = Pile()
    for word in _words(files):
        pile.add([word])
    entries = pile.done()
    lists.refuse_none(entries.num_bytes, files)
    return entries


def load_parts(files: lists.Files, *, squeezed: bool) -> Automaton:
    """Parts that lists look for.

    Args:
        files: key in the recipe and path.
        squeezed: whether they are parts of an address' letters and digits, rather than of the address as it is written.

    Raises:
        RecipeError: a file cannot be read, or a line holds no word; or there is no entry.
    """
    written = (entry.encode().lower() for key, path in files for entry in lists.words(path, key=key))
    found = automaton.build(_words(files) if squeezed else written)
    lists.refuse_none(len(found.offsets) - 1, files)
    return found


def _words(files: lists.Files) -> Iterator[bytes]:
    for key, path in files:
        for entry in lists.words(path, key=key):
            if entry.startswith("#"):  # no address has it in a word: always a remark, as for datatrove
                continue
            word = _NO_WORD.sub("", entry.lower())
            if not word or not entry.isascii():
                raise RecipeError(f"{key}: {path}: {entry!r} is no word; wanted are ASCII letters and digits")
            yield word.encode()


def find_words(buffer: Bytes, offsets: Ints, *, banned: Entries, soft: Entries) -> tuple[Ints, Ints]:
    """Listed words of addresses.

    Args:
        buffer: bytes of the addresses.
        offsets: int64 [D + 1].
        banned: words.
        soft: words.

    Returns:
        int64 [D] place of the first banned word of each, NOT_THERE where there is none; int64 [D] numbers of different
        soft words.
    """
    num, longest = len(offsets) - 1, int(np.diff(offsets).max(initial=0))
    banned_D, soft_D, seen = np.zeros(num, np.int64), np.zeros(num, np.int64), np.empty(longest // 2 + 1, np.int64)
    _find_words(buffer, offsets, banned, soft, np.empty(longest, np.uint8), seen, banned_D, soft_D)
    return banned_D, soft_D


@compiled
def _find_words(
    buffer: Bytes, offsets: Ints, banned: Entries, soft: Entries, scratch: Bytes, seen: Ints, out_banned: Ints,
    out_soft: Ints,
) -> None:  # fmt: skip
    for d in range(len(offsets) - 1):
        start, size = offsets[d], offsets[d + 1] - offsets[d]
        for k in range(size):
            scratch[k] = lower(buffer[start + k])
        num_soft, first = np.int64(0), np.int64(0)
        while first < size:
            last = first
            while last < size and _SQUEEZED[scratch[last]] != 0:
                last += 1
            if last > first:
                h = hash_back(scratch, first, last)
                if out_banned[d] == NOT_THERE:
                    out_banned[d] = place_of(scratch, first, last, h, banned)
                num_soft = _add(place_of(scratch, first, last, h, soft), seen, num_soft)
            first = last + 1
        out_soft[d] = num_soft


@compiled
def _add(place: Int, seen: Ints, num: Int) -> Int:
    """Add a place to those seen, if it is one and is not among them; how many they are."""
    if place == NOT_THERE:
        return num
    for k in range(num):
        if seen[k] == place:
            return num
    seen[num] = place
    return num + 1


def find_parts(buffer: Bytes, offsets: Ints, *, parts: Automaton, squeezed: bool) -> npt.NDArray[np.object_]:
    """The listed part that ends first in each address, None where there is none: object [D].

    Args:
        buffer: bytes of the addresses.
        offsets: int64 [D + 1].
        parts: as `load_parts` gives them.
        squeezed: as there.
    """
    found_D = np.empty(len(offsets) - 1, np.int64)
    _find_parts(buffer, offsets, parts, _SQUEEZED if squeezed else _AS_WRITTEN, found_D)
    chosen, inverse = np.unique(found_D, return_inverse=True)
    names = [None if p < 0 else parts.pattern(p).decode() for p in chosen.tolist()]
    return np.array(names, object)[inverse]


@compiled
def _find_parts(buffer: Bytes, offsets: Ints, parts: Automaton, fold: Bytes, out: Ints) -> None:
    for d in range(len(offsets) - 1):
        out[d] = automaton.first_found(buffer, offsets[d], offsets[d + 1], parts, fold)
