"""A recipe with a trained model through the real commands."""

import pytest
import yaml
from model_corpus import SNAPSHOTS, write_corpus, write_recipe

from dataassets.cli.building import runs, targets
from dataassets.cli.planning import states
from dataassets.recipe import load
from dataassets.runner import Work
from dataassets.store import MODELS


@pytest.fixture(scope="module")
def recipe(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    write_corpus(folder)
    return write_recipe(folder)


@pytest.fixture(scope="module")
def output(run, recipe):
    result = run("build", recipe)
    assert result.exit_code == 0, result.output
    return result.output


@pytest.fixture(scope="module")
def work(output, recipe):
    return Work(load(recipe))


def test_the_model_is_made_after_all_it_reads_and_before_who_asks_it(output):
    lines = [tuple(line.split()[:2]) for line in output.splitlines() if line.split()[1:2]]
    at = lines.index(("quality_model", "all"))
    assert {("cleaned", f"{s}|{x}") for s in SNAPSHOTS for x in ("books", "web")} <= set(lines[:at])
    assert not any(product == "signals" for product, _ in lines[:at])
    assert ("mixed", "pretrain") in lines[at:]


def test_a_stage_asked_for_brings_its_model(work):
    cells = targets(work.corpus, stages=["signals"], partitions=[f"{SNAPSHOTS[0]}|web"])
    todo = [(p, run.partition) for run in runs(cells) for p in run.products]
    assert sorted(todo) == sorted(cells)
    for i, cell in enumerate(todo):
        assert set(work.corpus.upstream(*cell)) <= set(todo[:i]), cell
    asked = targets(work.corpus, stages=["signals"], partitions=[f"{SNAPSHOTS[0]}|books"])
    assert not any(product in MODELS for product, _ in asked)


def test_a_second_build_a_plan_verify_and_gc_find_all_as_it_is(run, recipe, work):
    assert "0 partitions made" in run("build", recipe).stdout
    assert set(states(work).values()) == {"there"}
    shown = run("plan", recipe).stdout
    assert "quality_model" in shown
    assert "make 0 partitions" in shown
    assert " 0 damaged, 0 strays" in run("verify", work.store.files.root).stdout
    assert "0 files" in run("gc", recipe).stdout


def test_explain_tells_score_and_limit(run, work):
    rows = next(work.store.read_parts("filtered", f"{SNAPSHOTS[0]}|web", dropped=True)).to_pylist()
    told = run("explain", work.store.files.root, "--doc", rows[0]["id"].hex()).stdout
    assert "quality:low_score (quality_score 0." in told
    assert "limit 0.5)" in told
    assert ", quality 0." in told


def test_explain_tells_of_a_share(run, recipe, tmp_path, work):
    body = yaml.safe_load(recipe.read_text())
    root = str(tmp_path / "data")
    changes = {"root": root, "filter": {"quality": {"keep_fraction": 0.2}}, "mixes": {}}
    for name, source in body["sources"].items():
        source["paths"] = [str(recipe.parent / path) for path in source["paths"]]
        assert name in work.corpus.sources
    other = tmp_path / "recipe.yaml"
    other.write_text(yaml.safe_dump(body | changes))
    assert run("build", other, "--stage", "filtered", "--partition", f"{SNAPSHOTS[0]}|web").exit_code == 0
    rows = next(Work(load(other)).store.read_parts("filtered", f"{SNAPSHOTS[0]}|web", dropped=True)).to_pylist()
    told = run("explain", root, "--doc", rows[0]["id"].hex()).stdout
    assert "limit the best 0.2 of all)" in told
