"""Where Dagster keeps its runs: $DAGSTER_HOME, else `.dagster` beside the recipe."""

import os
from pathlib import Path

from dataassets.recipe import RECIPE_ENV, Located

# SQLite takes about four writers; telemetry would look for a network, nux asks for an address.
_DAGSTER_YAML = """\
telemetry:
  enabled: false
nux:
  enabled: false
concurrency:
  runs:
    max_concurrent_runs: 2
"""


def enter(located: Located) -> Path:
    """Make this process and its children see the recipe and its DAGSTER_HOME.

    Args:
        located: the recipe.

    Returns:
        The folder of DAGSTER_HOME, with a dagster.yaml in it.
    """
    home = Path(os.environ.get("DAGSTER_HOME") or located.file.resolve().parent / ".dagster")
    home.mkdir(parents=True, exist_ok=True)
    config = home / "dagster.yaml"
    if not config.exists():
        config.write_text(_DAGSTER_YAML, encoding="utf-8")
    os.environ["DAGSTER_HOME"] = str(home)
    os.environ[RECIPE_ENV] = str(located.file.resolve())
    return home
