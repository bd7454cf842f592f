"""What Dagster is told of a run: checks with their numbers, metadata equal to the manifest's, gates that hold."""

import base64
import gzip
import re
from xml.etree import ElementTree

import dagster as dg
import pytest
import yaml
from small_corpus import write_corpus, write_recipe

from dataassets.compute import Executor
from dataassets.recipe import load
from dataassets.runner import PROMISES, Work
from dataassets.store import PRODUCTS

SNAPSHOTS = ("2026-08-01",)
KEY = "2026-08-01|notes"
INTAKE = ("raw", "cleaned", "signals", "filtered", "signatures")
PLOT = re.compile(r"!\[plot\]\(data:image/svg\+xml;base64,([A-Za-z0-9+/=]+)\)")


def write(folder, **changes):
    write_corpus(folder, snapshots=SNAPSHOTS)
    window = {"start": SNAPSHOTS[0], "end": SNAPSHOTS[0], "cadence": "monthly"}
    return load(write_recipe(folder, snapshots=window, **changes))


@pytest.fixture(scope="module")
def materialize(definitions_of):
    """`materialize(located, products, key)` in process: the runner and Dagster's result."""

    def made(located, products, key):
        work = Work(located, executor=Executor("inline"))
        job = definitions_of(work).resolve_implicit_global_asset_job_def()
        with dg.DagsterInstance.ephemeral() as instance:
            result = job.execute_in_process(
                partition_key=key,
                asset_selection=[dg.AssetKey(p) for p in products],
                instance=instance,
                run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
                raise_on_error=False,
            )
        return work, result

    return made


def checks(result, product):
    found = [e for e in result.get_asset_check_evaluations() if e.asset_key == dg.AssetKey(product)]
    return {e.check_name: e for e in found}


def metadata(result, product):
    (event,) = result.asset_materializations_for_node(product)
    return {name: v if isinstance(v, dg.TableMetadataValue) else v.value for name, v in event.metadata.items()}


@pytest.fixture(scope="module")
def walked(tmp_path_factory, materialize):
    """Every product of a small recipe through Dagster: the runner, and the results by product."""
    located, results = write(tmp_path_factory.mktemp("walked")), {}
    for products, keys in (
        (INTAKE, ("2026-08-01|books", KEY)),
        (("duplicates",), ("2026-08-01",)),
        (("deduped", "tokenized"), ("2026-08-01|books", KEY)),
        (("mixed",), ("pretrain",)),
    ):
        for key in keys:
            work, result = materialize(located, products, key)
            assert result.success
            results |= dict.fromkeys(products, (key, result))
    return work, results


@pytest.mark.parametrize("product", PRODUCTS)
def test_numbers_are_those_of_the_manifest(walked, product):
    work, results = walked
    key, result = results[product]
    manifest, told = work.store.manifest(product, key), metadata(result, product)
    assert told["dagster/row_count"] == manifest.counts["documents"]
    for name in ("documents_in", "bytes", "tokens", "train_tokens", "val_tokens"):
        assert told.get(name) == manifest.counts.get(name), name
    assert told["files"] == len(manifest.files)
    assert told.get("dropped_documents", 0) == sum(manifest.dropped.values())
    if manifest.dropped:
        rows = {r.data["reason"]: r.data["documents"] for r in told["dropped"].records}
        assert rows == manifest.dropped
    assert told["reused"] is False
    assert told["seconds"] > 0
    assert told["manifest"].endswith("/manifest.json")
    assert not any(len(str(value)) > 50_000 for value in told.values())


@pytest.mark.parametrize("product", PRODUCTS)
def test_samples_of_each_rule_stand_under_its_name_with_value_limit_and_count(walked, product):
    work, results = walked
    key, result = results[product]
    manifest, told = work.store.manifest(product, key), metadata(result, product)
    for reason, rows in manifest.report["samples"].items():
        shown = told[reason.partition(":")[0]].split(f"**{reason}**: ")[1].split("\n**")[0]
        assert shown.startswith(f"{manifest.dropped.get(reason, 0):,}\n")
        assert shown.count("\n- ") == len(rows)
        for row in rows:
            assert f"`{row['id']}`" in shown
            if "signal" in row:
                assert row["signal"].replace("_", r"\_") in shown


