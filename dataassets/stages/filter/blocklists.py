"""Lists of domains and addresses: read into entries, looked up for a whole column of addresses.

Lines that are plain are taken in a compiled pass; the others are read in Python, where formats and errors are told.

Shapes: D documents.
"""

import ipaddress
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dataassets.recipe import RecipeError
from dataassets.stages.filter import lists
from dataassets.stages.filter.addresses import (
    ROOM,
    host_span,
    is_strange,
    normal_form,
    plain_host,
    trimmed,
    write_normal,
)
from dataassets.stages.filter.entries import HEADER, MAX_BYTES, MAX_ENTRY, NOT_THERE, Entries, Pile, hash_back, place_of
from dataassets.stages.filter.entries import suffix as suffix_place
from dataassets.stages.text import Bytes, Int, Ints, compiled, frozen

_DOMAIN = re.compile(r"[a-z0-9_-][a-z0-9._-]*|\[[0-9a-f:.]+\]")
_REMARK = re.compile(r"[#!]|\[Adblock")
_LINE_FEED, _BLANK, _DOT, _CARET, _BAR, _DELETE = 10, 32, 46, 94, 124, 127
_NOWHERE, _HERE = np.frombuffer(b"0.0.0.0", np.uint8), np.frombuffer(b"127.0.0.1", np.uint8)
_IN_DOMAIN = frozen(np.array([chr(b).isascii() and (chr(b).isalnum() or chr(b) in ".-_") for b in range(256)]))
_LEADS = frozen(np.array([chr(b).isascii() and (chr(b).isalnum() or chr(b) in "/-_") for b in range(256)]))


class Blocked(NamedTuple):
    """What some lists hold.

    Args:
        domains: hosts, each with its subdomains.
        urls: normal forms of addresses, without `www.`.
    """

    domains: Entries
    urls: Entries


def load(*, domains: lists.Files = (), urls: lists.Files = (), either: lists.Files = ()) -> Blocked:
    """Read lists; a million domains of 20 letters are 35 MB.

    Args:
        domains: key in the recipe and path; lines as in `domains_of`.
        urls: the same of addresses, a line each.
        either: the same; a line with a slash is an address, the others are domains.

    Raises:
        RecipeError: a file cannot be read, or a line is no entry; or there is none.
    """
    piles = Pile(), Pile()
    for key, path in domains:
        _read(path, key, (piles[0], piles[0]), lambda _: False, domains_only=True)
    for key, path in urls:
        _read(path, key, (piles[1], piles[1]), lambda _: True, domains_only=False)
    for key, path in either:
        _read(path, key, piles, lambda line: "/" in line, domains_only=True)
    found = Blocked(piles[0].done(), piles[1].done())
    lists.refuse_none(found.domains.num_bytes, domains)
    lists.refuse_none(found.urls.num_bytes, urls)
    lists.refuse_none(found.domains.num_bytes + found.urls.num_bytes, either)
    return found


def domains_of(line: str) -> list[str]:
    """The domains that a line names.

    It is a domain, with `.` or `*.` before it or not; a line of a hosts file (`0.0.0.0 domain domain`); a line of a
    filter list (`||domain^`); blank; or a remark (`#`, `!`, `[Adblock`, or ` #` behind the entry).

    Args:
        line: of a list.

    Raises:
        ValueError: it is none of these.

    >>> [domains_of(line) for line in ("*.a.example", "0.0.0.0 b.example c.example # x", "||d.example^", "! e")]
    [['a.example'], ['b.example', 'c.example'], ['d.example'], []]
    """
    text = re.split(r"\s#", line)[0].strip()
    if not text or _REMARK.match(text):
        return []
    names = text.split()
    if len(names) > 1:
        ipaddress.ip_address(names.pop(0))
    return [_domain(name) for name in names]


def _domain(name: str) -> str:
    if name.startswith("||") and name.endswith("^"):
        name = name[2:-1]
    name = name.removeprefix("*").removeprefix(".")
    if name.count(":") > 1:
        name = f"[{name.strip('[]')}]"
    host = plain_host(name).rstrip(".")
    if not _DOMAIN.fullmatch(host):
        raise ValueError(f"{name!r} is no domain")
    return host


