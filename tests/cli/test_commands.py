"""The commands as a stranger meets them: exit statuses, and messages that say what to change."""

import gzip
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from small_corpus import SNAPSHOTS, write_corpus, write_recipe

from dataassets.cli import cli
from dataassets.compute import Executor
from dataassets.recipe import load
from dataassets.runner import Work
from dataassets.store import Store, verify

SNAPSHOT = SNAPSHOTS[0]


def change(recipe: Path, **changes: object) -> Path:
    recipe.write_text(yaml.safe_dump(yaml.safe_load(recipe.read_text()) | changes, sort_keys=False))
    return recipe


@pytest.fixture
def recipe(tmp_path: Path) -> Path:
    """Of a corpus that is not built."""
    write_corpus(tmp_path, snapshots=SNAPSHOTS[:2])
    return write_recipe(tmp_path, snapshots={"start": SNAPSHOTS[0], "end": SNAPSHOTS[1], "cadence": "monthly"})


def refused(result, *said: str) -> None:
    assert result.exit_code == 2, result.output
    for words in said:
        assert words in result.stderr
    assert result.stdout == ""


# ---- help


@pytest.mark.parametrize("name", [None, *cli.commands])
def test_help_shows_each_argument_and_no_line_is_cut(run, name):
    result = run(*([name] if name else []), "--help")
    assert result.exit_code == 0
    assert "..." not in result.output.replace("COMMAND [ARGS]...", "")
    assert "RECIPE" in result.output or name in (None, "verify", "explain", "demo", "warm-up")


def test_commands_are_listed_in_the_order_in_which_they_are_met():
    assert list(cli.commands) == ["demo", "show", "plan", "build", "ui", "tune", "verify", "explain", "gc", "warm-up"]


def test_show_prints_a_recipe_that_makes_the_same_products(run, recipe, tmp_path):
    change(recipe, filter={"preset": "fineweb", "gopher_quality": {"min_words": 9}})
    shown = run("show", recipe)
    assert shown.exit_code == 0
    written = tmp_path / "written.yaml"
    written.write_text(shown.stdout)
    assert "preset" not in shown.stdout
    assert "min_words: 9" in shown.stdout
    assert load(written).recipe == load(recipe).recipe
    assert run("show", written).stdout == shown.stdout
    refused(run("show", tmp_path / "nope.yaml"), "no such recipe")


def test_python_m_is_the_same_command(tmp_path):
    asked = [sys.executable, "-m", "dataassets.cli", "plan", str(tmp_path / "nope.yaml")]
    ended = subprocess.run(asked, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.startswith("error: ")
    assert "nope.yaml: no such recipe" in ended.stderr


# ---- recipes


@pytest.mark.parametrize("command", ["build", "plan", "ui", "gc"])
def test_a_recipe_that_is_not_there_or_is_wrong_is_refused_by_every_command(run, recipe, command):
    refused(run(command, recipe.with_name("nope.yaml")), "nope.yaml: no such recipe")
    refused(run(command, recipe.parent), "name the recipe's YAML file")
    change(recipe, dedupe={"exact": True})
    refused(run(command, recipe), "recipe.yaml: dedupe", "did you mean dedup?")


@pytest.mark.parametrize("command", ["build", "plan"])
def test_a_pattern_that_matches_nothing_is_refused_before_any_work(run, recipe, command):
    change(recipe, sources={"notes": {"format": "jsonl", "paths": ["nots/{snapshot}/*.gz"]}}, mixes={})
    refused(run(command, recipe), "sources.notes.paths.0 = 'nots/{snapshot}/*.gz' matches no file")
    assert not (recipe.parent / "data").exists()


@pytest.mark.parametrize("command", ["build", "plan", "gc"])
def test_a_root_that_can_hold_nothing_is_refused(run, recipe, command):
    change(recipe, root="./recipe.yaml")
    refused(run(command, recipe), "root = './recipe.yaml'", "is a file; take a folder")
    change(recipe, root="nowhere://x")
    refused(run(command, recipe), "root = 'nowhere://x' cannot be opened")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--stage", "filterd"], "'filterd' is not one of"),
        (["--workers", 0], "0 is not in the range"),
        (["--executor", "spark"], "'spark' is not one of"),
        (["--partition", "2026-08-01|note"], "no such partition; take '2026-08-01|notes'"),
        (["--partition", SNAPSHOT, "--stage", "filtered"], "no such partition of filtered"),
        (["--partition", "pre", "--stage", "mixed"], "no such partition of mixed; take 'pretrain'"),
    ],
)
def test_a_wrong_option_of_build_names_what_there_is(run, recipe, arguments, said):
    refused(run("build", recipe, *arguments), said)


