"""`plan` tells what a build then does, to the partition and to the token, and writes nothing."""

import shutil

import pytest
import yaml
from small_corpus import write_corpus, write_recipe

from dataassets.cli.planning import states
from dataassets.compute import Executor
from dataassets.recipe import load
from dataassets.runner import Work
from dataassets.store import PRODUCTS

CORPUS_CELLS = 4  # two snapshots, two sources


def row_of(output, head):
    """The cells of the table row that starts with `head`."""
    (line,) = (line for line in output.splitlines() if line.startswith(f"│ {head} "))
    return [cell.strip() for cell in line.strip("│").split("│")][1:]


def work_of(folder):
    return Work(load(folder / "recipe.yaml"), executor=Executor("inline"))


def tree(folder):
    return sorted((str(p), p.stat().st_mtime_ns) for p in folder.rglob("*"))


def test_before_a_build_all_is_missing_and_nothing_is_written(run, tmp_path):
    write_corpus(tmp_path)
    recipe, before = write_recipe(tmp_path), None
    before = tree(tmp_path)
    result = run("plan", recipe)
    assert result.exit_code == 0
    assert tree(tmp_path) == before
    assert {p: row_of(result.stdout, p) for p in ("raw", "duplicates", "mixed")} == {
        "raw": ["0", "0", "6"],
        "duplicates": ["0", "0", "3"],
        "mixed": ["0", "0", "1"],
    }
    assert "a build would make 46 partitions" in result.stdout
    assert "mix pretrain: counted to the token once `tokenized` is there" in result.stdout


def test_input_files_are_counted_and_sized_as_they_lie(run, built):
    files = list((built / "notes" / "2026-08-01").iterdir())
    size = sum(f.stat().st_size for f in files)
    assert row_of(run("plan", built / "recipe.yaml").stdout, "2026-08-01")[0] == f"2 ({size / 1000:.1f} kB)"
    assert row_of(run("plan", built / "recipe.yaml").stdout, "2026-09-01")[1] == "none"


def test_after_a_build_all_is_there_and_building_again_makes_nothing(run, built):
    found = states(work_of(built))
    assert set(found.values()) == {"there"}
    work = work_of(built)
    assert [work.run(*cell).skipped for cell in found] == [True] * len(found)


def test_a_planned_mix_is_the_mix_that_was_built(run, built):
    work = work_of(built)
    planned, manifest = work.plan("pretrain"), work.store.manifest("mixed", "pretrain")
    assert {s.source: s.achieved for s in planned.sources} == {
        name: told["tokens"] for name, told in manifest.format["sources"].items()
    }
    bins = [e.bytes // 2 for e in manifest.files if e.name.endswith(".bin")]
    assert [s.tokens for s in planned.shards] == bins
    output = run("plan", built / "recipe.yaml").stdout
    for split in ("train", "val"):
        assert f"{split}: " in output
        assert f"{manifest.counts[f'{split}_tokens']:,} tokens" in output
    for source, told in manifest.format["sources"].items():
        rows = [line for line in output.splitlines() if line.startswith(f"│ {source} ")]
        assert f"{told['tokens']:,}" in rows[-1]


@pytest.mark.parametrize(
    ("changes", "first_stale"),
    [
        ({"filter": {"length": {"min": 300}}}, "filtered"),
        ({"clean": {"pii": "keep"}}, "cleaned"),
        ({"dedup": {"exact": False}}, "signatures"),
    ],
)
def test_what_a_changed_setting_touches_is_stale_and_no_more(copy, changes, first_stale):
    recipe = copy / "recipe.yaml"
    recipe.write_text(yaml.safe_dump(yaml.safe_load(recipe.read_text()) | changes))
    by_product = {}
    for (product, _), state in states(work_of(copy)).items():
        by_product.setdefault(product, set()).add(state)
    at = PRODUCTS.index(first_stale)
    assert by_product == {p: {"there" if i < at else "stale"} for i, p in enumerate(PRODUCTS)}


def test_what_a_plan_calls_stale_or_missing_is_all_that_a_build_makes(copy):
    shutil.copy(copy / "notes/2026-08-01/part-0.jsonl.gz", copy / "notes/2026-09-01/part-9.jsonl.gz")
    shutil.rmtree(copy / "data/signals/snapshot=2026-08-01/source=books")
    work = work_of(copy)
    found = states(work)
    assert found["raw", "2026-09-01|notes"] == "stale"
    assert found["signals", "2026-08-01|books"] == "missing"
    assert found["raw", "2026-08-01|notes"] == found["filtered", "2026-08-01|notes"] == "there"
    made = {cell for cell in found if not work.run(*cell).skipped}
    assert made
    assert {"raw", "signals", "mixed"} <= {product for product, _ in made}
    assert all(found[cell] != "there" for cell in made)
