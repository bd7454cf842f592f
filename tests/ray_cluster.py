"""A Ray cluster on this machine: a head without cores and two worker nodes, each its own processes, to be killed."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

NODE = {"object_store_memory": 80 << 20, "include_dashboard": False}


class Loopback:
    """A head and worker nodes of one core each."""

    def __init__(self) -> None:
        from ray.cluster_utils import Cluster

        self._cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, **NODE})
        self._nodes = [self._cluster.add_node(num_cpus=1, **NODE) for _ in range(2)]
        self.address: str = self._cluster.address

    @property
    def raylets(self) -> list[int]:
        """Of each worker node the process whose children do the work."""
        return [node.all_processes["raylet"][0].process.pid for node in self._nodes]

    def replace_a_node(self, number: int) -> None:
        """SIGKILL for all processes of a worker node; another one joins."""
        self._cluster.remove_node(self._nodes[number], allow_graceful=False)
        self._nodes[number] = self._cluster.add_node(num_cpus=1, **NODE)

    def close(self) -> None:
        self._cluster.shutdown()


@contextmanager
def loopback() -> Iterator[Loopback]:
    """A cluster whose nodes import this tree, with nothing written to the home folder and no word to the network."""
    environment = {
        "PYTHONPATH": os.pathsep.join(p for p in sys.path if p),
        "RAY_AUTH_MODE": "disabled",
        "RAY_USAGE_STATS_ENABLED": "0",
    }
    before = {name: os.environ.get(name) for name in environment}
    os.environ.update(environment)
    try:
        cluster = Loopback()
        try:
            yield cluster
        finally:
            cluster.close()
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
