"""Exchange is a group-by: rows meet by bucket, in the order of the units, whoever ran them."""

import tempfile
from pathlib import Path

import pytest
from compute import work_units
from hypothesis import given, settings
from hypothesis import strategies as st

from dataassets.compute import Executor, exchange

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


def met(units, folder, *, num_buckets=3, scatter=work_units.as_table, on_done=None):
    return exchange(
        units,
        scatter,
        work_units.as_rows,
        num_buckets=num_buckets,
        executor=INLINE,
        folder=str(folder),
        on_done=on_done,
    )


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
    done = between / "scatter-00001.arrow"
    done.replace(between / "scatter-00001.arrow.0a1b2c3d.draft")  # as a kill would leave it
    (between / "scatter-00000.arrow.0a1b2c3d.draft").write_bytes(b"half")
    assert run() == wanted
    assert [(tmp_path / f"ran-{n}").read_text() for n in range(3)] == ["x", "xx", "x"]


def test_an_error_in_scatter_leaves_no_file_that_would_be_reused(tmp_path):
    def fail(_unit):
        raise KeyError("scatter")

    with pytest.raises(KeyError, match="scatter"):
        met([1], tmp_path, scatter=fail)
    assert not list(Path(tmp_path).glob("*.arrow"))


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