def _url(line: str) -> list[str]:
    text = line.strip()
    if not text or _REMARK.match(text):
        return []
    host, whole = normal_form(text)
    if not host or re.search(r"\s", text) or text[0] in "|@*":
        raise ValueError(f"{text!r} is no address")
    return [_without_www(whole)]


def _without_www(form: str) -> str:
    return form[4:] if form.startswith("www.") else form


def _read(path: str, key: str, piles: tuple[Pile, Pile], is_url: Callable[[str], bool], *, domains_only: bool) -> None:
    """Add the lines of a file to two piles: of what is no address, and of addresses; plain lines to the first."""
    pile, number = piles[0], 1
    for block in lists.blocks(path, key=key):
        buffer = frozen(np.frombuffer(block, np.uint8))
        num_lines = block.count(b"\n")
        pile.make_room(len(block) + (HEADER + ROOM) * num_lines)
        odd, at_line = np.empty(num_lines, np.int64), np.empty(num_lines, np.int64)
        pile.used, num_odd = _take_plain(buffer, domains_only, pile.blob, pile.used, odd, at_line)
        for start, line_no in zip(odd[:num_odd].tolist(), at_line[:num_odd].tolist(), strict=True):
            line = block[start : block.index(b"\n", start)]
            for own, entry in _read_odd(line, path, number + line_no, key, is_url):
                piles[own].add([entry])
        number += num_lines
        if pile.used > MAX_BYTES:
            raise RecipeError(f"{key}: {path}: the lists hold over 4 GB; take entries out that others cover")


def _read_odd(
    raw: bytes, path: str, number: int, key: str, is_url: Callable[[str], bool]
) -> Iterator[tuple[bool, bytes]]:
    line = lists.text_of(raw, path=path, number=number, key=key)
    own = is_url(line)
    try:
        entries = [entry.encode() for entry in (_url if own else domains_of)(line)]
    except ValueError as e:
        wanted = "an address, such as a.example/page" if own else "a domain, 0.0.0.0 domain, or ||domain^"
        raise RecipeError(f"{key}: {path}:{number}: {e}; wanted is {wanted}; mend the line or take it out") from e
    for entry in entries:
        if len(entry) > MAX_ENTRY:
            raise RecipeError(f"{key}: {path}:{number}: a line of {len(raw)} bytes; most are {MAX_ENTRY}")
        yield own, entry


@compiled
def _take_plain(
    buffer: Bytes, domains_only: bool, blob: Bytes, used: Int, out_odd: Ints, out_lines: Ints
) -> tuple[Int, Int]:
    """Add plain lines to a blob: bytes in use then, and how many lines are odd; these are written with their start."""
    num_odd, at, line = np.int64(0), np.int64(0), np.int64(0)
    while at < len(buffer):
        end = at
        while buffer[end] != _LINE_FEED:
            end += 1
        line_start, stop = trimmed(buffer, at, end)
        start, size = line_start, np.int64(0)
        if domains_only:
            start, stop = _unframed(buffer, start, stop)
        if start < stop <= start + MAX_ENTRY - ROOM and _is_plain(buffer, start, stop, domains_only):
            size = _take(buffer, start, stop, domains_only, blob, used)
        if size > 0:
            used += HEADER + size
        elif line_start < stop:
            out_odd[num_odd], out_lines[num_odd] = line_start, line
            num_odd += 1
        at = end + 1
        line += 1
    return used, num_odd


@compiled
def _unframed(buffer: Bytes, start: Int, stop: Int) -> tuple[Int, Int]:
    """The name in `0.0.0.0 name`, `127.0.0.1 name` or `||name^`; any other line as it is."""
    if stop - start > 3 and buffer[start] == _BAR and buffer[start + 1] == _BAR and buffer[stop - 1] == _CARET:
        return start + 2, stop - 1
    for address in (_NOWHERE, _HERE):
        behind = start + len(address)
        if behind < stop and buffer[behind] <= _BLANK and _begins(buffer, start, address):
            while buffer[behind] <= _BLANK:
                behind += 1
            return behind, stop
    return start, stop


