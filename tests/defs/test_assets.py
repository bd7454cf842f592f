"""The graph that Dagster sees is the graph that the runner works by: assets, partitions, mappings, checks."""

import datetime as dt
from pathlib import Path

import dagster as dg
import pytest
import yaml

from dataassets.recipe import Located, parse
from dataassets.runner import CODE_VERSIONS, PROMISES, Corpus, Work
from dataassets.store import CORPUS, PRODUCTS

WINDOWS = [
    ("monthly", "2026-08-01", "2026-10-01"),
    ("weekly", "2026-08-02", "2026-08-16"),
    ("daily", "2026-08-30", "2026-09-02"),
    ("weekly", "2026-08-02", "2026-08-16", "history"),
]


def recipe_of(cadence, start, end, scope="snapshot"):
    text = f"""
        root: /nowhere
        snapshots: {{start: "{start}", end: "{end}", cadence: {cadence}}}
        sources:
          web: {{format: warc, paths: ["web/{{snapshot}}/*.warc.gz"]}}
          books: {{format: text, paths: ["books/*.txt"]}}
          a-1_b: {{format: text, paths: ["b/*.txt"]}}
        dedup: {{scope: {scope}}}
        mixes:
          small: {{tokens: 10, weights: {{web: 1}}}}
          large: {{tokens: 100, weights: {{web: 0.5, books: 0.5}}}}
    """
    return Located(parse(yaml.safe_load(text), where="test"), Path("/nowhere/recipe.yaml"))


@pytest.fixture(scope="module")
def graph_of(definitions_of):
    """Corpus and asset graph of a recipe."""

    def made(located):
        work = Work(located)
        return work.corpus, definitions_of(work).resolve_asset_graph()

    return made


@pytest.fixture(scope="module", params=WINDOWS, ids=["-".join(w[::3]) for w in WINDOWS])
def told(request, graph_of):
    """Corpus and asset graph of a recipe, for each cadence."""
    return graph_of(recipe_of(*request.param))


def test_each_product_is_an_asset_and_nothing_else_is(told):
    _, graph = told
    assert {key.to_user_string() for key in graph.get_all_asset_keys()} == set(PRODUCTS)


def test_dagster_and_the_runner_know_the_same_partitions(told):
    corpus, graph = told
    for product in PRODUCTS:
        partitions = graph.get(dg.AssetKey(product)).partitions_def
        assert sorted(map(str, partitions.get_partition_keys())) == sorted(corpus.partitions(product)), product


def test_each_partition_hangs_on_what_the_runner_reads_for_it(told):
    corpus, graph = told
    for product in PRODUCTS:
        for key in corpus.partitions(product):
            found = graph.get_parents_partitions(dg.AssetKey(product), key)
            assert not found.required_but_nonexistent_parents_partitions
            parents = {(p.asset_key.to_user_string(), str(p.partition_key)) for p in found.parent_partitions}
            wanted = set(corpus.upstream(product, key))
            if product == "mixed":  # Dagster hangs a mix on all of tokenized; its weights narrow what is read
                assert wanted <= parents
                wanted = {("tokenized", k) for k in corpus.partitions("tokenized")}
            assert parents == wanted, (product, key)


def test_a_snapshot_reaches_all_its_sources_and_no_other(told):
    corpus, graph = told
    for snapshot in corpus.snapshots:
        keys = graph.get_child_partition_keys_of_parent(snapshot, dg.AssetKey("duplicates"), dg.AssetKey("deduped"))
        assert {str(k) for k in keys} == {f"{snapshot}|{source}" for source in corpus.sources}


def test_keys_read_snapshot_then_source(told):
    corpus, graph = told
    for product in CORPUS:
        partitions = graph.get(dg.AssetKey(product)).partitions_def
        assert [d.name for d in partitions.partitions_defs] == ["snapshot", "source"]
        assert f"{corpus.snapshots[0]}|web" in partitions.get_partition_keys()


def test_each_asset_has_its_promised_checks_two_at_least_and_they_block_where_promised(told):
    _, graph = told
    for product in PRODUCTS:
        node = graph.get(dg.AssetKey(product))
        specs = {key.name: graph.get_check_spec(key) for key in node.check_keys}
        assert {name: spec.blocking for name, spec in specs.items()} == {p.name: p.blocking for p in PROMISES[product]}
        assert len(specs) >= 2
        assert any(spec.blocking for spec in specs.values())
        for spec in specs.values():
            assert spec.description
            assert spec.partitions_def == node.partitions_def


def test_each_asset_tells_itself_its_version_and_one_partition_a_run(told):
    _, graph = told
    for product in PRODUCTS:
        node = graph.get(dg.AssetKey(product))
        assert node.description.endswith(".")
        assert node.code_version == CODE_VERSIONS[product]
        assert node.backfill_policy == dg.BackfillPolicy.multi_run(1)


def test_an_end_that_lies_ahead_is_offered_nevertheless(graph_of):
    ahead = dt.datetime.now(dt.UTC).date().replace(day=1) + dt.timedelta(days=100)
    end = ahead.replace(day=1).isoformat()
    corpus, graph = graph_of(recipe_of("monthly", "2026-08-01", end))
    assert corpus.snapshots[-1] == end
    assert graph.get(dg.AssetKey("duplicates")).partitions_def.get_partition_keys() == corpus.snapshots


def test_without_an_end_the_closed_windows_are_there(graph_of):
    located = recipe_of("monthly", "2020-01-01", "2020-01-01")
    snapshots = located.recipe.snapshots.model_copy(update={"end": None})
    located = Located(located.recipe.model_copy(update={"snapshots": snapshots}), located.file)
    corpus, graph = graph_of(located)
    keys = graph.get(dg.AssetKey("duplicates")).partitions_def.get_partition_keys()
    assert keys == corpus.snapshots == Corpus.of(located).closed
    assert len(keys) > 12


def test_a_recipe_without_mixes_is_a_graph_as_well(graph_of):
    located = recipe_of(*WINDOWS[0])
    corpus, graph = graph_of(Located(located.recipe.model_copy(update={"mixes": {}}), located.file))
    assert graph.get(dg.AssetKey("mixed")).partitions_def.get_partition_keys() == corpus.partitions("mixed") == []
