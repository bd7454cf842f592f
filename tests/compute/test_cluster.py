"""Units on a real Ray cluster of two worker nodes: the same results, also where workers and nodes are killed."""

import itertools
from collections import Counter

import pytest

pytest.importorskip("ray", reason="wants Ray: make cluster")

from compute import work_units
from ray_cluster import loopback

from dataassets.compute import ComputeError, Executor, exchange
from dataassets.recipe import RecipeError

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def cluster():
    with loopback() as made:
        yield made


@pytest.fixture(scope="module")
def ray(cluster):
    with Executor("ray", address=cluster.address) as executor:
        yield executor


def test_results_come_in_the_order_of_the_units_and_each_is_told_once(ray):
    told = Counter()
    found = ray.map(work_units.slow_square, range(40), on_done=lambda i, r: told.update([(i, r)]))
    assert found == [n * n for n in range(40)]
    assert told == Counter((n, n * n) for n in range(40))
    assert ray.map(work_units.slow_square, []) == []


def test_an_error_passes_as_it_was_raised_at_the_first_try_and_the_next_map_goes_on(ray, tmp_path):
    with pytest.raises(KeyError) as raised:
        ray.map(work_units.refuse_and_count, [(str(tmp_path), n) for n in range(9)])
    assert type(raised.value) is KeyError
    assert str(raised.value) == "'unit 7'"
    assert "in refuse_and_count" in raised.value.__notes__[0]
    assert (tmp_path / "ran-7").read_text() == "x"
    assert ray.map(work_units.slow_square, [3]) == [9]


def test_an_error_that_pickle_cannot_carry_is_told(ray):
    with pytest.raises(ComputeError) as raised:
        ray.map(work_units.refuse_oddly, range(3))
    assert str(raised.value) == "TwoArgumentsError: refused at unit 1"


def test_an_error_of_the_listener_passes_too(ray):
    def refuse(_index, _result):
        raise InterruptedError("stop")

    with pytest.raises(InterruptedError, match="stop"):
        ray.map(work_units.slow_square, range(30), on_done=refuse)
    assert ray.map(work_units.slow_square, [3]) == [9]


def test_workers_keep_libraries_to_one_thread(ray):
    assert set(ray.map(work_units.threads_of_libraries, range(4))) == {(1, "1")}


def test_units_of_any_size_pass(ray):
    units = [bytes([n]) * 3_000_000 for n in range(6)]
    assert ray.map(work_units.give_back, units) == units


def test_a_killed_worker_costs_its_unit_another_try(ray, tmp_path):
    assert ray.map(work_units.die_once, [(str(tmp_path), n) for n in range(8)]) == list(range(8))
    assert (tmp_path / "ran-3").read_text() == "xx"


def test_a_unit_that_always_kills_its_worker_is_named_with_the_mend(ray):
    wanted = r"^number 2 \(unit 2 of 8\): WorkerCrashedError after 3 more tries.*smaller compute\.part_bytes"
    with pytest.raises(ComputeError, match=wanted):
        ray.map(work_units.die_always, range(8), name="number {}".format)


def test_a_cluster_that_this_process_is_part_of_goes_before_the_address(ray):
    with Executor("ray", address="127.0.0.1:9") as executor:
        assert executor.map(work_units.slow_square, [3]) == [9]
    assert ray.map(work_units.slow_square, [4]) == [16]  # and is not left by whoever did not join it


def test_no_more_units_than_asked_run_at_a_time(cluster, ray, tmp_path):
    with Executor("ray", address=cluster.address, workers=1) as one:  # within the connection of `ray`
        spans = one.map(work_units.when, range(6))
    assert all(end <= start for (_, end), (start, _) in itertools.pairwise(spans))


def test_a_folder_that_a_node_does_not_see_is_refused(ray, tmp_path, monkeypatch):
    ray.check_shared(str(tmp_path))
    assert list(tmp_path.iterdir()) == []
    monkeypatch.chdir(tmp_path)
    unshared = "/proc/self/cwd/between"  # each process sees another folder there
    with pytest.raises(
        RecipeError, match=rf"^{unshared}: node [\d.]+ of the Ray cluster does not see.*storage that all"
    ):
        exchange(range(2), work_units.many_rows, work_units.checksum, num_buckets=4, executor=ray, folder=unshared)


class Killer:
    """Kills a node that holds a unit of an exchange, once while scattering and once while gathering.

    It is told of each unit that ends; at that time another one is under way.
    """

    def __init__(self, cluster, folder, *, units):
        self._cluster, self._folder, self._units, self._told = cluster, folder, units, 0
        self.killed = {}

    def __call__(self, _index, _result):
        self._told += 1
        step = "rows" if self._told < self._units else "checksum"
        held = {p.read_text() for p in self._folder.glob(f"holds-{step}-*") if p.suffix != ".done"}
        for number, raylet in enumerate(self._cluster.raylets):
            if step not in self.killed and str(raylet) in held:
                self.killed[step] = raylet
                self._cluster.replace_a_node(number)


def test_a_node_killed_in_mid_map_and_one_in_mid_reduce_change_nothing(cluster, ray, tmp_path):
    num_units, num_buckets = 10, 16

    def run(executor, folder, on_done=None):
        return exchange(
            [(str(folder), n) for n in range(num_units)],
            work_units.slow_rows,
            work_units.SlowChecksum(str(folder)),
            num_buckets=num_buckets,
            executor=executor,
            folder=str(folder / "between"),
            on_done=on_done,
        )

    here, there = tmp_path / "inline", tmp_path / "ray"
    for folder in (here, there):
        folder.mkdir()
    wanted = run(Executor("inline"), here)
    killer = Killer(cluster, there, units=num_units)
    assert run(ray, there, killer) == wanted
    assert set(killer.killed) == {"rows", "checksum"}
    tries = {p.name: len(p.read_text()) for p in there.glob("ran-*")}
    assert len(tries) == num_units + num_buckets
    for step in killer.killed:  # the unit that the dead node held was done again
        assert max(n for name, n in tries.items() if step in name) > 1
    for file in (here / "between").iterdir():
        assert file.read_bytes() == (there / "between" / file.name).read_bytes()
