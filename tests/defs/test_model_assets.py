"""What Dagster sees and is told of a trained model."""

import dagster as dg
import pytest
from model_corpus import write_corpus, write_recipe

from dataassets.compute import Executor
from dataassets.recipe import load
from dataassets.runner import PROMISES, Work


@pytest.fixture(scope="module")
def work(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    write_corpus(folder)
    return Work(load(write_recipe(folder)), executor=Executor("inline"))


@pytest.fixture(scope="module")
def defs(work, definitions_of):
    return definitions_of(work)


def test_dagster_sees_one_asset_without_partitions_between_cleaned_and_signals(work, defs):
    assets = defs.resolve_asset_graph()
    node = assets.get(dg.AssetKey("quality_model"))
    assert not node.is_partitioned
    assert node.parent_keys == {dg.AssetKey("cleaned")}
    assert dg.AssetKey("quality_model") in assets.get(dg.AssetKey("signals")).parent_keys
    assert {key.to_user_string() for key in assets.get_all_asset_keys()} == set(work.corpus.products)
    mapping = node.partition_mappings[dg.AssetKey("cleaned")]
    read = {partition for _, partition in work.corpus.upstream("quality_model", "all")}
    assert set(mapping.partition_keys) == read
    checks = {key.name: assets.get_check_spec(key).blocking for key in node.check_keys}
    assert checks == {p.name: p.blocking for p in PROMISES["quality_model"]}


def test_dagster_is_told_what_the_model_is_worth(work, defs):
    for cell in work.corpus.upstream("quality_model", "all"):
        work.run("raw", cell[1])
        work.run(*cell)
    job = defs.resolve_implicit_global_asset_job_def()
    with dg.DagsterInstance.ephemeral() as instance:
        result = job.execute_in_process(asset_selection=[dg.AssetKey("quality_model")], instance=instance)
    (event,) = result.asset_materializations_for_node("quality_model")
    manifest = work.store.manifest("quality_model", "all")
    told = {name: value.value for name, value in event.metadata.items()}
    assert event.tags["dagster/data_version"] == manifest.digest
    assert told["auc"] == manifest.format["auc"]
    assert told["held_out"].startswith("| threshold | precision | recall | share |")
    assert told["plot"].startswith("![plot](data:image/svg+xml;base64,")
    assert told["dagster/row_count"] == manifest.counts["documents"]
    assert told["manifest"].endswith("data/quality_model/manifest.json")
