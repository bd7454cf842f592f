"""Where Dagster keeps its runs: $DAGSTER_HOME, else `.dagster` beside the recipe."""

import os
from pathlib import Path

import dagster as dg
import yaml

from dataassets.recipe import RECIPE_ENV, Located, RecipeError

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

# A build prints to the terminal itself. Dagster's capture would hold it back in files, mirrored once a second by
# processes of its own, which Ctrl-C kills with tracebacks.
_NO_CAPTURE = {
    "compute_logs": {"module": "dagster._core.storage.noop_compute_log_manager", "class": "NoOpComputeLogManager"}
}


def enter(located: Located) -> Path:
    """Make this process and its children see the recipe and its DAGSTER_HOME.

    Args:
        located: the recipe.

    Returns:
        The folder of DAGSTER_HOME, with a dagster.yaml in it.

    Raises:
        RecipeError: the folder cannot be made or written.
    """
    named = os.environ.get("DAGSTER_HOME")
    home = Path(named).expanduser().absolute() if named else located.file.resolve().parent / ".dagster"
    config = home / "dagster.yaml"
    try:
        home.mkdir(parents=True, exist_ok=True)
        if not config.exists():
            config.write_text(_DAGSTER_YAML, encoding="utf-8")
    except OSError as error:
        raise RecipeError(
            f"{home}: Dagster's runs cannot be kept there ({error.strerror}); "
            "set DAGSTER_HOME to a folder that may be written"
        ) from error
    os.environ["DAGSTER_HOME"] = str(home)
    os.environ[RECIPE_ENV] = str(located.file.resolve())
    return home


def instance() -> dg.DagsterInstance:
    """The instance of the DAGSTER_HOME that was entered, without capture of what steps print.

    Raises:
        RecipeError: its dagster.yaml is wrong.
    """
    home = os.environ["DAGSTER_HOME"]
    try:
        return dg.DagsterInstance.local_temp(home, overrides=_NO_CAPTURE)  # "temp" in name only: it keeps everything
    except (dg.DagsterError, yaml.YAMLError) as error:
        said = " ".join(str(error).split())[:300]
        raise RecipeError(f"{home}/dagster.yaml: {said} …; mend that file, or remove it for the default") from error
