"""The same units give the same results wherever they run; errors pass, killed workers are survived once."""

import os
import re
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

import pytest
from compute import work_units

from dataassets.compute import ComputeError, Executor
from dataassets.recipe import RecipeError


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
    with pytest.raises(KeyError, match="unit 7") as raised:
        executor.map(work_units.refuse_seven, range(30))
    assert type(raised.value) is KeyError
    assert str(raised.value) == "'unit 7'"
    assert executor.map(work_units.refuse_seven, range(7)) == list(range(7))


def test_an_error_of_the_listener_passes_too(executor):
    def refuse(_index, _result):
        raise InterruptedError("stop")

    with pytest.raises(InterruptedError, match="stop"):
        executor.map(work_units.slow_square, range(30), on_done=refuse)
    assert executor.map(work_units.slow_square, [3]) == [9]


def test_an_error_that_pickle_cannot_carry_is_told_and_not_taken_for_a_dead_worker(pool):
    with pytest.raises(ComputeError) as raised:
        pool.map(work_units.refuse_oddly, range(3))
    assert str(raised.value) == "TwoArgumentsError: refused at unit 1"
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


def test_an_error_from_a_worker_shows_where_it_was_raised(pool):
    with pytest.raises(KeyError) as raised:
        pool.map(work_units.refuse_seven, range(8))
    (note,) = raised.value.__notes__
    assert "in refuse_seven" in note
    assert f"in process {os.getpid()} " not in note


def test_a_result_or_a_unit_that_cannot_travel_is_an_error_and_the_pool_goes_on(pool):
    with pytest.raises(TypeError, match="cannot pickle"):
        pool.map(work_units.a_lock, range(3))
    with pytest.raises(TypeError, match="cannot pickle"):
        pool.map(work_units.slow_square, [threading.Lock()])
    assert pool.map(work_units.slow_square, [3]) == [9]


def test_a_killed_worker_costs_its_unit_one_more_try_and_the_others_nothing(tmp_path):
    told = Counter()
    with Executor("process", workers=2) as executor:
        units = [(str(tmp_path), n) for n in range(12)]
        assert executor.map(work_units.die_once, units, on_done=lambda i, _: told.update([i])) == list(range(12))
    assert told == Counter(range(12))
    assert {n: (tmp_path / f"ran-{n}").read_text() for n in range(12)} == dict.fromkeys(range(12), "x") | {3: "xx"}


def test_the_second_try_is_the_last_unit_and_alone_on_the_machine(tmp_path):
    with Executor("process", workers=3) as executor:
        spans = executor.map(work_units.die_once_and_tell_when, [(str(tmp_path), n) for n in range(9)])
    start = spans[3][0]
    assert all(end <= start for n, (_, end) in enumerate(spans) if n != 3)


@pytest.mark.parametrize(
    ("work", "how"),
    [
        ("die_always", r"was killed by SIGKILL.*needs more memory.*smaller compute\.part_bytes"),
        ("crash_always", r"was killed by SIGSEGV.*crashed on this unit; `--executor inline`"),
        ("exit_always", r"ended with exit status 3.*__main__"),
        ("no_memory", r"ended with MemoryError \(4 TB please\).*needs more memory"),
    ],
)
def test_a_unit_that_always_takes_its_worker_is_named_with_how_memory_and_mend(work, how):
    told = {}
    with Executor("process", workers=2) as executor:
        wanted = rf"^number 2 \(unit 2 of 8\): its worker process {how}"
        with pytest.raises(ComputeError, match=wanted) as raised:
            executor.map(getattr(work_units, work), range(8), on_done=told.__setitem__, name="number {}".format)
        assert told == {n: n for n in range(8) if n != 2}  # all others were done
        assert executor.map(work_units.slow_square, [2]) == [4]
    assert re.search(
        r"memory: [\d,]+ MB available of [\d,]+.*the largest worker so far held [\d,]+ MB", str(raised.value)
    )


def test_the_largest_worker_is_measured():
    with Executor("process", workers=1) as executor, pytest.raises(ComputeError) as raised:
        executor.map(work_units.hold_and_die, [200_000_000])
    held = int(re.search(r"largest worker so far held ([\d,]+) MB", str(raised.value))[1].replace(",", ""))
    assert held >= 200


def test_where_nothing_goes_workers_are_not_lost_for_every_unit(tmp_path):
    killed = r"unit 0 of 50: its worker process was killed by SIGKILL"
    with Executor("process", workers=2) as executor, pytest.raises(ComputeError, match=killed):
        executor.map(work_units.die_and_count, [str(tmp_path)] * 50)
    assert len(list(tmp_path.iterdir())) <= 5


def test_units_and_results_of_any_size_pass(pool):
    units = [bytes([n]) * 3_000_000 for n in range(6)]  # many times what a pipe holds
    assert pool.map(work_units.give_back, units) == units


def test_after_an_error_the_next_map_gives_its_own_results_only(pool):
    for n in range(5):
        with pytest.raises(KeyError, match="unit 7"):
            pool.map(work_units.refuse_seven, [7, 1, 2])
        assert pool.map(work_units.slow_square, [n, n + 1]) == [n * n, (n + 1) ** 2]


def test_workers_end_with_a_parent_that_is_killed(tmp_path):
    script = (
        "import sys; from compute import work_units; from dataassets.compute import Executor\n"
        "if __name__ == '__main__': Executor('process', workers=2).map(work_units.tell_and_wait, [sys.argv[1]] * 4)"
    )
    (tmp_path / "script.py").write_text(script)
    pids = tmp_path / "pids"
    pids.mkdir()
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    parent = subprocess.Popen([sys.executable, str(tmp_path / "script.py"), str(pids)], env=environment)
    until(lambda: len(list(pids.iterdir())) == 2)
    parent.kill()
    parent.wait()
    until(lambda: not any(alive(int(p.name)) for p in pids.iterdir()))


def until(happened, seconds=30):
    for _ in range(seconds * 100):
        if happened():
            return
        time.sleep(0.01)
    raise AssertionError(f"it did not happen in {seconds} s")


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


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


def test_ray_where_it_is_not_installed_is_refused_with_the_line_that_installs_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(RecipeError, match=r"Ray is not installed here; run `pip install 'dataassets\[ray\]'`"):
        Executor("ray").map(abs, [1])


def test_ray_is_not_imported_by_other_executors():
    look = "import sys; from dataassets.compute import Executor; Executor().map(abs, [1]); print('ray' in sys.modules)"
    told = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True)
    assert told.stdout == "False\n"


@pytest.mark.slow
def test_an_address_where_no_cluster_answers_is_refused(tmp_path):
    pytest.importorskip("ray", reason="wants Ray: make cluster")
    look = "from dataassets.compute import Executor; Executor('ray', address='127.0.0.1:9').map(abs, [1])"
    environment = os.environ | {"RAY_AUTH_MODE": "disabled", "HOME": str(tmp_path)}
    told = subprocess.run([sys.executable, "-c", look], env=environment, capture_output=True, text=True, check=False)
    assert "RecipeError: compute.address = '127.0.0.1:9': no Ray cluster answers there" in told.stderr
