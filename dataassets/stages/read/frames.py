"""A stream cut into WARC records, going on after damage.

fastwarc's own iterator (2.0.1) ends without a word where the last record or its gzip member is cut, stops for good at
the first damage, and gives all records of one gzip member one position; so the cutting is done here, the headers are
read by fastwarc.
"""

import re
from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

from dataassets.stages.read.inflate import Break, Chunk, Damage
from dataassets.stages.read.rows import MAX_BAD_BYTES, Row, bad

MAX_HEAD_BYTES = 64 << 10
MAX_BLOCK_BYTES = 64 << 20
_VERSION = re.compile(rb"WARC/[01]\.\d{1,2}\r?\n")
_INNER = re.compile(rb"\r?\n\r?\n(?=WARC/[01]\.\d{1,2}\r?\nWARC-)")
_HEAD_END = re.compile(rb"\r?\n\r?\n")
_LENGTH = re.compile(rb"\nContent-Length[ \t]*:[ \t]*(\d{1,18})[ \t]*\r?\n", re.IGNORECASE)
_NEWLINES = re.compile(rb"[\r\n]*")


class Frame(NamedTuple):
    """One record: its header with the blank line, and its block, as they lie there."""

    position: int
    head: bytes
    block: bytes


class _Window:
    """Decompressed bytes from `offset` on, and where their members begin in the file as stored."""

    def __init__(self, events: Iterator[Chunk | Break]) -> None:
        self._events = events
        self.held = bytearray()
        self.offset = 0
        self.starts: deque[tuple[int, int, bool]] = deque()  # decompressed offset, stored offset, plain
        self.broken: Break | None = None  # lies right after what is held
        self.ended = False

    def fill(self, num_bytes: int) -> bool:
        """Hold so many bytes; False where the stream breaks or ends before."""
        while len(self.held) < num_bytes and self.broken is None and not self.ended:
            event = next(self._events, None)
            if event is None:
                self.ended = True
            elif isinstance(event, Break):
                self.broken = event
            else:
                if event.start is not None:
                    self.starts.append((self.offset + len(self.held), event.start, event.plain))
                self.held += event.data
        return len(self.held) >= num_bytes

    def take(self, num_bytes: int) -> bytes:
        taken = bytes(self.held[:num_bytes])
        del self.held[:num_bytes]
        self.offset += len(taken)
        while len(self.starts) > 1 and self.starts[1][0] <= self.offset:
            self.starts.popleft()
        return taken

    def stored(self, ahead: int = 0) -> int:
        """Stored offset of the byte so far ahead: its own in a plain file, else that of its member."""
        begin, stored, plain = 0, 0, False
        for start in self.starts:
            if start[0] <= self.offset + ahead:
                begin, stored, plain = start
        return stored + (self.offset + ahead - begin if plain else 0)

    def inner_member(self, num_bytes: int) -> int | None:
        """Bytes up to the first member within the next num_bytes that begins with a record."""
        for begin, _, plain in self.starts:
            ahead = begin - self.offset
            if not plain and 0 < ahead < num_bytes and _VERSION.match(self.held, ahead):
                return ahead
        return None


def frames(events: Iterator[Chunk | Break]) -> Iterator[Frame | Row]:
    """Cut a stream into records.

    Args:
        events: as `inflate` gives them.

    Returns:
        Records, and a bad row for each stretch of bytes that is none. Positions rise: the stored offset of the record
        (plain file) or of its gzip member; further records of one member follow by one each.
    """
    window, last = _Window(events), -1
    while True:
        _skip_newlines(window)
        if not window.fill(1) and window.broken is None:
            return
        found = _next(window)
        last = max(last + 1, found.position)
        yield found._replace(position=last)


def _skip_newlines(window: _Window) -> None:
    while window.fill(1):
        newlines = _NEWLINES.match(window.held)
        assert newlines is not None, "the pattern matches the empty string"
        if not newlines.end():
            return
        window.take(newlines.end())


