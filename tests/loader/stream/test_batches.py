"""Laws of the stream: every window once; a state goes on identically at any world size; held batches never change."""

import itertools
import json
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import loader
from loader import BatchStream, SettingError, ShardError, StateError, TokenDataset
from loader.order import Order
from loader.pack import IGNORED

GEOMETRIES = [(1, 4), (1, 7), (2, 3), (3, 2), (8, 1)]  # world size, batch size per rank


@pytest.fixture(scope="module")
def dataset(mix):
    return TokenDataset(mix.path, seq_len=32)


def ranks(dataset, world_size, batch_size, **settings):
    return [
        BatchStream(
            dataset, batch_size=batch_size, rank=rank, world_size=world_size, **{"prefetch": 0, "seed": 5, **settings}
        )
        for rank in range(world_size)
    ]


def rows_of(dataset, streams):
    """Inputs of the rest of the epoch, in global order: int64 [rows, T]."""
    steps = zip(*streams, strict=True)
    found = [batch["input_ids"].copy() for step in steps for batch in step]
    return np.concatenate(found) if found else np.zeros((0, dataset.seq_len), np.int64)


@pytest.mark.parametrize(("world_size", "batch_size"), GEOMETRIES)
@pytest.mark.parametrize("shuffle", ["global", "block:5x3", None])
def test_every_window_once_less_the_counted_tail(dataset, world_size, batch_size, shuffle):
    streams = ranks(dataset, world_size, batch_size, shuffle=shuffle)
    order = Order(num_rows=len(dataset), seed=5, epoch=0, shuffle=shuffle).between(0, len(dataset))
    rows = rows_of(dataset, streams)
    assert len(rows) == len(streams[0]) * world_size * batch_size
    assert len(rows) + streams[0].num_tail_rows == len(dataset)
    for row, window in zip(rows, order.tolist(), strict=False):
        assert row.tolist() == dataset[window]["input_ids"].tolist()


def test_a_state_saved_at_any_step_goes_on_identically_at_any_geometry(dataset):
    everything = rows_of(dataset, ranks(dataset, 1, 1))
    for world_size, batch_size in GEOMETRIES:
        saver = ranks(dataset, world_size, batch_size)[-1]
        states = [saver.state_dict(), *(saver.state_dict() for _ in saver)]
        assert len(states) == len(saver) + 1
        per_step = world_size * batch_size
        for (step, state), (world, batch) in itertools.product(enumerate(states), GEOMETRIES):
            streams = ranks(dataset, world, batch)
            for stream in streams:
                stream.load_state_dict(json.loads(json.dumps(state)))
            left = everything[step * per_step :]
            if len(left) < world * batch:
                continue  # the next epoch begins: see below
            rows = rows_of(dataset, streams)
            assert np.array_equal(rows, left[: len(left) // (world * batch) * (world * batch)])
            assert streams[0].num_tail_rows == len(left) - len(rows)


@pytest.mark.parametrize("tail", ["pad_masked", "wrap"])
@pytest.mark.parametrize(("world_size", "batch_size"), GEOMETRIES)
def test_a_tail_is_filled_up_and_counted(dataset, tail, world_size, batch_size):
    everything = rows_of(dataset, ranks(dataset, 1, 1))
    streams = ranks(dataset, world_size, batch_size, tail=tail)
    batches = [batch for step in zip(*streams, strict=True) for batch in step]
    inputs, labels = (np.concatenate([batch[name] for batch in batches]) for name in ("input_ids", "labels"))
    assert len(inputs) == len(dataset) + streams[0].num_extra_rows
    assert streams[0].num_tail_rows == 0
    assert np.array_equal(inputs[: len(dataset)], everything)
    extra = streams[0].num_extra_rows
    if tail == "wrap":
        assert np.array_equal(inputs[len(dataset) :], everything[:extra])
    else:
        assert (labels[len(dataset) :] == IGNORED).all()
        assert not (labels[: len(dataset)] == IGNORED).any()
    state = streams[0].state_dict()
    again = ranks(dataset, 3, 1, tail=tail)[0]
    again.load_state_dict(state)
    next(iter(again))
    assert (again.epoch, again.step) == (1, 1)


def test_a_state_within_a_filled_epoch_goes_on_identically(dataset):
    everything = rows_of(dataset, ranks(dataset, 1, 1))
    saver = ranks(dataset, 2, 3, tail="pad_masked")[0]
    for _ in itertools.islice(saver, 4):
        pass
    streams = ranks(dataset, 3, 2, tail="pad_masked")
    for stream in streams:
        stream.load_state_dict(saver.state_dict())
    rows = rows_of(dataset, streams)
    assert np.array_equal(rows[: len(everything) - 24], everything[24:])
    assert streams[0].explain(len(saver) - 1, 1, rank=2) == []


def test_a_state_is_that_of_the_batches_received_whatever_was_made_ahead(dataset):
    plain, ahead = (ranks(dataset, 1, 4, prefetch=prefetch)[0] for prefetch in (0, 6))
    for step, (a, b) in enumerate(zip(plain, ahead, strict=True)):
        assert (a["labels"] == b["labels"]).all()
        assert plain.state_dict() == ahead.state_dict()
        assert ahead.step == step + 1
        assert ahead.state_dict()["rows"] == 4 * (step + 1)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(GEOMETRIES), st.integers(0, 6)), max_size=5))
