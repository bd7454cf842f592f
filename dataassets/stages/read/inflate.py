"""Stored bytes to decompressed bytes, member by member, going on after damage.

A gzip file is a row of members, a zstd file a row of frames ("member" here too). Each is decompressed alone, so that a
broken one costs itself only: the next is found by its magic number. Plain files pass through.
"""

import re
import zlib
from collections.abc import Iterator
from typing import IO, Literal, NamedTuple, Protocol, cast

import zstandard

Damage = Literal["truncated", "damaged"]
_BLOCK_BYTES = 64 * 1024
_STEP_BYTES = 8 * 1024  # zstd gives all that a step holds at once: at most 2**14 times as much (run-length blocks)
_TRIAL_BYTES = 64 * 1024  # a member found by search must give so much, or end well, before it is believed
_SNIFF_BYTES = 16
_MAGIC = {
    "gzip": re.compile(rb"\x1f\x8b\x08[\x00-\x1f]"),  # RFC 1952: deflate, reserved flags are zero
    "zstd": re.compile(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18"),  # RFC 8878: frame, skippable frame
}


class Chunk(NamedTuple):
    """Decompressed bytes; `start` is the stored offset of the member that begins with them, None within one.

    In a plain file every chunk has the offset of its first byte.
    """

    data: bytes
    start: int | None
    plain: bool = False


class Break(NamedTuple):
    """The stream is broken here: bytes are missing between the chunk before and the chunk after."""

    reason: Damage
    error: str
    start: int  # stored offset of the member that broke


class _Decompressor(Protocol):
    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, /) -> bytes: ...


class _Stored:
    """A window on the stored bytes: what was read and not yet used, and where it lies."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self.held = b""
        self.offset = 0  # of held[0]

    def more(self, num_bytes: int = _BLOCK_BYTES) -> bool:
        block = self._stream.read(num_bytes)
        self.held += block
        return bool(block)

    def take(self, num_bytes: int) -> bytes:
        taken, self.held = self.held[:num_bytes], self.held[num_bytes:]
        self.offset += len(taken)
        return taken

    def give_back(self, data: bytes) -> None:
        self.held = data + self.held
        self.offset -= len(data)


def compression(head: bytes, *, name: str) -> str:
    """What a file is stored as: "gzip", "zstd" or "plain".

    Told by its first bytes. Where they say nothing, but the name ends in .gz or .zst and they are no text, the name
    is believed: a damaged start.

    >>> compression(bytes.fromhex("1f8b0800"), name="a"), compression(b"text", name="a.gz")
    ('gzip', 'plain')
    """
    for kind, magic in _MAGIC.items():
        if magic.match(head):
            return kind
    named = {"gz": "gzip", "zst": "zstd", "zstd": "zstd"}.get(name.rsplit(".", 1)[-1].lower(), "plain")
    return "plain" if _is_text(head[:_SNIFF_BYTES]) else named


def _is_text(head: bytes) -> bool:
    try:
        head.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start > len(head) - 4 and b"\0" not in head  # cut inside a character
    return b"\0" not in head


def inflate(stream: IO[bytes], *, name: str) -> Iterator[Chunk | Break]:
    """Decompressed bytes of a stored stream, with a `Break` wherever some are lost.

    Args:
        stream: the file as stored.
        name: its name; see `compression`.

    Returns:
        Chunks of at most some MB in order. Zero bytes between members are padding and pass unseen.
    """
    stored = _Stored(stream)
    stored.more()
    kind = compression(stored.held, name=name)
    if kind == "plain":
        while stored.held or stored.more(_BLOCK_BYTES):
            start = stored.offset
            yield Chunk(stored.take(len(stored.held)), start, plain=True)
        return
    believed = True  # the window stands where a member should begin
    while (stored.held or stored.more()) and (believed or _seek(stored, kind=kind)):
        if believed and stored.offset and stored.held[0] == 0:
            stored.take(len(stored.held) - len(stored.held.lstrip(b"\0")))
            continue
        told, broken = believed, None
        for event in _member(stored, kind=kind, trial=not believed):
            broken = event if isinstance(event, Break) else None
            told = told or broken is None  # a failed trial is no news: its damage was told before
            if told:
                yield event
        if broken is not None and broken.reason == "truncated":
            return
        believed = broken is None


def _seek(stored: _Stored, *, kind: str) -> bool:
    """Drop stored bytes up to the next one that may begin a member; whether there is one."""
    while not (found := _MAGIC[kind].search(stored.held)):
        stored.take(max(0, len(stored.held) - 3))
        if not stored.more():
            return False
    stored.take(found.start())
    return True


def _decompressor(kind: str) -> _Decompressor:
    if kind == "gzip":
        return zlib.decompressobj(31)
    # window of 2 GiB: what zstd --long=31 writes and Reddit's dumps have
    return cast("_Decompressor", zstandard.ZstdDecompressor(max_window_size=2**31).decompressobj())


def _member(stored: _Stored, *, kind: str, trial: bool) -> Iterator[Chunk | Break]:
    """One member from where the window stands. After damage the window stands soon after its start, for a search."""
    start, engine = stored.offset, _decompressor(kind)
    first: int | None = start
    used = waiting = b""
    ended = False
    while not ended:
        if not stored.held and not stored.more():
            if waiting:
                yield Chunk(waiting, first)
            yield Break("truncated", f"the file ends inside the {kind} member at byte {start}", start)
            return
        step = stored.take(_STEP_BYTES)
        used = (used + step)[-_BLOCK_BYTES:]
        try:
            waiting += engine.decompress(step)
        except (zlib.error, zstandard.ZstdError) as error:
            stored.give_back(used)
            stored.take(1)
            yield Break("damaged", f"the {kind} member at byte {start} is corrupt: {error}", start)
            return
        ended = engine.eof
        if ended:
            stored.give_back(engine.unused_data)
        if waiting and (ended or not trial or len(waiting) >= _TRIAL_BYTES):
            yield Chunk(waiting, first)
            waiting, first, trial = b"", None, False