def test_a_dagster_home_that_cannot_be_made_or_is_wrong_is_named(run, recipe, monkeypatch):
    home = recipe.parent / "home"
    home.write_text("a file")
    monkeypatch.setenv("DAGSTER_HOME", str(home))
    refused(run("build", recipe), f"{home}: Dagster's runs cannot be kept there")
    home.unlink()
    home.mkdir()
    for wrong in ("nonsense: 1", "storage: {"):
        (home / "dagster.yaml").write_text(wrong)
        refused(run("build", recipe), f"{home}/dagster.yaml: ", "mend that file")


# ---- build


def test_a_failing_blocking_check_stops_the_build_and_is_told_with_its_numbers(run, recipe):
    part = recipe.parent / "notes" / SNAPSHOT / "part-1.jsonl.gz"
    part.write_bytes(gzip.compress(gzip.decompress(part.read_bytes()) + b"\nno json\n"))
    source = {"format": "jsonl", "paths": ["notes/{snapshot}/*.jsonl.gz"], "max_bad": {"fraction": 0, "block": True}}
    result = run("build", change(recipe, sources={"notes": source}, mixes={}))
    assert result.exit_code == 2
    assert f"raw {SNAPSHOT}|notes: blocking check bad_records failed; nothing was committed" in result.stderr
    assert "bad_records failed: share of unreadable records" in result.stdout
    assert "(rate 0.05, limit 0)" in result.stdout  # one record of 20
    files = [p.name for p in (recipe.parent / "data").rglob("*") if p.is_file()]
    assert files == ["report.json"]


def test_a_bad_record_below_the_limit_is_counted_and_named(run, recipe):
    part = recipe.parent / "notes" / SNAPSHOT / "part-1.jsonl.gz"
    part.write_bytes(gzip.compress(gzip.decompress(part.read_bytes()) + b"\nno json\n"))
    result = run("build", recipe, "--stage", "raw", "--partition", f"{SNAPSHOT}|notes")
    assert result.exit_code == 0
    assert "quarantined 1 unreadable record" in result.stdout
    assert "bad_records warns" in result.stdout
    assert "1 partition made, 0 reused" in result.stdout


def test_a_partition_is_built_with_what_it_needs_and_nothing_else(run, copy):
    for top in ("signals", "filtered", "duplicates"):
        subprocess.run(["rm", "-r", copy / "data" / top], check=True)
    result = run("build", copy / "recipe.yaml", "--stage", "filtered", "--partition", f"{SNAPSHOT}|notes")
    assert result.exit_code == 0, result.output
    assert "2 partitions made, 2 reused as they were" in result.stdout
    assert sorted(p.name for p in (copy / "data").glob("*/*/source=*") if p.parts[-3] == "filtered") == ["source=notes"]


def test_a_relative_dagster_home_works(run, copy, monkeypatch):
    monkeypatch.chdir(copy)
    monkeypatch.setenv("DAGSTER_HOME", "home")
    result = run("build", "recipe.yaml", "--stage", "raw", "--workers", 1, "--executor", "inline")
    assert result.exit_code == 0, result.output
    assert (copy / "home" / "dagster.yaml").exists()


@pytest.mark.slow
def test_ctrl_c_stops_a_build_and_the_same_command_goes_on_to_the_same_digests(run, built, recipe):
    asked = [sys.executable, "-m", "dataassets.cli", "build", str(recipe), "--stage", "filtered"]
    building = subprocess.Popen(
        asked, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=os.environ | {"PYTHONUNBUFFERED": "1"}
    )
    assert building.stdout is not None
    building.stdout.readline()
    building.send_signal(signal.SIGINT)
    _, said = building.communicate(timeout=60)
    assert building.returncode == 130, said
    assert said.decode() == "stopped; what was made stays, and the same command goes on from there\n"
    assert run("build", recipe, "--stage", "filtered").exit_code == 0
    stores = [Store.at(load(folder / "recipe.yaml").root) for folder in (built, recipe.parent)]
    for key in (f"{SNAPSHOT}|notes", "2026-09-01|notes"):
        first, second = (store.manifest("filtered", key) for store in stores)
        assert first.digest == second.digest


# ---- ui


def test_a_taken_port_is_refused_with_another(run, recipe):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        refused(run("ui", recipe, "--port", port), f"port {port} of 127.0.0.1 is taken", f"--port {port + 1}")
    refused(run("ui", recipe, "--port", 99999), "99999 is not in the range")


# ---- verify


