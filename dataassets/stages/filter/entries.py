"""A set of byte strings that compiled passes look up: 2 bytes and 11 of a slot for each, beside its own.

A slot holds the top half of an entry's hash and where the entry lies; equal hashes prove nothing, the bytes are
compared, so nothing is ever found that is not there. Hashes run from the last byte to the first: one pass over a host
gives those of all domains that it lies in.

Shapes: E entries, S slots.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from dataassets.stages.text import FNV_BASIS, FNV_PRIME, Bytes, Hashes, Int, compiled, frozen

NOT_THERE = 0  # place of what is no entry
HEADER = 2  # bytes of an entry's size before it
MAX_ENTRY = 0xFFFF  # bytes of the longest
MAX_BYTES = 0xFFFFFFFF  # of all entries: their places have 32 bits
_DOT = 46
_HIGH, _LOW, _HALF = np.uint64(0xFFFFFFFF00000000), np.uint64(0xFFFFFFFF), np.uint64(32)
_MIX = np.uint64(0x9E3779B97F4A7C15)


class Entries(NamedTuple):
    """The strings and the table that finds them.

    Args:
        blob: uint8 [bytes]; an entry lies behind HEADER bytes with its size, little end first. Place 0 is none's.
        slots: uint64 [S], three of four in use at most; 0 is a free one.
    """

    blob: Bytes
    slots: Hashes

    @property
    def num_bytes(self) -> int:
        """Of all strings and their headers; 0 where there is none."""
        return len(self.blob) - 1

    def at(self, place: int) -> str:
        """The entry at a place."""
        size = int(self.blob[place]) | int(self.blob[place + 1]) << 8
        return self.blob[place + HEADER : place + HEADER + size].tobytes().decode()


class Pile:
    """Entries while they are read: one growing buffer."""

    def __init__(self) -> None:
        self.blob = np.zeros(1 << 12, np.uint8)
        self.used = 1

    def make_room(self, num_bytes: int) -> None:
        """Let so many bytes more fit, headers among them."""
        wanted = self.used + num_bytes
        if wanted > len(self.blob):
            self.blob.resize(max(wanted, len(self.blob) * 5 // 4), refcheck=False)

    def add(self, entries: Iterable[bytes]) -> None:
        """Add some, none of them empty or longer than MAX_ENTRY."""
        for entry in entries:
            assert 0 < len(entry) <= MAX_ENTRY, "an entry has a size"
            record = len(entry).to_bytes(HEADER, "little") + entry
            self.make_room(len(record))
            self.blob[self.used : self.used + len(record)] = np.frombuffer(record, np.uint8)
            self.used += len(record)

    def done(self) -> Entries:
        """The set of all that was added. The pile is used up.

        >>> pile = Pile()
        >>> pile.add([b"a.example", b"b.example", b"a.example"])
        >>> host = np.frombuffer(b"www.b.example", np.uint8)
        >>> found = pile.done()
        >>> found.at(suffix(host, 0, len(host), found))
        'b.example'
        """
        self.blob.resize(self.used, refcheck=False)
        slots = np.zeros(_count(self.blob) * 4 // 3 + 1, np.uint64)
        _fill(self.blob, slots)
        return Entries(frozen(self.blob), frozen(slots))


@compiled
def _size(blob: Bytes, place: Int) -> Int:
    return np.int64(blob[place]) | (np.int64(blob[place + 1]) << 8)


@compiled
def _count(blob: Bytes) -> Int:
    num, place = np.int64(0), np.int64(1)
    while place < len(blob):
        num += 1
        place += HEADER + _size(blob, place)
    return num


@compiled
def _fill(blob: Bytes, slots: Hashes) -> None:
    """Enter every string of the blob; of equal ones the first."""
    place = np.int64(1)
    while place < len(blob):
        start = place + HEADER
        stop = start + _size(blob, place)
        h = _mixed(hash_back(blob, start, stop))
        at = _slot(blob, start, stop, h, blob, slots)
        if slots[at] == 0:
            slots[at] = (h & _HIGH) | np.uint64(place)
        place = stop


@compiled
def hash_back(text: Bytes, start: Int, stop: Int) -> np.uint64:
    """FNV-1a of some bytes, the last one first."""
    h = FNV_BASIS
    for at in range(stop - 1, start - 1, -1):
        h = (h ^ np.uint64(text[at])) * FNV_PRIME
    return h


@compiled
def _mixed(h: np.uint64) -> np.uint64:
    return (h ^ (h >> _HALF)) * _MIX


@compiled
def _slot(text: Bytes, start: Int, stop: Int, h: np.uint64, blob: Bytes, slots: Hashes) -> Int:
    """The slot of a string, or the free one where it would be."""
    num = np.uint64(len(slots))
    at = np.int64(((h & _LOW) * num) >> _HALF)
    while slots[at] != 0:
        if (slots[at] ^ h) & _HIGH == 0 and _is_at(text, start, stop, blob, np.int64(slots[at] & _LOW)):
            break
        at = at + 1 if at + 1 < len(slots) else np.int64(0)
    return at


@compiled
def _is_at(text: Bytes, start: Int, stop: Int, blob: Bytes, place: Int) -> bool:
    if _size(blob, place) != stop - start:
        return False
    for k in range(stop - start):  # noqa: SIM110 (any() is no numba)
        if blob[place + HEADER + k] != text[start + k]:
            return False
    return True


@compiled
def place_of(text: Bytes, start: Int, stop: Int, h: np.uint64, entries: Entries) -> Int:
    """Place of the entry that some bytes are, whose `hash_back` is given; NOT_THERE where they are none."""
    slots = entries.slots
    return np.int64(slots[_slot(text, start, stop, _mixed(h), entries.blob, slots)] & _LOW)


@compiled
def suffix(host: Bytes, start: Int, stop: Int, entries: Entries) -> Int:
    """Place of the shortest entry that a host is, or is a subdomain of; NOT_THERE where there is none.

    A host that ends in a number is an address: it has no parts.
    """
    whole, at = True, stop
    while at > start and host[at - 1] != _DOT:
        at -= 1
        whole = whole and bool(48 <= host[at] <= 57)
    h = FNV_BASIS
    for k in range(stop - 1, start - 1, -1):
        h = (h ^ np.uint64(host[k])) * FNV_PRIME
        if k == start or (host[k - 1] == _DOT and not whole):
            place = place_of(host, k, stop, h, entries)
            if place != NOT_THERE:
                return place
    return np.int64(NOT_THERE)
