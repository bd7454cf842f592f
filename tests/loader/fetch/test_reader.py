"""Laws of fetching: a row is what the stream holds there, wherever shards end; buffers are never shared."""

import gc
import os
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from loader.errors import ShardError
from loader.fetch import BufferPool, TokenReader, compiled
from loader.fetch import reader as reader_module


def reader_over(folder, sizes, dtype="uint16"):
    tokens = np.arange(sum(sizes)) % 60_000
    paths = []
    for s, part in enumerate(np.split(tokens, np.cumsum(sizes)[:-1])):
        paths.append(str(folder / f"{s}.bin"))
        part.astype(dtype).tofile(paths[-1])
    return TokenReader(paths, num_tokens=sizes, dtype=dtype), tokens


def gathered(reader, starts, seq_len, shift):
    inputs, labels = np.full((2, len(starts), seq_len), -1, np.int64)
    reader.gather(np.array(starts, np.int64), inputs_BT=inputs, labels_BT=labels, shift=shift)
    return inputs.tolist(), labels.tolist()


@pytest.fixture(params=["numpy", "compiled"])
def engine(request, monkeypatch):
    """Both ways to gather; numba is installed where tests run."""
    monkeypatch.setattr(compiled, "PATIENCE", 0)
    if request.param == "compiled":
        compiled.make(2)
        compiled.make(4)
        monkeypatch.setattr(compiled, "_loops", dict(compiled._loops))
        assert set(compiled._loops) == {2, 4}
    else:
        monkeypatch.setattr(compiled, "_loops", {})


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    sizes=st.lists(st.integers(0, 12), min_size=1, max_size=6),
    seq_len=st.integers(1, 20),
    shift=st.integers(0, 22),
    dtype=st.sampled_from(["uint16", "int32"]),
)
def test_every_window_is_what_the_stream_holds(engine, tmp_path_factory, sizes, seq_len, shift, dtype):
    reader, tokens = reader_over(tmp_path_factory.mktemp("shards"), sizes, dtype)
    starts = list(range(len(tokens) - seq_len - shift + 1))
    inputs, labels = gathered(reader, starts, seq_len, shift)
    assert inputs == [tokens[i : i + seq_len].tolist() for i in starts]
    assert labels == [tokens[i + shift : i + shift + seq_len].tolist() for i in starts]


@given(st.lists(st.integers(0, 9), min_size=1, max_size=6), st.data())
def test_pieces_make_up_the_range(sizes, data):
    reader = TokenReader([""] * len(sizes), num_tokens=sizes, dtype="uint16")
    start = data.draw(st.integers(0, sum(sizes)))
    stop = data.draw(st.integers(start, sum(sizes)))
    found = [(shard, i) for shard, first, last in reader.pieces(start, stop) for i in range(first, last)]
    assert found == [(shard, i) for shard, size in enumerate(sizes) for i in range(size)][start:stop]


def test_a_pickled_reader_reads_the_same(tmp_path):
    reader, _ = reader_over(tmp_path, [5, 7])
    expected = gathered(reader, [0, 3, 6], 4, 1)
    data = pickle.dumps(reader)
    assert len(data) < 2_000
    assert gathered(pickle.loads(data), [0, 3, 6], 4, 1) == expected  # noqa: S301 - our own bytes


def test_few_maps_are_open_at_once(tmp_path, monkeypatch):
    monkeypatch.setattr(reader_module, "MAX_OPEN", 3)
    reader, tokens = reader_over(tmp_path, [4] * 20)
    starts = np.random.default_rng(1).integers(0, 70, 200).tolist()
    inputs, _ = gathered(reader, starts, 6, 1)
    assert inputs == [tokens[i : i + 6].tolist() for i in starts]
    assert len(reader._maps) == 3


def test_threads_may_share_a_reader(tmp_path, monkeypatch):
    monkeypatch.setattr(reader_module, "MAX_OPEN", 2)
    reader, tokens = reader_over(tmp_path, [50] * 6)
    wrong = []

    def work(seed):
        starts = np.random.default_rng(seed).integers(0, 290, 300).tolist()
        wrong.extend(i for i in starts if gathered(reader, [i], 8, 1)[0] != [tokens[i : i + 8].tolist()])

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_shard_that_changed_or_is_gone_is_named(tmp_path):
    reader, _ = reader_over(tmp_path, [5, 7])
    (tmp_path / "1.bin").write_bytes(b"\0\0")
    with pytest.raises(ShardError, match=r"1\.bin: 2 bytes, the manifest tells of 14"):
        gathered(reader, [6], 2, 1)
    (tmp_path / "0.bin").unlink()
    with pytest.raises(ShardError, match=r"0\.bin: cannot be mapped \(No such file"):
        gathered(reader, [0], 2, 1)


def address(array):
    return array.__array_interface__["data"][0]


def test_a_buffer_comes_back_only_after_the_last_view_of_it_is_gone():
    pool = BufferPool((2, 3, 4), keep=4)
    first = pool.take()
    assert first.shape == (2, 3, 4)
    assert first.flags.c_contiguous
    assert first.flags.writeable
    memory, view = address(first), first[1][1:].reshape(-1)[2:]
    view[:] = 7
    del first
    gc.collect()
    other = pool.take()
    assert address(other) != memory
    assert (view == 7).all()
    del view
    assert address(pool.take()) == memory


def test_no_more_buffers_are_kept_than_asked():
    pool = BufferPool((2,), keep=2)
    held = [pool.take() for _ in range(5)]
    assert len({address(buffer) for buffer in held}) == 5
    held.clear()
    assert len(pool._free) == 2


def test_the_loop_is_made_after_some_batches_and_never_where_it_is_switched_off(tmp_path):
    script = (
        "import sys, time, numpy as np\n"
        "from loader.fetch import TokenReader, compiled\n"
        f"reader = TokenReader([{str(tmp_path / '0.bin')!r}], num_tokens=[500], dtype='uint16')\n"
        "rows = np.empty((2, 2, 8), np.int64)\n"
        "for k in range(compiled.PATIENCE):\n"
        "    assert 'numba' not in sys.modules and not compiled._loops\n"
        "    reader.gather(np.array([k, 2 * k]), inputs_BT=rows[0], labels_BT=rows[1], shift=1)\n"
        "end = time.monotonic() + (60 if {on} else 1)\n"
        "while not compiled._loops and time.monotonic() < end:\n"
        "    reader.gather(np.array([1, 3]), inputs_BT=rows[0], labels_BT=rows[1], shift=1)\n"
        "assert bool(compiled._loops) == {on}\n"
    )
    np.arange(500).astype("uint16").tofile(tmp_path / "0.bin")
    for on, switch in ((True, "1"), (False, "0")):
        env = {**os.environ, compiled.SWITCH_ENV: switch}
        subprocess.run([sys.executable, "-c", script.replace("{on}", str(on))], env=env, check=True, timeout=120)
