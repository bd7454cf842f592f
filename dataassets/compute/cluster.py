"""A Ray cluster: units as plain Ray tasks, tried again where a worker or a node dies.

Only Ray core is used: no Ray Data, no actors, no state on the cluster but the work and the units that run.
"""

import os
import socket
import time
import uuid
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from dataassets.compute.carry import Name, came_back, done, loaded, one_thread, packed, told
from dataassets.compute.errors import ComputeError
from dataassets.recipe import RecipeError

U = TypeVar("U")
R = TypeVar("R")

RETRIES = 3  # of one unit, where its worker or node dies; what a unit raises is never tried again
AHEAD = 2  # units on their way for each core; those that wait are also what an autoscaler goes by
CONNECT_S = 10.0
LOOK_S = 5.0  # how often the size of the cluster is looked at


class Cluster:
    """Runs units on a Ray cluster; the nodes hold this package, and see the same files.

    Args:
        address: "local", "auto" or "host:port"; a Ray that this process is already part of goes before it.
        workers: most units at a time; None for one a core of the cluster.

    Raises:
        RecipeError: Ray is not installed, or there is no cluster there.
    """

    def __init__(self, address: str, *, workers: int | None) -> None:
        self._ray = _imported()
        self._workers = workers
        self._own = not self._ray.is_initialized()
        if self._own:
            self._join(address)
        self._task = self._ray.remote(num_cpus=1, max_retries=RETRIES, retry_exceptions=False)(_do)
        self._seen: set[tuple[str, str]] = set()  # (node, folder)
        self._looked_s, self._cores = 0.0, 1

    def map(
        self, work: Callable[[U], R], units: Sequence[U], *, on_done: Callable[[int, R], None] | None, name: Name | None
    ) -> list[R]:
        """Run `work` on each unit; see Executor.map."""
        shipped = self._ray.put(packed(work))
        todo, results = deque(range(len(units))), dict[int, R]()
        running: dict[Any, int] = {}  # by the reference to what will come back
        try:
            while todo or running:
                for _ in range(min(len(todo), self._room() - len(running))):
                    i = todo.popleft()
                    running[self._task.remote(shipped, packed(units[i]))] = i
                ended, _ = self._ray.wait(list(running), num_returns=1, timeout=LOOK_S)
                for reference in ended:
                    i = running.pop(reference)
                    results[i] = came_back(self._fetched(reference, told(i, len(units), name and name(units[i]))))
                    if on_done:
                        on_done(i, results[i])
        finally:
            for reference in running:  # after an error
                self._ray.cancel(reference, force=True)
        return [results[i] for i in range(len(units))]

    def check_shared(self, folder: str) -> None:
        """Let each node that is new read a file that is written here; see Executor.check_shared."""
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        nodes = {n["NodeID"]: n["NodeManagerAddress"] for n in self._ray.nodes() if n["Alive"]}
        new = [node for node in nodes if (node, folder) not in self._seen]
        token = uuid.uuid4().hex
        file = Path(folder) / f".seen-{token[:8]}"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(token, encoding="ascii")
        try:
            look = self._ray.remote(num_cpus=0, max_retries=0)(_sees)
            asked = {
                node: look.options(scheduling_strategy=NodeAffinitySchedulingStrategy(node, soft=False)).remote(
                    str(file), token
                )
                for node in new
            }
            for node, answer in asked.items():
                with suppress(self._ray.exceptions.RayError):  # it died meanwhile
                    if not self._ray.get(answer):
                        raise RecipeError(
                            f"{folder}: node {nodes[node]} of the Ray cluster does not see the files that are written "
                            "there; put the recipe's root on storage that all nodes mount under the same path (where "
                            "root is a URL: set TMPDIR of this process to such a folder)"
                        )
        finally:
            file.unlink(missing_ok=True)
        self._seen |= {(node, folder) for node in new}

    def close(self) -> None:
        """Leave the cluster; one that was started here ends."""
        if self._own:
            self._ray.shutdown()

    def _join(self, address: str) -> None:
        here: dict[str, Any] = {"num_cpus": self._workers, "include_dashboard": False} if address == "local" else {}
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is told to anybody
        os.environ.setdefault("RAY_task_oom_retries", str(RETRIES))  # Ray's own default is for ever
        try:
            if address not in ("local", "auto"):  # Ray itself would try for minutes
                host, _, port = address.rpartition(":")
                socket.create_connection((host.strip("[]"), int(port)), timeout=CONNECT_S).close()
            self._ray.init(address=address, log_to_driver=False, logging_level="WARNING", **here)
        except (OSError, ValueError, RuntimeError) as error:
            raise RecipeError(
                f"compute.address = {address!r}: no Ray cluster answers there ({error}); start one "
                "(docs/how-to/cluster.md), give the host:port of its head, or take local"
            ) from error

    def _room(self) -> int:
        """How many units may be on their way."""
        if self._workers is not None:
            return self._workers
        if time.monotonic() - self._looked_s > LOOK_S:  # nodes come and go
            self._looked_s, self._cores = time.monotonic(), int(self._ray.cluster_resources().get("CPU", 0))
        return AHEAD * max(self._cores, 1)

    def _fetched(self, reference: Any, unit: str) -> bytes:  # noqa: ANN401 - Ray's own
        try:
            found: bytes = self._ray.get(reference)
        except self._ray.exceptions.RayError as error:
            said = " ".join(str(error).split())[:500]
            raise ComputeError(
                f"{unit}: {type(error).__name__} after {RETRIES} more tries: {said}; where memory was short, take a "
                "smaller compute.part_bytes or nodes with more memory a core (`ray start --num-cpus`)"
            ) from error
        return found


def _imported() -> Any:  # noqa: ANN401 - Ray, an extra
    try:
        import ray
    except ImportError as error:
        raise RecipeError(
            "compute.executor = ray: Ray is not installed here; run `pip install 'dataassets[ray]'`, "
            "or take executor process"
        ) from error
    return ray


def _do(work: bytes, unit: bytes) -> bytes:
    """One unit, on a node."""
    one_thread()
    return done(lambda: loaded(work), unit)


def _sees(file: str, token: str) -> bool:
    try:
        return Path(file).read_text(encoding="ascii") == token
    except OSError:
        return False