def test_geometry_may_change_again_and_again(dataset, legs):
    order = Order(num_rows=len(dataset), seed=5, epoch=0).between(0, len(dataset))
    rows = step = 0
    state = ranks(dataset, 1, 1)[0].state_dict()
    for (world, batch), num_steps in legs:
        streams = ranks(dataset, world, batch)
        for stream in streams:
            stream.load_state_dict(state)
        num_steps = min(num_steps, (len(dataset) - rows) // (world * batch))
        for group in itertools.islice(zip(*streams, strict=True), num_steps):
            for rank, part in enumerate(group):
                mine = order[rows + rank * batch : rows + (rank + 1) * batch]
                assert part["input_ids"].tolist() == [dataset[int(w)]["input_ids"].tolist() for w in mine]
                assert streams[0].windows(step, rank=rank).tolist() == mine.tolist()
            rows, step = rows + world * batch, step + 1
        state = streams[-1].state_dict()
        assert (state["rows"], state["step"]) == (rows, step)


def test_after_an_epoch_the_next_begins_with_its_own_order(dataset):
    stream = ranks(dataset, 1, 4)[0]
    first = rows_of(dataset, [stream])
    end = stream.state_dict()
    second = rows_of(dataset, [stream])
    assert (stream.epoch, stream.step) == (1, len(stream))
    assert first.tolist() != second.tolist()
    for again in (stream, ranks(dataset, 1, 4)[0]):
        again.set_epoch(1)
        assert rows_of(dataset, [again]).tolist() == second.tolist()
    stream.load_state_dict(end)
    assert rows_of(dataset, [stream]).tolist() == second.tolist()
    stream.set_epoch(0)
    assert rows_of(dataset, [stream]).tolist() == first.tolist()


def test_seek_goes_anywhere_in_the_epoch(dataset):
    stream = ranks(dataset, 1, 4)[0]
    everything = rows_of(dataset, [stream])
    for step in (3, 0, len(stream) - 1, 7):
        stream.seek(step)
        assert rows_of(dataset, [stream]).tolist() == everything[4 * step :].tolist()
        stream.set_epoch(0)
    stream.seek(len(stream))
    next(iter(stream))
    assert (stream.epoch, stream.step) == (1, 1)
    for step in (-1, len(stream) + 1, 1.0):
        with pytest.raises(StateError, match=f"step = {step} of epoch 1, wanted 0 to {len(stream)}"):
            stream.seek(step)


def test_steps_before_another_geometry_are_refused_not_guessed(dataset):
    saver = ranks(dataset, 2, 3)[0]
    for _ in itertools.islice(saver, 4):
        pass
    state = saver.state_dict()
    same, other = ranks(dataset, 2, 3)[1], ranks(dataset, 1, 5)[0]
    same.load_state_dict(state)
    assert same.windows(1, rank=0).tolist() == saver.windows(1).tolist()
    other.load_state_dict(state)
    assert other.windows(4).tolist() == Order(num_rows=len(dataset), seed=5, epoch=0).between(24, 29).tolist()
    for call in (other.windows, other.seek):
        with pytest.raises(StateError, match="steps before 4 had another batch or world size"):
            call(3)


def test_explain_tells_the_documents_of_each_row(dataset, mix):
    streams = ranks(dataset, 2, 3)
    batches = list(itertools.islice(zip(*streams, strict=True), 4))
    state = streams[0].state_dict()
    for step, rank, row in itertools.product(range(4), range(2), range(3)):
        found = streams[0].explain(step, row, rank=rank)
        window = int(streams[rank].windows(step)[row])
        assert found == dataset.documents(window) == streams[rank].explain(step, row)
        assert found == loader.explain(mix.path, state, step=step, rank=rank, row=row)
        assert dataset[window]["input_ids"].tolist() == batches[step][rank]["input_ids"][row].tolist()
    assert loader.explain(mix.path, state, row=1) == streams[0].explain(3, 1)
    fresh = ranks(dataset, 2, 3)[0].state_dict()
    assert loader.explain(mix.path, fresh) == streams[0].explain(0, 0)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"step": 0, "row": 3}, SettingError, r"row = 3, wanted 0 to batch_size - 1 = 2"),
        ({"step": 0, "row": -1}, SettingError, r"row = -1"),
        ({"step": 0, "row": 0, "rank": 2}, SettingError, r"rank = 2, wanted 0 to world_size - 1 = 1"),
        ({"step": 10**6, "row": 0}, StateError, r"step = 1000000 of epoch 0, wanted 0 to"),
    ],
)
def test_a_row_that_never_was_is_not_explained(dataset, arguments, error, message):
    with pytest.raises(error, match=message):
        ranks(dataset, 2, 3)[0].explain(**arguments)


