"""What was compressed comes back; damage costs its own member only and is told."""

import gzip
import io
import zlib

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from dataassets.stages.read.inflate import Break, Chunk, inflate

PACK = {"gz": gzip.compress, "zst": zstandard.compress, "txt": bytes}


def noise(num_bytes: int, seed: int = 0) -> bytes:
    """Bytes that do not compress."""
    state, out = seed + 1, bytearray()
    while len(out) < num_bytes:
        state = state * 6364136223846793005 + 1442695040888963407 & (1 << 64) - 1
        out += state.to_bytes(8, "big")[:4]
    return bytes(out[:num_bytes])


def unpack(stored: bytes, name: str = "a.gz") -> tuple[bytes, list[Break]]:
    events = list(inflate(io.BytesIO(stored), name=name))
    return b"".join(e.data for e in events if isinstance(e, Chunk)), [e for e in events if isinstance(e, Break)]


@given(st.lists(st.binary(max_size=300), min_size=1, max_size=5), st.sampled_from(sorted(PACK)), st.integers(0, 9))
def test_members_come_back_in_order_with_their_places(parts, kind, num_padding):
    stored, places = b"", []
    for part in parts:
        if part:
            places.append(len(stored))
        stored += PACK[kind](part)
    data, breaks = unpack(stored + bytes(num_padding if kind != "txt" else 0), f"a.{kind}")
    assert (data, breaks) == (b"".join(parts), [])
    if kind != "txt":
        events = inflate(io.BytesIO(stored), name="a")
        assert [e.start for e in events if isinstance(e, Chunk) and e.start is not None] == places


@pytest.mark.parametrize("kind", ["gz", "zst"])
def test_a_cut_at_any_byte_of_the_last_member_is_told_and_loses_nothing_before(kind):
    first, second = PACK[kind](b"first " * 50), PACK[kind](noise(400))
    for cut in range(1, len(second)):
        data, breaks = unpack(first + second[:cut], "a." + kind)
        assert data.startswith(b"first " * 50)
        assert noise(400).startswith(data[300:])
        assert [b.reason for b in breaks] == ["truncated"] or (cut < 4 and breaks[0].reason == "damaged"), cut
        assert breaks[0].start == len(first)


@pytest.mark.parametrize("kind", ["gz", "zst"])
def test_a_broken_member_costs_itself_only(kind):
    parts = [noise(3_000, seed) for seed in range(6)]
    members = [PACK[kind](part) for part in parts]
    start = sum(map(len, members[:2]))
    for at in (0, 1, 2, 40, 1500, len(members[2]) - 6):
        stored = bytearray(b"".join(members))
        stored[start + at : start + at + 4] = bytes(b ^ 0xFF for b in stored[start + at : start + at + 4])
        data, breaks = unpack(bytes(stored), "a." + kind)
        assert data.startswith(parts[0] + parts[1])
        assert data.endswith(parts[3] + parts[4] + parts[5])
        if kind == "gz" or at < 4:  # zstandard.compress writes no checksum: a flipped literal goes unseen
            assert [(b.reason, b.start) for b in breaks] == [("damaged", start)]


@given(st.binary(min_size=5, max_size=200), st.integers(0, 10**6))
def test_junk_between_members_is_told_and_passed_over(junk, seed):
    parts = [noise(500, seed), noise(500, seed + 1)]
    data, breaks = unpack(gzip.compress(parts[0]) + b"\x01" + junk + gzip.compress(parts[1]))
    assert data.startswith(parts[0])
    assert data.endswith(parts[1])
    assert breaks[0].reason == "damaged"


def test_a_large_member_far_behind_the_damage_is_found():
    bad = bytearray(gzip.compress(noise(700_000)))
    bad[350_000:350_050] = bytes(50)
    good = noise(200_000, 7)
    data, breaks = unpack(bytes(bad) + gzip.compress(good))
    assert data.endswith(good)
    assert breaks[0].reason == "damaged"


def test_a_name_is_believed_where_the_first_bytes_are_no_text():
    stored = bytearray(gzip.compress(noise(100)))
    stored[0] ^= 0xFF
    data, breaks = unpack(bytes(stored) + gzip.compress(b"rest"))
    assert data == b"rest"
    assert breaks[0].reason == "damaged"


@pytest.mark.parametrize("text", [b"plain text\n", "naïve café".encode() * 600, b""])
def test_plain_text_under_a_compressed_name_passes(text):
    assert unpack(text, "a.gz") == (text, [])


def test_skippable_frames_and_long_windows_of_zstd_pass():
    skippable = b"\x50\x2a\x4d\x18\x04\x00\x00\x00abcd"
    long = zstandard.ZstdCompressor(
        compression_params=zstandard.ZstdCompressionParameters(window_log=28, enable_ldm=True)
    ).compress(b"x" * 1000)
    assert unpack(skippable + long + skippable, "a.zst") == (b"x" * 1000, [])


def test_a_bomb_comes_in_bounded_chunks():
    bomb = gzip.compress(bytes(60_000_000))
    sizes = [len(e.data) for e in inflate(io.BytesIO(bomb), name="a.gz") if isinstance(e, Chunk)]
    assert sum(sizes) == 60_000_000
    assert max(sizes) <= 8 * 1024 * 1032 + zlib.DEF_BUF_SIZE
