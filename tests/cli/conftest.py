"""The small corpus, built once by the real command, and the command line as a function."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from small_corpus import SNAPSHOTS, write_corpus, write_recipe

from dataassets.cli import cli
from dataassets.recipe import RECIPE_ENV

Run = Callable[..., Result]


def _run(*arguments: object) -> Result:
    """Run a command in this process; what it sets in the environment is undone, a traceback fails the test."""
    before = {name: os.environ.get(name) for name in ("DAGSTER_HOME", RECIPE_ENV)}
    try:
        result = CliRunner().invoke(cli, [str(a) for a in arguments])
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert "Traceback" not in result.output
    return result


@pytest.fixture(scope="session")
def run() -> Run:
    """`run("plan", recipe)` runs `dataassets plan RECIPE`."""
    return _run


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with the small corpus, its recipe and everything that `build` makes of it; for reading only."""
    folder = tmp_path_factory.mktemp("built")
    write_corpus(folder, snapshots=SNAPSHOTS[:2])
    window = {"start": SNAPSHOTS[0], "end": SNAPSHOTS[1], "cadence": "monthly"}
    result = _run("build", write_recipe(folder, snapshots=window))
    assert result.exit_code == 0, result.output
    before = _sizes(folder)
    yield folder
    assert _sizes(folder) == before, "a test changed what is shared"


@pytest.fixture
def copy(built: Path, tmp_path: Path) -> Path:
    """A copy of it, to be damaged."""
    return Path(shutil.copytree(built, tmp_path / "copy"))


def _sizes(folder: Path) -> dict[str, int]:
    files = (p for top in ("data", "notes", "books") for p in (folder / top).rglob("*"))
    return {str(p): p.stat().st_size for p in files if p.is_file()}
