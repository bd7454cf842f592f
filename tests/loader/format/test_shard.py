"""Laws of a shard: what is written is read back; the bytes are Megatron's; damage is named."""

import io
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loader.errors import ShardError
from loader.format import read_index, write_shard


def written(tokens, lengths, dtype="uint16", cuts=()):
    bin_file, idx_file = io.BytesIO(), io.BytesIO()
    chunks = np.split(np.asarray(tokens, np.int64), sorted(cuts))
    write_shard(bin_file, idx_file, iter(chunks), np.asarray(lengths, np.int64), dtype=dtype)
    return bin_file.getvalue(), idx_file.getvalue()


lengths_and_cuts = st.lists(st.integers(0, 9), max_size=20).flatmap(
    lambda lengths: st.tuples(st.just(lengths), st.lists(st.integers(0, sum(lengths)), max_size=4))
)


@given(lengths_and_cuts, st.sampled_from(["uint16", "int32"]), st.integers(0, 2**32 - 1))
def test_what_is_written_is_read_back_however_it_was_cut(lengths_and_cuts, dtype, seed):
    lengths, cuts = lengths_and_cuts
    tokens = np.random.default_rng(seed).integers(0, np.iinfo(dtype).max, sum(lengths), endpoint=True)
    bin_bytes, idx_bytes = written(tokens, lengths, dtype, cuts)
    index = read_index(idx_bytes, bin_bytes=len(bin_bytes))
    assert index.dtype == np.dtype(dtype)
    assert (index.num_documents, index.num_tokens) == (len(lengths), len(tokens))
    assert index.lengths.tolist() == lengths
    assert index.offsets.tolist() == [sum(lengths[:d]) for d in range(len(lengths) + 1)]
    assert np.frombuffer(bin_bytes, index.dtype).tolist() == tokens.tolist()


def test_golden_bytes():
    bin_bytes, idx_bytes = written([1, 2, 50256, 50256, 65535], [3, 0, 2])
    assert bin_bytes.hex() == "0100" + "0200" + "50c4" + "50c4" + "ffff"
    assert idx_bytes.hex() == (
        "4d4d494449445800000100000000000000"  # MMIDIDX, two zero bytes, version 1
        "0803000000000000000400000000000000"  # uint16, 3 sequences, 4 bounds
        "030000000000000002000000"
        "000000000000000006000000000000000600000000000000"
        "0000000000000000010000000000000002000000000000000300000000000000"
    )


def test_the_index_is_what_megatron_core_writes():
    # struct and array calls as in _IndexWriter of megatron/core/datasets/indexed_dataset.py
    lengths = [4, 1, 7]
    expected = b"MMIDIDX\x00\x00" + struct.pack("<Q", 1) + struct.pack("<B", 4) + struct.pack("<QQ", 3, 4)
    expected += np.array(lengths, np.int32).tobytes() + np.array([0, 16, 20], np.int64).tobytes()
    expected += np.array([0, 1, 2, 3], np.int64).tobytes()
    assert written(range(12), lengths, "int32")[1] == expected


def test_a_path_is_checked_against_the_bin_beside_it(tmp_path):
    bin_bytes, idx_bytes = written([1, 2, 3], [1, 2])
    (tmp_path / "a.bin").write_bytes(bin_bytes)
    (tmp_path / "a.idx").write_bytes(idx_bytes)
    assert read_index(tmp_path / "a.idx").lengths.tolist() == [1, 2]
    (tmp_path / "a.bin").write_bytes(bin_bytes[:-1])
    with pytest.raises(ShardError, match=r"a\.idx: tells of 6 bytes of tokens, but its \.bin has 5"):
        read_index(tmp_path / "a.idx")
    (tmp_path / "a.bin").unlink()
    with pytest.raises(ShardError, match=r"a\.bin: cannot be read"):
        read_index(tmp_path / "a.idx")


@given(st.data())
def test_a_truncated_index_is_refused(data):
    bin_bytes, idx_bytes = written([1, 2, 3, 4], [1, 3])
    size = data.draw(st.integers(0, len(idx_bytes) - 1))
    with pytest.raises(ShardError):
        read_index(idx_bytes[:size], bin_bytes=len(bin_bytes))
    with pytest.raises(ShardError):
        read_index(idx_bytes + b"\0", bin_bytes=len(bin_bytes))


@given(st.data())
def test_a_flipped_bit_is_refused_or_is_another_dtype(data):
    bin_bytes, idx_bytes = written([1, 2, 3, 4], [1, 3])
    bit = data.draw(st.integers(0, 8 * len(idx_bytes) - 1))
    damaged = bytearray(idx_bytes)
    damaged[bit // 8] ^= 1 << bit % 8
    # code 8 with one bit flipped is 9, 10, 12, 0, ...: none is in the table
    with pytest.raises(ShardError):
        read_index(bytes(damaged), bin_bytes=len(bin_bytes))


@pytest.mark.parametrize(
    ("tokens", "lengths", "dtype", "message"),
    [
        ([1, 65536], [2], "uint16", r"token 1 is 65536, uint16 wants 0 to 65535"),
        ([1, -1], [2], "int32", r"token 1 is -1, int32 wants 0 to 2147483647"),
        ([1, 2], [1], "uint16", r"add up to 1 tokens, but 2 were given"),
        ([1, 2], [3], "uint16", r"add up to 3 tokens, but 2 were given"),
        ([1], [2, -1], "uint16", r"document 1 has -1 tokens"),
        ([1], [2**31], "uint16", r"document 0 has 2147483648 tokens, wanted 0 to 2147483647"),
        ([1], [1], "int64", r"dtype = int64, a shard holds one of"),
    ],
)
def test_what_no_shard_can_hold_is_refused(tokens, lengths, dtype, message):
    with pytest.raises(ShardError, match=message):
        written(tokens, lengths, dtype)


def test_only_flat_integers_are_tokens():
    for chunk in (np.zeros(2), np.zeros((1, 2), np.int64)):
        with pytest.raises(ShardError, match="wanted integers"):
            write_shard(io.BytesIO(), io.BytesIO(), [chunk], np.array([2]), dtype="uint16")
    with pytest.raises(ShardError, match="wanted integers"):
        write_shard(io.BytesIO(), io.BytesIO(), [np.array([1])], np.array([1.0]), dtype="uint16")


def test_several_sequences_a_document_are_refused_by_name():
    _, idx_bytes = written([1, 2, 3], [1, 2])
    head = struct.pack("<9sQBQQ", b"MMIDIDX\x00\x00", 1, 8, 2, 2)
    with pytest.raises(ShardError, match="one sequence per document"):
        read_index(head + idx_bytes[34:-24] + np.array([0, 2], np.int64).tobytes())
