"""The normal form of an address: what lists and documents are compared by.

The host in small letters, without user, dots at its end and the ports 80 and 443; then the rest as it is written, less
the fragment and slashes at its end. The scheme is left out. A host that is not plain ASCII, or is IPv6, is
rewritten before: percent escapes decoded, NFKC, small letters, labels in Punycode (as UTS 46 has it, non-transitional),
IPv6 in its short form.
"""

import ipaddress
import re
import unicodedata
from urllib.parse import unquote

import numpy as np

from dataassets.stages.text import Bytes, Int, compiled, frozen

ROOM = 8  # bytes that a normal form may have more than what it is of
_TRIM = 32  # this byte and those below it are no part of an address
_SLASH, _BACKSLASH, _ASK, _HASH, _COLON, _AT, _DOT, _OPEN, _CLOSE, _PERCENT = (ord(char) for char in "/\\?#:@.[]%")
_DOTS = re.compile("[\u3002\uff0e\uff61]")  # what stands for a dot in a host, beside the dot
_NO_HOST = re.compile(r"[\s/?#@:\[\]\\]")


def plain_host(host: str) -> str:
    """A host as it stands in the normal form.

    Args:
        host: as it is written, IPv6 in brackets; no user, no port.

    >>> [plain_host(host) for host in ("BÜCHER.example", "[2001:DB8:0::1]", "a%2Eb")]
    ['xn--bcher-kva.example', '[2001:db8::1]', 'a.b']
    """
    if host.startswith("["):
        try:
            return f"[{ipaddress.IPv6Address(host[1:-1].partition('%')[0]).compressed}]"
        except ValueError:
            return host.lower()
    name = unicodedata.normalize("NFKC", _DOTS.sub(".", unquote(host))).lower()
    if _NO_HOST.search(name):  # what it spells is something else than a host
        return host.lower()
    return ".".join(_label(one) for one in name.split("."))


def _label(label: str) -> str:
    return label if label.isascii() else "xn--" + label.encode("punycode").decode()


def normal_form(url: str) -> tuple[str, str]:
    """Host and normal form of an address; the host is its first part.

    Args:
        url: with or without a scheme.

    >>> normal_form("HTTPS://me@WWW.Example.COM.:443/A/?q=1#top")
    ('www.example.com', 'www.example.com/A/?q=1')
    """
    raw = url.encode()
    buffer = frozen(np.frombuffer(raw + b" ", np.uint8))
    start, stop, _ = host_span(buffer, *trimmed(buffer, 0, len(buffer)))
    if is_strange(buffer, start, stop):
        raw = raw[:start] + plain_host(raw[start:stop].decode()).encode() + raw[stop:]
        buffer = frozen(np.frombuffer(raw + b" ", np.uint8))
    out = np.empty(len(buffer) + ROOM, np.uint8)
    host_size, size = write_normal(buffer, 0, len(buffer), out)
    return out[:host_size].tobytes().decode(), out[:size].tobytes().decode()


@compiled
def trimmed(buffer: Bytes, start: Int, stop: Int) -> tuple[Int, Int]:
    """An address less white space and control characters at both ends."""
    while start < stop and buffer[start] <= _TRIM:
        start += 1
    while stop > start and buffer[stop - 1] <= _TRIM:
        stop -= 1
    return start, stop


@compiled
def host_span(buffer: Bytes, start: Int, stop: Int) -> tuple[Int, Int, Int]:
    """Where the host of a trimmed address lies, with brackets, without user and port; where the rest begins."""
    first = _behind_scheme(buffer, start, stop)
    rest = first
    while rest < stop and not _ends_host(buffer[rest]):
        rest += 1
    for at in range(first, rest):
        if buffer[at] == _AT:
            first = at + 1
    last = first
    if first < rest and buffer[first] == _OPEN:
        while last < rest and buffer[last] != _CLOSE:
            last += 1
        return first, min(last + 1, rest), rest
    while last < rest and buffer[last] != _COLON:
        last += 1
    return first, last, rest


@compiled
def _ends_host(byte: Int) -> bool:
    return bool(byte in (_SLASH, _ASK, _HASH, _BACKSLASH))


@compiled
def _behind_scheme(buffer: Bytes, start: Int, stop: Int) -> Int:
    """The byte after `scheme://` or `//`, or the start where there is neither."""
    at = start
    while at < stop and _is_of_scheme(buffer[at], at == start):
        at += 1
    at += at > start and at < stop and buffer[at] == _COLON
    colon = at == start or buffer[at - 1] == _COLON
    return at + 2 if colon and at + 1 < stop and buffer[at] == _SLASH and buffer[at + 1] == _SLASH else start


@compiled
def _is_of_scheme(byte: Int, is_first: bool) -> bool:
    letter = 97 <= byte | 32 <= 122
    return letter or (not is_first and (48 <= byte <= 57 or byte == 43 or byte == 45 or byte == 46))


@compiled
def is_strange(buffer: Bytes, start: Int, stop: Int) -> bool:
    """Whether a host wants `plain_host` before it is written: it is not ASCII, has escapes, or is IPv6."""
    for at in range(start, stop):  # noqa: SIM110 (any() is no numba)
        if buffer[at] >= 0x80 or buffer[at] == _PERCENT or buffer[at] == _OPEN:
            return True
    return False


@compiled
def lower(byte: Int) -> Int:
    """A byte, in small letters if it is an ASCII letter."""
    return byte + 32 if 65 <= byte <= 90 else byte


@compiled
def write_normal(buffer: Bytes, start: Int, stop: Int, out: Bytes) -> tuple[Int, Int]:
    """Write the normal form of an address whose host is not strange: sizes of the host and of all."""
    start, stop = trimmed(buffer, start, stop)
    first, last, rest = host_span(buffer, start, stop)
    port = last
    while last > first and buffer[last - 1] == _DOT:
        last -= 1
    size = np.int64(0)
    for at in range(first, last):
        out[size] = lower(buffer[at])
        size += 1
    host_size = size
    if not _is_default(buffer, port, rest):
        for at in range(port, rest):
            out[size] = buffer[at]
            size += 1
    if rest < stop and buffer[rest] == _ASK:
        out[size] = _SLASH
        size += 1
    while rest < stop and buffer[rest] != _HASH:
        out[size] = buffer[rest]
        size += 1
        rest += 1
    while size > host_size and out[size - 1] == _SLASH:
        size -= 1
    return host_size, size


@compiled
def _is_default(buffer: Bytes, start: Int, stop: Int) -> bool:
    """Whether a port, with its colon, says nothing: it is empty, 80 or 443."""
    num = stop - start
    if num == 0 or buffer[start] != _COLON:
        return bool(num == 0)
    if num == 3:
        return bool(buffer[start + 1] == 56 and buffer[start + 2] == 48)
    return num == 1 or bool(
        num == 4 and buffer[start + 1] == 52 and buffer[start + 2] == 52 and buffer[start + 3] == 51
    )
