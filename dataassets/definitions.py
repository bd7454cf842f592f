"""The one door for Dagster: the recipe's graph, checks, schedule and runner as one code location.

The recipe is $DATAASSETS_RECIPE, else ./recipe.yaml, else the built-in demo's. Nothing heavy is imported here.
"""

import dagster as dg

from dataassets import recipe
from dataassets.defs.assets import graph
from dataassets.defs.automation import automation
from dataassets.defs.partitions import Partitions
from dataassets.runner import Work


def definitions(work: Work) -> dg.Definitions:
    """All that Dagster needs for one recipe.

    Args:
        work: the runner of the recipe.
    """
    partitions = Partitions.of(work.corpus)
    schedules, sensors = automation(work.corpus)
    return dg.Definitions(
        assets=graph(partitions),
        schedules=schedules,
        sensors=sensors,
        resources={"work": work},
        executor=dg.in_process_executor,
    )


@dg.definitions
def defs() -> dg.Definitions:
    """The code location of this process's recipe."""
    return definitions(Work(recipe.find_or_demo()))