def test_explain_refuses_a_state_of_other_data(dataset, mix_writer, tmp_path):
    other = mix_writer(tmp_path, seed=9)
    with pytest.raises(StateError, match=f"state was saved at data = '{dataset.digest}', but .* has '{other.digest}'"):
        loader.explain(other.path, ranks(dataset, 1, 2)[0].state_dict())


@pytest.mark.parametrize("change", [{"seed": 6}, {"shuffle": None}])
def test_a_state_of_another_order_is_refused(dataset, change):
    state = ranks(dataset, 1, 2)[0].state_dict()
    (name,) = change
    with pytest.raises(StateError, match=f"build the loader with {name}="):
        ranks(dataset, 1, 2, **change)[0].load_state_dict(state)


@pytest.mark.parametrize("prefetch", [0, 3])
def test_held_batches_never_change(dataset, prefetch):
    stream = ranks(dataset, 1, 2, prefetch=prefetch)[0]
    held, copies = [], []
    for batch in stream:
        held.append(batch["labels"][1][3:])
        copies.append(batch["labels"][1][3:].copy())
        if len(held) % 3 == 0:
            del held[-2], copies[-2]
    assert all((a == b).all() for a, b in zip(held, copies, strict=True))


def test_dropped_batches_leave_their_memory_to_later_ones(dataset):
    stream = ranks(dataset, 1, 2)[0]
    seen = {batch["input_ids"].__array_interface__["data"][0] for batch in stream}
    assert len(seen) <= 3 < len(stream)


def loader_threads():
    return [thread for thread in threading.enumerate() if thread.name.startswith("loader")]


@pytest.mark.parametrize("threads", [1, 3])
def test_no_thread_is_left(dataset, threads):
    stream = ranks(dataset, 1, 2, prefetch=4, threads=threads)[0]
    for _ in stream:
        assert loader_threads()
    assert not loader_threads()
    for _ in stream:
        break
    assert not loader_threads()
    batches = iter(stream)
    next(batches)
    batches.close()
    assert not loader_threads()


def test_threads_do_not_change_the_order(dataset):
    expected = rows_of(dataset, ranks(dataset, 1, 2))
    assert rows_of(dataset, ranks(dataset, 1, 2, prefetch=7, threads=3)).tolist() == expected.tolist()


@pytest.mark.parametrize("prefetch", [0, 2])
def test_an_error_reaches_the_consumer_and_ends_the_threads(fresh_mix, prefetch):
    stream = BatchStream(TokenDataset(fresh_mix.path, seq_len=32), batch_size=2, prefetch=prefetch)
    (fresh_mix.folder / "train/shard_00001.bin").write_bytes(b"")
    with pytest.raises(ShardError, match=r"shard_00001\.bin: 0 bytes"):
        for _ in stream:
            pass
    assert not loader_threads()


def test_a_moved_stream_ends_the_iterator_under_way(dataset):
    stream = ranks(dataset, 1, 2)[0]
    for move in (lambda: stream.seek(3), lambda: stream.set_epoch(1), lambda: next(iter(stream))):
        batches = iter(stream)
        next(batches)
        move()
        with pytest.raises(StateError, match="moved or iterated anew"):
            next(batches)


def test_stats_count_tokens_and_waiting(dataset):
    stream = ranks(dataset, 1, 2)[0]
    assert stream.stats()["tokens_per_s"] == 0.0
    for _ in stream:
        pass
    stats = stream.stats()
    assert (stats["batches"], stats["tokens"]) == (len(stream), len(stream) * 2 * 32)
    assert 0 < stats["stall_fraction"] <= 1
    assert stats["elapsed_s"] == pytest.approx(stats["tokens"] / stats["tokens_per_s"])
    assert stats["required_tokens_per_s"] > stats["tokens_per_s"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"batch_size": 10**6}, r"batch_size 1000000 x world_size 1 = 1000000 rows a step, but .* split 'train' has"),
        ({"batch_size": 0}, "batch_size = 0"),
        ({"rank": 1}, "rank = 1, wanted 0 to world_size - 1 = 0"),
        ({"seed": -1}, "seed = -1"),
        ({"shuffle": "blocks"}, "shuffle = 'blocks', wanted one of"),
        ({"tail": "keep"}, "tail = 'keep', wanted one of"),
        ({"prefetch": -1}, "prefetch = -1, wanted an integer >= 0"),
        ({"threads": 0}, "threads = 0, wanted an integer >= 1"),
    ],
)
def test_wrong_settings_are_refused(dataset, change, message):
    with pytest.raises(SettingError, match=message):
        BatchStream(dataset, **{"batch_size": 2, **change})
