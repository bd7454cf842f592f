"""The keys of snapshots are those that Dagster gives for the same windows."""

import datetime as dt

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from dataassets.defs.partitions import Partitions
from dataassets.recipe import Located, parse
from dataassets.recipe.snapshots import Snapshots, aligned, next_start
from dataassets.runner import Corpus

CADENCES = ["daily", "weekly", "monthly"]
DAYS = st.dates(dt.date(1999, 12, 1), dt.date(2032, 3, 1))
STEP = {"daily": 1, "weekly": 7, "monthly": 31}


def corpus(snapshots: dict[str, object], today: dt.date, folder) -> Corpus:
    sources = {name: {"format": "text", "paths": ["*.txt"]} for name in ("web", "books-2", "a_b")}
    mixes = {"pre": {"tokens": 10, "weights": {"web": 1.0}}}
    data = {"root": "./data", "snapshots": snapshots, "sources": sources, "mixes": mixes}
    return Corpus(Located(parse(data, where="recipe.yaml"), folder / "recipe.yaml"), today)


def noon(day: dt.date) -> dt.datetime:
    return dt.datetime(day.year, day.month, day.day, 12, tzinfo=dt.UTC)


@pytest.mark.parametrize("cadence", CADENCES)
@settings(max_examples=25, deadline=None)
@given(start=DAYS, windows=st.integers(0, 20), ahead=st.integers(-15, 15))
def test_with_an_end_the_keys_are_dagsters_also_where_it_lies_ahead(tmp_path_factory, cadence, start, windows, ahead):
    start = aligned(start, cadence=cadence)
    end = start
    for _ in range(windows):
        end = next_start(end, cadence=cadence)
    today = end + dt.timedelta(days=STEP[cadence] * ahead + 1)
    assume(today >= start)
    told = corpus({"start": start, "end": end, "cadence": cadence}, today, tmp_path_factory.getbasetemp())
    keys = Partitions.of(told).snapshot.get_partition_keys(current_time=noon(today))
    assert list(keys) == told.snapshots == told.partitions("duplicates")
    assert (told.snapshots[0], told.snapshots[-1]) == (start.isoformat(), end.isoformat())


@pytest.mark.parametrize("cadence", CADENCES)
@settings(max_examples=25, deadline=None)
@given(start=DAYS, days=st.integers(0, 500))
@example(start=dt.date(2026, 10, 1), days=31)
def test_without_an_end_the_keys_are_dagsters_closed_windows(tmp_path_factory, cadence, start, days):
    start = aligned(start, cadence=cadence)
    today = start + dt.timedelta(days=min(days, 20 * STEP[cadence]))
    assume(next_start(start, cadence=cadence) <= today)
    told = corpus({"start": start, "end": None, "cadence": cadence}, today, tmp_path_factory.getbasetemp())
    keys = Partitions.of(told).snapshot.get_partition_keys(current_time=noon(today))
    assert list(keys) == told.snapshots == told.closed


def test_all_partitions_of_a_recipe_are_those_of_the_runner(tmp_path):
    today = dt.datetime.now(dt.UTC).date()
    first = aligned(today - dt.timedelta(days=70), cadence="monthly")
    for end in (None, first, next_start(today, cadence="monthly")):
        told = corpus({"start": first, "end": end}, today, tmp_path)
        found = Partitions.of(told)
        assert list(found.snapshot.get_partition_keys()) == told.partitions("duplicates")
        assert set(found.corpus.get_partition_keys()) == set(told.partitions("raw"))
        assert len(found.corpus.get_partition_keys()) == len(told.partitions("raw"))
        assert found.mix.get_partition_keys() == told.partitions("mixed") == ["pre"]


@given(DAYS, st.sampled_from(CADENCES))
def test_windows_tile_the_calendar(day, cadence):
    start = aligned(day, cadence=cadence)
    after = next_start(start, cadence=cadence)
    assert start <= day < after
    assert aligned(start, cadence=cadence) == start
    assert aligned(after, cadence=cadence) == after
    assert aligned(after - dt.timedelta(days=1), cadence=cadence) == start


def test_no_window_that_is_still_open_is_listed():
    told = Snapshots(start=dt.date(2026, 9, 1))
    assert told.keys(today=dt.date(2026, 10, 31)) == ["2026-09-01"]
    assert told.keys(today=dt.date(2026, 11, 1)) == ["2026-09-01", "2026-10-01"]
    assert told.keys(today=dt.date(2026, 9, 30)) == []