def _next(window: _Window) -> Frame | Row:
    """The record, or the stretch of no record, at which the window stands."""
    window.fill(16)
    position = window.stored()
    if not _VERSION.match(window.held):
        return _gap(window, b"", position=position, error="bytes that are no WARC record", at_end="damaged")
    head = _head(window)
    if head is None:
        return _gap(window, window.take(5), position=position, error="a WARC header without end")
    told = _LENGTH.search(head)
    if told is None:
        return _gap(window, head, position=position, error="a WARC header without a valid Content-Length")
    length = int(told[1])
    if length > MAX_BLOCK_BYTES:
        return _too_long(window, head, length=length, position=position)
    whole = window.fill(length)
    inner = window.inner_member(length)
    if inner is None and (not whole or not _separated(window, length)):
        found = _INNER.search(window.held, 0, length)
        inner = found.end() if found else None
    if inner is not None:
        error = f"the Content-Length of {length} reaches into the next record: damaged"
        return bad(position, head + window.take(inner), reason="read:damaged", error=error)
    if not whole:
        head += window.take(len(window.held))
        return _gap(window, head, position=position, error=f"a WARC record cut inside its {length} bytes")
    last_member = window.stored(max(0, length - 1))
    block = window.take(length)
    _skip_newlines(window)
    broken = window.broken
    if not window.held and broken is not None and broken.reason == "damaged" and broken.start == last_member:
        window.broken = None  # what was inflated of this member cannot be trusted
        return bad(position, head + block, reason="read:damaged", error=broken.error)
    return Frame(position, head, block)


def _head(window: _Window) -> bytes | None:
    """The header with its blank line; None where there is no end of it."""
    want = 1024
    while True:
        whole = window.fill(want)
        if found := _HEAD_END.search(window.held, 0, MAX_HEAD_BYTES):
            return window.take(found.end())
        if not whole or want >= MAX_HEAD_BYTES:
            return None
        want *= 4


def _separated(window: _Window, length: int) -> bool:
    """Whether a line end, or the end of all, follows the block."""
    return not window.fill(length + 1) or window.held[length] in b"\r\n"


def _gap(window: _Window, taken: bytes, *, position: int, error: str, at_end: Damage = "truncated") -> Row:
    """Bytes up to the next record, the break or the end, as one bad row; `at_end` is its reason at the end."""
    kept, num_bytes = bytearray(taken[:MAX_BAD_BYTES]), len(taken)
    found, over = None, False
    while not found and not over:
        window.fill(MAX_BAD_BYTES)
        over = window.broken is not None or window.ended
        found = _VERSION.search(window.held)
        step = found.start() if found else len(window.held) - (0 if over else 16)  # a version may lie across
        piece = window.take(step)
        num_bytes += len(piece)
        kept += piece[: MAX_BAD_BYTES - len(kept)]
    if found is None and window.broken is not None:
        broken, window.broken = window.broken, None
        return bad(
            position if num_bytes else broken.start, bytes(kept), reason=f"read:{broken.reason}", error=broken.error
        )
    reason: Damage = "damaged" if found else at_end
    return bad(position, bytes(kept), reason=f"read:{reason}", error=f"{error}: {reason}, {num_bytes} bytes")


def _too_long(window: _Window, head: bytes, *, length: int, position: int) -> Row:
    """A record that is too large to hold: passed over, told of."""
    kept, left = bytearray(head), length
    while left and window.fill(1):
        inner = window.inner_member(min(left, len(window.held)))
        piece = window.take(min(left, len(window.held)) if inner is None else inner)
        kept += piece[: max(0, MAX_BAD_BYTES - len(kept))]
        left = left - len(piece) if inner is None else 0
    error = f"a record of {length} bytes; at most {MAX_BLOCK_BYTES} are read"
    return bad(position, bytes(kept), reason="read:too_long", error=error)
