"""The data road for LLM pre-training: raw crawl to mixed token shards, as partitioned Dagster assets.

In a notebook, `dataassets.open("recipe.yaml").table("filtered", "2026-10-01|web")` gives what was built.
"""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataassets.runner.opened import Opened

__all__ = ["open"]


def open(recipe: str | Path) -> "Opened":
    """Open the built products of a recipe.

    Args:
        recipe: its YAML file.

    Returns:
        Tables and manifests by product and partition key.

    Raises:
        RecipeError: the recipe is wrong.
    """
    from dataassets.runner.opened import Opened

    return Opened(recipe)