@pytest.mark.parametrize("product", PRODUCTS)
def test_the_data_version_is_the_digest(walked, product):
    work, results = walked
    key, result = results[product]
    (event,) = result.asset_materializations_for_node(product)
    assert event.tags["dagster/data_version"] == work.store.manifest(product, key).digest


@pytest.mark.parametrize("product", PRODUCTS)
def test_every_promised_check_is_told_with_the_numbers_of_the_manifest(walked, product):
    work, results = walked
    key, result = results[product]
    told, stored = checks(result, product), work.store.manifest(product, key).checks
    assert list(told) == [p.name for p in PROMISES[product]]
    assert [c["name"] for c in stored] == [p.name for p in PROMISES[product] if p.is_stored]
    for check in stored:
        evaluation = told[check["name"]]
        assert evaluation.passed == check["passed"]
        assert {name: value.value for name, value in evaluation.metadata.items()} == check["numbers"]
        assert all(isinstance(value, dg.FloatMetadataValue) for value in evaluation.metadata.values())
        assert (evaluation.severity == dg.AssetCheckSeverity.ERROR) == check["blocking"]


@pytest.mark.parametrize("product", PRODUCTS)
def test_the_plot_is_short_enough_to_be_drawn_in_place_and_is_valid_svg(walked, product):
    _, result = walked[1][product]
    told = metadata(result, product)
    for name in ("plot", "plot_full"):
        (data,) = PLOT.fullmatch(told[name]).groups()
        root = ElementTree.fromstring(base64.b64decode(data))
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        assert len(list(root.iter())) > 2
    assert len(told["plot"]) <= 999


@pytest.mark.parametrize("product", ["raw", "filtered", "duplicates", "mixed"])
def test_a_done_partition_is_reused_and_replays_its_checks(materialize, walked, product):
    work, results = walked
    key, first = results[product]
    before = work.store.manifest(product, key)
    _, again = materialize(work.corpus.located, (product,), key)
    assert again.success
    told = metadata(again, product)
    assert told["reused"] is True
    assert "mb_per_s" not in told
    assert work.store.manifest(product, key) == before
    old, new = checks(first, product), checks(again, product)
    assert {n: (e.passed, e.metadata) for n, e in old.items()} == {n: (e.passed, e.metadata) for n, e in new.items()}
    assert list(new)


def test_a_failed_blocking_check_is_told_commits_nothing_and_downstream_never_starts(materialize, tmp_path):
    located = write(tmp_path)
    part = tmp_path / "notes" / SNAPSHOTS[0] / "part-1.jsonl.gz"
    part.write_bytes(gzip.compress(gzip.decompress(part.read_bytes()) + b"\nno json\n"))
    sources = yaml.safe_load(located.file.read_text())["sources"]
    sources["notes"]["max_bad"] = {"fraction": 0, "block": True}
    located = load(write_recipe(tmp_path, sources=sources, snapshots=located.recipe.snapshots.model_dump(mode="json")))
    work, result = materialize(located, INTAKE, KEY)
    assert not result.success
    told = checks(result, "raw")
    assert {name: e.passed for name, e in told.items()} == {
        "counts_balance": True,
        "ids_unique": True,
        "bad_records": False,
    }
    assert told["bad_records"].severity == dg.AssetCheckSeverity.ERROR
    assert told["bad_records"].metadata["limit"].value == 0.0
    assert told["bad_records"].metadata["rate"].value > 0
    assert result.get_asset_materialization_events() == []
    started = {e.step_key for e in result.all_events if e.is_step_start}
    assert started == {"raw"}
    (failure,) = (e for e in result.all_events if e.is_step_failure)
    described = failure.step_failure_data.user_failure_data
    assert "blocking check bad_records failed; nothing was committed" in described.description
    assert described.metadata["dropped_documents"].value == 1
    assert not any(e.is_step_up_for_retry for e in result.all_events)
    assert work.store.manifest("raw", KEY) is None


def test_a_missing_upstream_fails_with_the_partition_to_materialize(materialize, tmp_path):
    _, result = materialize(write(tmp_path), ("filtered",), KEY)
    (failure,) = (e for e in result.all_events if e.is_step_failure)
    said = failure.step_failure_data.user_failure_data.description
    assert f"filtered {KEY} needs cleaned {KEY}, which is not there" in said
    assert f"--stage cleaned --partition '{KEY}'" in said