@compiled
def _begins(buffer: Bytes, start: Int, wanted: Bytes) -> bool:
    for k in range(len(wanted)):  # noqa: SIM110 (any() is no numba)
        if buffer[start + k] != wanted[k]:
            return False
    return True


@compiled
def _is_plain(buffer: Bytes, start: Int, stop: Int, domains_only: bool) -> bool:
    plain = bool(_LEADS[buffer[start]])
    for at in range(start, stop):
        byte = buffer[at]
        plain = plain and (_IN_DOMAIN[byte] if domains_only else _BLANK < byte < _DELETE)
    return plain


@compiled
def _take(buffer: Bytes, start: Int, stop: Int, domains_only: bool, blob: Bytes, used: Int) -> Int:
    """Write an entry; its size, 0 where the line is odd all the same."""
    first, last, _ = host_span(buffer, start, stop)
    if first == last or buffer[first] == _DOT or is_strange(buffer, first, last):
        return np.int64(0)
    entry = blob[used + HEADER :]
    host_size, size = write_normal(buffer, start, stop, entry)
    if domains_only:
        size = host_size
    elif _is_www(entry, size):
        size -= 4
        for k in range(size):
            entry[k] = entry[k + 4]
    blob[used], blob[used + 1] = size & 0xFF, size >> 8
    return size


@compiled
def _is_www(text: Bytes, size: Int) -> bool:
    return bool(size > 4 and text[0] == 119 and text[1] == 119 and text[2] == 119 and text[3] == _DOT)


def look_up(buffer: Bytes, offsets: Ints, blocked: Blocked) -> tuple[Ints, Ints]:
    """Which listed domain and which listed address some addresses are of.

    Args:
        buffer: bytes of the addresses.
        offsets: int64 [D + 1].
        blocked: the lists.

    Returns:
        int64 [D] places among the domains, and int64 [D] among the addresses; NOT_THERE where there is none.
    """
    num = len(offsets) - 1
    places_2D, odd = np.zeros((2, num), np.int64), np.empty(num, np.int64)
    num_odd = _look_up(buffer, offsets, blocked, _scratch(offsets), places_2D, odd)
    for row in odd[:num_odd].tolist():
        host, form = (part.encode() for part in normal_form(buffer[offsets[row] : offsets[row + 1]].tobytes().decode()))
        places_2D[:, row] = _places(frozen(np.frombuffer(form, np.uint8)), len(host), len(form), blocked)
    return places_2D[0], places_2D[1]


def _scratch(offsets: Ints) -> Bytes:
    return np.empty(int(np.diff(offsets).max(initial=0)) + ROOM, np.uint8)


@compiled
def _look_up(buffer: Bytes, offsets: Ints, blocked: Blocked, scratch: Bytes, out_2D: Ints, out_odd: Ints) -> Int:
    """Write places; how many addresses want `normal_form`, whose rows are written too."""
    num_odd = np.int64(0)
    for d in range(len(offsets) - 1):
        start, stop = trimmed(buffer, offsets[d], offsets[d + 1])
        first, last, _ = host_span(buffer, start, stop)
        if is_strange(buffer, first, last):
            out_odd[num_odd] = d
            num_odd += 1
        else:
            host_size, size = write_normal(buffer, start, stop, scratch)
            out_2D[0, d], out_2D[1, d] = _places(scratch, host_size, size, blocked)
    return num_odd


@compiled
def _places(form: Bytes, host_size: Int, size: Int, blocked: Blocked) -> tuple[Int, Int]:
    """Places of a normal form's domain and of itself."""
    if host_size == 0:
        return np.int64(NOT_THERE), np.int64(NOT_THERE)
    start = 4 if _is_www(form, size) else 0
    whole = place_of(form, start, size, hash_back(form, start, size), blocked.urls)
    return suffix_place(form, 0, host_size, blocked.domains), whole


def names_of(places: Ints, entries: Entries) -> npt.NDArray[np.object_]:
    """The entries at some places, None where there is none: object [D]."""
    found, inverse = np.unique(places, return_inverse=True)
    names = [None if place == NOT_THERE else entries.at(place) for place in found.tolist()]
    return np.array(names, object)[inverse]
