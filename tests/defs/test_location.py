"""The code location: light to import, valid, and found through workspace.yaml."""

import os
import subprocess
import sys
from pathlib import Path

import yaml

REPOSITORY = Path(__file__).parents[2]
HEAVY = ("numba", "torch", "fasttext", "gigatoken", "tiktoken", "resiliparse", "fastwarc", "datasketch")


def clean_environment(home, **more):
    kept = {k: v for k, v in os.environ.items() if k not in ("DATAASSETS_RECIPE", "DAGSTER_HOME", "PYTHONWARNINGS")}
    return kept | {"DAGSTER_HOME": str(home)} | more


def test_importing_the_definitions_imports_no_engine(tmp_path):
    code = (
        "import sys, dataassets.definitions as d, dagster as dg\n"
        "assert len(d.defs().resolve_asset_graph().get_all_asset_keys()) == 9\n"
        f"print([name for name in {HEAVY} if name in sys.modules])"
    )
    ended = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        cwd=tmp_path,
        env=clean_environment(tmp_path),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.returncode, ended.stdout.strip()) == (0, "[]"), ended.stderr


def test_the_workspace_names_the_location_and_dagster_validates_it(tmp_path):
    (place,) = yaml.safe_load((REPOSITORY / "workspace.yaml").read_text())["load_from"]
    assert place["python_module"]["module_name"] == "dataassets.definitions"
    command = [sys.executable, "-m", "dagster", "definitions", "validate", "-w", str(REPOSITORY / "workspace.yaml")]
    environment = clean_environment(tmp_path)
    ended = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    said = ended.stdout + ended.stderr
    assert ended.returncode == 0, said
    assert "Validation successful for code location dataassets" in said


def test_a_wrong_recipe_is_what_dagster_says_of_the_location(tmp_path):
    recipe = tmp_path / "recipe.yaml"
    recipe.write_text("root: x\nsnapshots: {start: 2026-10-02}\nsources: {}\n")
    code = "from dataassets.definitions import defs\ndefs()"
    environment = clean_environment(tmp_path, DATAASSETS_RECIPE=str(recipe))
    ended = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 1
    assert f"{recipe}: snapshots" in ended.stderr
