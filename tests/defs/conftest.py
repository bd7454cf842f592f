"""Dagster's graph of a recipe, without Dagster's own notices."""

import warnings
from collections.abc import Callable

import dagster as dg
import pytest

from dataassets.definitions import definitions
from dataassets.runner import Work


def _definitions_of(work: Work) -> dg.Definitions:
    with warnings.catch_warnings():
        for category in (dg.PreviewWarning, dg.BetaWarning):  # partitioned checks and automation sensors
            warnings.simplefilter("ignore", category)
        made = definitions(work)
        made.resolve_asset_graph()
        made.get_repository_def()
        return made


@pytest.fixture(scope="session")
def definitions_of() -> Callable[[Work], dg.Definitions]:
    """`definitions_of(work)`: all that Dagster is given for the recipe of a runner."""
    return _definitions_of