def test_sound_products_are_verified_from_root_product_and_partition(run, built):
    root = built / "data"
    sizes = []
    for folder in (root, root / "filtered", root / "filtered" / f"snapshot={SNAPSHOT}" / "source=notes"):
        result = run("verify", folder)
        assert result.exit_code == 0, result.output
        assert "0 damaged, 0 strays" in result.stdout
        sizes.append(int(result.stdout.split(" files sound")[0].replace(",", "")))
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] == sum(1 for p in root.rglob("*") if p.is_file())


def test_a_folder_without_products_is_refused(run, built):
    refused(run("verify", built / "notes"), "holds no manifest.json; name the recipe's root")
    refused(run("verify", built / "nope"), "nope: no such folder")
    refused(run("verify", built / "recipe.yaml"), "is a file; name the recipe's root")
    refused(run("verify", "nowhere://x"), "nowhere://x cannot be opened")


def flip(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)


DAMAGES = [
    ("filtered/*/source=notes/part-*.parquet", flip, "sha256"),
    ("tokenized/*/source=notes/part-*.bin", Path.unlink, "missing;"),
    ("duplicates/*/manifest.json", flip, "manifest.json"),
    ("mixed/pretrain/*/val/*.idx", lambda f: f.write_bytes(f.read_bytes()[:-1]), "bytes, wanted"),
    ("mixed/pretrain/latest", flip, "where no manifest lies"),
    ("dropped/stage=deduped/*/source=notes/*.parquet", flip, "sha256"),
]


def test_each_damage_is_found_and_named_and_the_message_mends_it(run, copy):
    before = {f.name for f in verify(str(copy / "data"))}
    files = {min((copy / "data").glob(pattern)): (damage, said) for pattern, damage, said in DAMAGES}
    for file, (damage, _) in files.items():
        damage(file)
    result = run("verify", copy / "data")
    assert result.exit_code == 1
    lines = [line for line in result.stdout.splitlines() if line.startswith("damaged: ")]
    assert len(lines) == len(files)
    for file, (_, said) in files.items():
        (line,) = (line for line in lines if f" {file}:" in line)
        assert said in line
    assert "remove the damaged files, then `dataassets build`" in result.stderr
    for file in files:
        file.unlink(missing_ok=True)
    assert run("build", copy / "recipe.yaml").exit_code == 0
    assert run("verify", copy / "data").exit_code == 0
    assert {f.name for f in verify(str(copy / "data"))} == before


def test_a_stray_is_told_but_is_no_damage_and_gc_removes_it(run, copy):
    stray = copy / "data" / "raw" / f"snapshot={SNAPSHOT}" / "source=notes" / "notes.txt"
    stray.write_text("x" * 10)
    result = run("verify", copy / "data")
    assert (result.exit_code, "1 stray" in result.stdout) == (0, True)
    listed = run("gc", copy / "recipe.yaml")
    assert listed.stdout == f"{stray}\n1 file, 10 B to remove; --delete removes them\n"
    assert stray.exists()
    assert run("gc", copy / "recipe.yaml", "--delete").stdout == f"{stray}\n1 file, 10 B removed\n"
    assert not stray.exists()
    assert run("gc", copy / "recipe.yaml").stdout == "0 files, 0 B to remove\n"


# ---- gc


def test_gc_lists_the_old_build_of_a_mix_and_sources_that_left_the_recipe(run, copy):
    recipe = copy / "recipe.yaml"
    mixes = yaml.safe_load(recipe.read_text())["mixes"]
    mixes["pretrain"]["seed"] = 2
    Work(load(change(recipe, mixes=mixes)), executor=Executor("inline")).run("mixed", "pretrain")
    new = (copy / "data/mixed/pretrain/latest").read_text().strip()
    lines = run("gc", recipe).stdout.splitlines()[:-1]
    assert lines
    assert all("/mixed/pretrain/" in line and f"/{new}/" not in line for line in lines)
    sources = {"notes": yaml.safe_load(recipe.read_text())["sources"]["notes"]}
    change(recipe, sources=sources, mixes={})
    lines = run("gc", recipe).stdout.splitlines()[:-1]
    assert all("source=books" in line or "/mixed/" in line for line in lines)
    assert any("source=books" in line for line in lines)


def test_gc_never_touches_what_is_not_a_product(run, tmp_path):
    write_corpus(tmp_path)
    recipe = write_recipe(tmp_path, root=".")
    before = sorted(tmp_path.rglob("*"))
    assert run("gc", recipe, "--delete").stdout == "0 files, 0 B to remove\n".replace(" to remove", " removed")
    assert sorted(tmp_path.rglob("*")) == before
