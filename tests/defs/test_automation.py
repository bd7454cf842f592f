"""The sensor `carry_on`: once all sources of a snapshot are in, the rest of the road follows, whatever the snapshot."""

import warnings
from dataclasses import replace

import dagster as dg
import pytest

from dataassets.compute import Executor
from dataassets.definitions import definitions
from dataassets.defs.automation import INTAKE
from dataassets.runner import Work

QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
FOLLOW = ("duplicates", "deduped", "tokenized", "mixed")


class Daemon:
    """Evaluates conditions as the daemon does, and runs what they ask for."""

    def __init__(self, work: Work, instance: dg.DagsterInstance) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # partition mappings are in beta
            self.defs = definitions(work)
            self.job = self.defs.resolve_implicit_global_asset_job_def()
        self.instance = instance
        self.cursor = None

    def run(self, key: str, *products: str) -> None:
        selection = [dg.AssetKey(p) for p in products]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ended = self.job.execute_in_process(
                partition_key=key, asset_selection=selection, instance=self.instance, run_config=QUIET
            )
        assert ended.success

    def tick(self) -> dict[str, list[str]]:
        """What is asked for now, run at once."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = dg.evaluate_automation_conditions(defs=self.defs, instance=self.instance, cursor=self.cursor)
        self.cursor = found.cursor
        asked = {p: sorted(map(str, found.get_requested_partitions(dg.AssetKey(p)))) for p in FOLLOW}
        for product, keys in asked.items():
            for key in keys:
                self.run(key, product)
        return {product: keys for product, keys in asked.items() if keys}


@pytest.fixture
def instance():
    with dg.DagsterInstance.ephemeral() as made:
        yield made


@pytest.mark.slow
def test_with_history_a_snapshot_waits_for_the_one_before_it(corpus, instance):
    """Dagster 1.13 asks for that one again as well (an asset with checks maps onto itself); it is found to be there."""
    recipe = corpus.recipe.model_copy(
        update={"dedup": corpus.recipe.dedup.model_copy(update={"scope": "history"}), "mixes": {}}
    )
    made = []
    work = Work(replace(corpus, recipe=recipe), executor=Executor("inline"), on_done=made.append)
    daemon = Daemon(work, instance)
    daemon.tick()
    first, second, third = ("2026-08-01", "2026-09-01", "2026-10-01")
    for snapshot in (third, first):
        for source in ("notes", "books"):
            daemon.run(f"{snapshot}|{source}", *INTAKE)
    assert daemon.tick() == {"duplicates": [first]}
    daemon.tick()
    for source in ("notes", "books"):
        daemon.run(f"{second}|{source}", *INTAKE)
    assert daemon.tick() == {"duplicates": [first, second]}
    assert daemon.tick()["duplicates"] == [second, third]
    while daemon.tick():
        pass
    built = [(d.manifest.product, d.manifest.partition) for d in made if not d.skipped]
    assert sorted(built) == sorted(work.corpus.cells(["tokenized"]))
    assert [key for product, key in built if product == "duplicates"] == [first, second, third]


@pytest.mark.slow
def test_each_snapshot_is_carried_on_when_its_last_source_is_in_and_the_mix_when_all_are(corpus, instance):
    daemon = Daemon(Work(corpus, executor=Executor("inline")), instance)
    daemon.tick()
    snapshots = ("2026-10-01", "2026-08-01", "2026-09-01")  # one that comes late is carried on as well
    for snapshot in snapshots:
        daemon.run(f"{snapshot}|notes", *INTAKE)
        assert daemon.tick() == {}
        daemon.run(f"{snapshot}|books", *INTAKE)
        assert daemon.tick() == {"duplicates": [snapshot]}
        both = [f"{snapshot}|books", f"{snapshot}|notes"]
        assert daemon.tick() == {"deduped": both, "tokenized": both}
        assert daemon.tick() == ({"mixed": ["pretrain"]} if snapshot == snapshots[-1] else {})
    assert daemon.tick() == {}
