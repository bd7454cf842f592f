"""Exchange is a group-by: rows meet by bucket, in the order of the units, whoever ran them."""

import sys
import tempfile
from pathlib import Path

import pyarrow as pa
import pytest
from compute import work_units
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dataassets.compute import ComputeError, Executor, exchange

MODULE = sys.modules[exchange.__module__]  # the function bears its module's name
INLINE = Executor("inline")
MOST = 5
ROWS = st.tuples(
    st.integers(0, MOST - 1), st.none() | st.text("ab", max_size=2), st.lists(st.integers(0, 3), max_size=2)
)
UNITS = st.lists(st.lists(ROWS, max_size=6), max_size=4)


def grouped(units, num_buckets):
    """What exchange must give, in memory."""
    if not units:
        return []
    return [
        (q, [{"word": w, "items": items} for unit in units for b, w, items in unit if b == q])
        for q in range(num_buckets)
    ]


def met(units, folder, *, num_buckets=3, scatter=work_units.as_table, gather=work_units.as_rows, **options):
    return exchange(units, scatter, gather, num_buckets=num_buckets, executor=INLINE, folder=str(folder), **options)


@settings(max_examples=60, deadline=None)
@given(UNITS, st.integers(MOST, MOST + 4))
def test_exchange_is_a_group_by(units, num_buckets):
    with tempfile.TemporaryDirectory() as folder:
        found = met(units, folder, num_buckets=num_buckets)
    assert found == grouped(units, num_buckets)


def test_two_processes_give_what_one_gives(tmp_path):
    def run(executor, folder):
        return exchange(
            range(8), work_units.many_rows, work_units.checksum, num_buckets=16, executor=executor, folder=folder
        )

    with Executor("process", workers=2) as pool:
        found = run(pool, str(tmp_path / "process"))
    assert found == run(INLINE, str(tmp_path / "inline"))
    assert sum(rows for _, rows, _ in found) == 8 * 3000
    for file in (tmp_path / "inline").iterdir():
        assert file.read_bytes() == (tmp_path / "process" / file.name).read_bytes()


def marked(folder, units):
    return [(str(folder), i, rows) for i, rows in enumerate(units)]


def test_finished_files_are_reused_and_drafts_are_not(tmp_path):
    units = [[(0, "a", []), (1, "b", [1])], [(1, "c", [])], []]
    between = tmp_path / "between"

    def run():
        return met(marked(tmp_path, units), between, num_buckets=2, scatter=work_units.noted)

    wanted = run()
    assert wanted == grouped(units, 2)
    done = between / "scatter-00001.run"
    done.replace(between / "scatter-00001.run.0a1b2c3d.draft")  # as a kill would leave it
    (between / "scatter-00000.run.0a1b2c3d.draft").write_bytes(b"half")
    assert run() == wanted
    assert [(tmp_path / f"ran-{n}").read_text() for n in range(3)] == ["x", "xx", "x"]


def ran(folder):
    return {path.name: len(path.read_text()) for path in sorted(folder.glob("ran-*"))}


def test_a_rerun_after_an_error_in_gather_goes_on_by_bucket(tmp_path):
    units, between = [[(0, "a", []), (1, "b", [1])], [(1, "c", []), (2, "d", [])]], tmp_path / "between"

    def gather(bucket, rows):
        if bucket == 1 and (tmp_path / "ran-0").read_text() == "x" and not (tmp_path / "ran-1").exists():
            (tmp_path / "ran-1").write_text("x")
            raise InterruptedError("stop")
        work_units.note(tmp_path, f"ran-{bucket}")
        return work_units.as_rows(bucket, rows)

    told = []
    with pytest.raises(InterruptedError):
        met(units, between, gather=gather, keep=True)
    assert met(units, between, gather=gather, keep=True, on_done=lambda i, r: told.append((i, r))) == grouped(units, 3)
    assert met(units, between, gather=gather, keep=True) == grouped(units, 3)
    assert ran(tmp_path) == {"ran-0": 1, "ran-1": 2, "ran-2": 1}
    assert told == [(0, None), (1, None), *enumerate(grouped(units, 3))]


