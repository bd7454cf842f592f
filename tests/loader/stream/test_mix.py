"""Laws of Mix: rows of its data sets in their shares, resumable at any geometry, each epoch ending where it is told."""

import itertools

import numpy as np
import pytest

from loader import BatchStream, Mix, SettingError, StateError, TokenDataset

GEOMETRIES = [(1, 4), (2, 3), (3, 2), (8, 1)]


@pytest.fixture(scope="module")
def datasets(mix, mix_writer, tmp_path_factory):
    other = mix_writer(tmp_path_factory.mktemp("code"), seed=3, train=60)
    return {"web": TokenDataset(mix.path, seq_len=16), "code": TokenDataset(other.path, seq_len=16)}


def rows_of(mix, world_size, batch_size, *, state=None, steps=None):
    streams = [
        BatchStream(mix, batch_size=batch_size, rank=rank, world_size=world_size, prefetch=0)
        for rank in range(world_size)
    ]
    for stream in streams:
        if state:
            stream.load_state_dict(state)
    batches = [batch["input_ids"] for step in itertools.islice(zip(*streams, strict=True), steps) for batch in step]
    return np.concatenate(batches), streams[0]


def test_rows_come_from_each_data_set_in_its_share(datasets):
    mix = Mix(datasets, {0: (0.75, 0.25)}, stop="never")
    rows, stream = rows_of(mix, 1, 4, steps=100)
    web = {tuple(row["input_ids"]) for row in datasets["web"]}
    for step in range(1, 101):
        come = sum(tuple(row) in web for row in rows[: 4 * step])
        assert abs(come - 3 * step) <= 4
        assert mix.counts(4 * step)["web"] == come
    assert stream.explain(0, 0)[0]["dataset"] in datasets


def test_an_epoch_ends_with_the_first_or_the_last_data_set(datasets):
    sizes = {name: len(dataset) for name, dataset in datasets.items()}
    first = Mix(datasets, {"web": 0.5, "code": 0.5})
    gave, more = first.counts(len(first)), first.counts(len(first) + 1)
    assert all(gave[name] <= sizes[name] for name in sizes)
    assert any(more[name] > sizes[name] for name in sizes)
    every = Mix(datasets, (0.5, 0.5), stop="all_exhausted")
    assert all(every.counts(len(every))[name] >= sizes[name] for name in sizes)
    assert any(every.counts(len(every) - 1)[name] < sizes[name] for name in sizes)
    ids = np.concatenate([every.order(seed=1, epoch=0, shuffle="global").at(np.arange(len(every)))])
    assert set(ids.tolist()) == set(range(sum(sizes.values())))
    once = first.order(seed=1, epoch=0, shuffle="global").at(np.arange(len(first)))
    assert len(set(once.tolist())) == len(first)


@pytest.mark.parametrize("stop", ["first_exhausted", "never"])
def test_a_state_goes_on_identically_at_any_geometry(datasets, stop):
    mix = Mix(datasets, {0: (0.9, 0.1), 40: (0.2, 0.8)}, stop=stop)
    everything, _ = rows_of(mix, 1, 1, steps=96)
    for (world, batch), (other_world, other_batch) in itertools.product(GEOMETRIES, GEOMETRIES):
        _, saver = rows_of(mix, world, batch, steps=4)
        done = 4 * world * batch
        rows, _ = rows_of(mix, other_world, other_batch, state=saver.state_dict(), steps=5)
        assert np.array_equal(rows, everything[done : done + len(rows)])


def test_schedules_by_tokens_and_ramps_are_schedules_by_rows(datasets):
    by_rows = Mix(datasets, {0: (1, 0), 32: (0, 1)}, stop="never")
    by_tokens = Mix(datasets, {0: (1, 0), 32 * 16: (0, 1)}, unit="tokens", stop="never")
    assert by_rows.digest == by_tokens.digest
    assert by_rows.counts(40) == {"web": 32, "code": 8}
    ramp = Mix(datasets, {0: (1, 0), 64: (0, 1)}, schedule="linear", stop="never")
    assert ramp.counts(64)["web"] == pytest.approx(32, abs=2)
    assert ramp.counts(164)["code"] == pytest.approx(132, abs=2)


def test_a_state_of_other_weights_is_refused(datasets):
    state = BatchStream(Mix(datasets, (0.5, 0.5)), batch_size=2).state_dict()
    with pytest.raises(StateError, match="state was saved at data"):
        BatchStream(Mix(datasets, (0.6, 0.4)), batch_size=2).load_state_dict(state)


def test_what_does_not_fit_is_refused(datasets, mix):
    for weights, settings, message in [
        ((0.5,), {}, "1 weights"),
        ({"web": 1.0}, {}, r"weights of \['web'\], wanted one for each"),
        ((0.5, 0.5), {"stop": "x"}, "stop = 'x'"),
        ((0.5, 0.5), {"unit": "x"}, "unit = 'x'"),
        ((1.0, 0.0), {"stop": "all_exhausted"}, "that never comes"),
    ]:
        with pytest.raises(SettingError, match=message):
            len(Mix(datasets, weights, **settings))
    with pytest.raises(SettingError, match="other has seq_len = 8, but web has 16"):
        Mix({"web": datasets["web"], "other": TokenDataset(mix.path, seq_len=8)}, (0.5, 0.5))
