"""The same units give the same results wherever they run; errors pass, killed workers are survived once."""

import os
from collections import Counter

import pytest
from compute import work_units

from dataassets.compute import ComputeError, Executor


@pytest.fixture(scope="module")
def pool():
    with Executor("process", workers=2) as executor:
        yield executor


@pytest.fixture(params=["inline", "process"])
def executor(request, pool):
    return pool if request.param == "process" else Executor("inline")


@pytest.mark.parametrize("units", [0, 1, 30])
def test_results_keep_the_order_of_the_units(executor, units):
    assert executor.map(work_units.slow_square, range(units)) == [n * n for n in range(units)]


def test_each_unit_is_told_once_with_its_result(executor):
    told = []
    executor.map(work_units.slow_square, list(range(20)), on_done=lambda i, r: told.append((i, r)))
    assert sorted(told) == [(i, i * i) for i in range(20)]


def test_an_error_passes_as_it_was_raised_and_the_pool_goes_on(executor):
    with pytest.raises(KeyError, match="unit 7"):
        executor.map(work_units.refuse_seven, range(30))
    assert executor.map(work_units.refuse_seven, range(7)) == list(range(7))


def test_an_error_of_the_listener_passes_too(executor):
    def refuse(_index, _result):
        raise InterruptedError("stop")

    with pytest.raises(InterruptedError, match="stop"):
        executor.map(work_units.slow_square, range(30), on_done=refuse)
    assert executor.map(work_units.slow_square, [3]) == [9]


def test_an_error_that_pickle_cannot_carry_is_told_and_not_taken_for_a_dead_worker(pool):
    with pytest.raises(ComputeError, match=r"^TwoArgumentsError: refused at unit 1$"):
        pool.map(work_units.refuse_oddly, range(3))
    with pytest.raises(work_units.TwoArgumentsError):
        Executor("inline").map(work_units.refuse_oddly, range(3))


def test_processes_are_others_few_and_kept_between_maps(pool):
    pids = Counter(pool.map(work_units.process_of, range(20)))
    assert os.getpid() not in pids
    assert len(pids) <= 2
    assert set(pool.map(work_units.process_of, range(20))) <= set(pids) or len(pids) == 1
    assert set(Executor("inline").map(work_units.process_of, [1])) == {os.getpid()}


def test_workers_keep_libraries_to_one_thread(pool):
    assert set(pool.map(work_units.threads_of_libraries, range(4))) == {(1, "1")}


def test_a_worker_killed_once_is_survived(tmp_path):
    told = Counter()
    with Executor("process", workers=2) as executor:
        units = [(str(tmp_path), n) for n in range(12)]
        assert executor.map(work_units.die_once, units, on_done=lambda i, _: told.update([i])) == list(range(12))
    assert told == Counter(range(12))
    assert (tmp_path / "died").exists()


def test_a_unit_that_always_kills_its_worker_is_an_error_that_tells_what_to_do():
    with Executor("process", workers=2) as executor:
        with pytest.raises(ComputeError, match=r"units \[.*2.*\] of 8 ran.*fewer workers than 2 or a smaller compute"):
            executor.map(work_units.die_always, range(8))
        assert executor.map(work_units.slow_square, [2]) == [4]


def test_a_closed_executor_starts_anew(tmp_path):
    executor = Executor("process", workers=1)
    executor.close()
    first = executor.map(work_units.process_of, [1])
    executor.close()
    executor.close()
    assert executor.map(work_units.process_of, [1]) != first
    executor.close()


def test_the_number_of_workers_is_that_of_the_cores_where_none_is_told(monkeypatch):
    assert Executor("process").workers == len(os.sched_getaffinity(0))
    monkeypatch.delattr(os, "sched_getaffinity")  # macOS
    monkeypatch.setattr(os, "cpu_count", lambda: 5)
    assert Executor("process").workers == 5
    assert Executor("process", workers=3).workers == 3