def test_gather_runs_again_where_its_result_is_not_kept_or_damaged(tmp_path):
    units = [[(0, "a", [])]]

    def gather(bucket, rows):
        work_units.note(tmp_path, f"ran-{bucket}")
        return work_units.as_rows(bucket, rows)

    between = tmp_path / "not"
    assert met(units, between, gather=gather, num_buckets=1) == met(units, between, gather=gather, num_buckets=1)
    assert ran(tmp_path) == {"ran-0": 2}
    between = tmp_path / "kept"
    wanted = met(units, between, gather=gather, num_buckets=1, keep=True)
    kept = between / "gather-00000.result"
    data = kept.read_bytes()
    kept.write_bytes(data[:-3] + b"?" + data[-2:])
    assert met(units, between, gather=gather, num_buckets=1, keep=True) == wanted
    assert kept.read_bytes() == data
    assert ran(tmp_path) == {"ran-0": 4}


UNIT = [[(0, "a", [1, 2]), (0, None, []), (2, "b", [3])], [(1, "c", [])]]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A finished exchange: its folder, its result, the bytes of its first run."""
    folder = tmp_path_factory.mktemp("whole")
    between = folder / "between"
    result = met(marked(folder, UNIT), between, scatter=work_units.noted)
    return folder, result, (between / "scatter-00000.run").read_bytes()


def made_again(whole, damaged):
    """The result with a damaged first run; whether it was made again."""
    folder, _, data = whole
    file, before = folder / "between" / "scatter-00000.run", (folder / "ran-0").read_text()
    file.write_bytes(damaged)
    result = met(marked(folder, UNIT), folder / "between", scatter=work_units.noted)
    assert file.read_bytes() == data
    assert (folder / "ran-1").read_text() == "x"
    return result, len((folder / "ran-0").read_text()) - len(before)


def test_every_byte_of_a_run_is_covered_by_a_checksum(whole):
    _, wanted, data = whole
    for at in range(len(data)):
        damaged = data[:at] + bytes([data[at] ^ (1 << at % 8)]) + data[at + 1 :]
        assert made_again(whole, damaged) == (wanted, 1), f"byte {at} of {len(data)}"


def test_a_run_cut_short_anywhere_or_zeroed_is_made_again(whole):
    _, wanted, data = whole
    for length in range(0, len(data), 7):
        assert made_again(whole, data[:length]) == (wanted, 1)
        zeroed = data[:length].ljust(len(data), b"\0")
        assert made_again(whole, zeroed) == (wanted, int(zeroed != data))


def test_a_run_that_is_never_whole_is_an_error_that_names_it(tmp_path):
    def gather(_bucket, _rows):
        raise AssertionError("no rows should be met")

    def scatter(rows):
        found = work_units.as_table(rows)
        for run in tmp_path.glob("*.run"):
            run.write_bytes(b"")
        return found

    with pytest.raises(ComputeError, match=r"scatter-00000\.run: ends after 0 bytes, the 3rd time; its disk"):
        met([[(0, "a", [])], [(0, "b", [])]], tmp_path, scatter=scatter, gather=gather, num_buckets=1)


@pytest.fixture
def few_reads(monkeypatch):
    """So few reads that small exchanges are merged, twice over."""
    monkeypatch.setattr(MODULE, "MOST_READS", 5)
    monkeypatch.setattr(MODULE, "FAN_IN", 3)
    monkeypatch.setattr("dataassets.compute.runs.CHUNK", 600)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(ROWS, max_size=6), min_size=1, max_size=20), st.integers(MOST, MOST + 4), st.data())
def test_merging_changes_nothing_nor_does_damage_to_what_was_merged(few_reads, units, num_buckets, data):
    with tempfile.TemporaryDirectory() as folder:
        told, started = [], []
        options = {"on_done": lambda i, _: told.append(i), "on_start": started.append}
        assert met(units, folder, num_buckets=num_buckets, **options) == grouped(units, num_buckets)
        runs = sorted(Path(folder).glob("*.run"))
        assert len(runs) == 1  # all that were merged are gone
        assert started == [len(told)]
        damaged = bytearray(runs[0].read_bytes())
        damaged[data.draw(st.integers(0, len(damaged) - 1))] ^= 0x40
        runs[0].write_bytes(damaged)
        assert met(units, folder, num_buckets=num_buckets) == grouped(units, num_buckets)


def test_a_rerun_makes_no_unit_again_that_was_merged(few_reads, tmp_path):
    units, between = [[(n % 3, "a", [n])] for n in range(7)], tmp_path / "between"
    told = []
    wanted = met(marked(tmp_path, units), between, scatter=work_units.noted)
    (between / "merge-2-00000.run").unlink()  # as if killed before
    (between / "scatter-00006.run").touch()  # damaged too, and found while merging
    assert met(marked(tmp_path, units), between, scatter=work_units.noted) == wanted == grouped(units, 3)
    again = met(marked(tmp_path, units), between, scatter=work_units.noted, on_done=lambda i, _: told.append(i))
    assert again == wanted
    assert told == [*range(7), 0, 1, 2]
    assert set(ran(tmp_path).values()) == {2}


def test_merging_keeps_the_very_batches(few_reads, tmp_path):
    seen = {}

    def gather(bucket, rows):
        seen[bucket] = [chunk.to_pylist() for chunk in rows.column("word").chunks]

    met([[(0, "a", []), (0, "b", [])], [(0, "c", [])], [], [(0, "d", [])]], tmp_path, gather=gather, num_buckets=3)
    assert seen == {0: [["a", "b"], ["c"], ["d"]], 1: [], 2: []}


def first_two_of_each_word(rows):
    """A combine: of each word no more than its first two rows matter."""
    seen, stay = {}, []
    for word in rows.column("word").to_pylist():
        seen[word] = seen.get(word, 0) + 1
        stay.append(seen[word] <= 2)
    return rows.filter(pa.array(stay, pa.bool_()))


@settings(max_examples=60, deadline=None)
@given(UNITS, st.integers(1, 5))
def test_combining_changes_nothing_where_gather_promises_so(units, limit):
    def gather(bucket, rows):
        return work_units.as_rows(bucket, first_two_of_each_word(rows))

    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(MODULE, "COMBINE_ROWS", limit)
        wanted = met(units, f"{folder}/a", num_buckets=MOST, gather=gather)
        assert met(units, f"{folder}/b", num_buckets=MOST, gather=gather, combine=first_two_of_each_word) == wanted


def test_one_giant_key_is_met_in_bounded_pieces(tmp_path, monkeypatch):
    monkeypatch.setattr(MODULE, "COMBINE_ROWS", 100)
    met_rows = []

    def combine(rows):
        met_rows.append(len(rows))
        return first_two_of_each_word(rows)

    units = [[(0, "giant", [n])] * 500 for n in range(400)]
    ((_, rows),) = met(units, tmp_path, num_buckets=1, combine=combine, gather=lambda q, rows: (q, rows.to_pylist()))
    assert rows[:2] == [{"word": "giant", "items": [0]}] * 2
    assert len(rows) <= 102
    assert max(met_rows[400:]) <= 102  # while gathering; before that a unit's 500


def test_an_error_in_scatter_leaves_no_file_that_would_be_reused(tmp_path):
    def fail(_unit):
        raise KeyError("scatter")

    with pytest.raises(KeyError, match="scatter"):
        met([1], tmp_path, scatter=fail)
    assert not list(Path(tmp_path).glob("*.run"))


def test_a_bucket_that_does_not_exist_is_refused(tmp_path):
    with pytest.raises(AssertionError, match="bucket that does not exist"):
        met([[(3, "a", [])]], tmp_path)


def test_no_units_and_empty_units_and_buckets_that_nobody_fills(tmp_path):
    assert met([], tmp_path / "none") == []
    assert met([[], []], tmp_path / "empty") == [(0, []), (1, []), (2, [])]
    assert met([[(1, "a", [])]], tmp_path / "one") == [(0, []), (1, [{"word": "a", "items": []}]), (2, [])]


def test_each_scatter_and_each_gather_is_told(tmp_path):
    told = []
    met([[(0, "a", [])]] * 4, tmp_path, on_done=lambda i, _: told.append(i))
    assert told == [0, 1, 2, 3, 0, 1, 2]
