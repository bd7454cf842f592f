"""The rules, in the order in which they judge, and the measures, in the order of their signals; each is a module here.

A rule that needs signals of its own is a measure too. Adding one: a model in `recipe/rules`, a module here, its name
in RULES and, where it measures, in MEASURES. One that removes lines names the column of those it keeps in LINES.
"""

from importlib import import_module
from typing import cast

from dataassets.stages.filter.rule import Measure, Rule

RULES = (
    "length",
    "language",
    "gopher_repetition",
    "gopher_quality",
    "c4",
    "fineweb",
    "line_filter",
    "code",
)
MEASURES = ("language", "standard", "line_filter", "code")


def rule(name: str) -> Rule:
    """A rule by its name.

    Args:
        name: one of RULES.
    """
    return cast(Rule, import_module(f"{__name__}.{name}"))


def measure(name: str) -> Measure:
    """A measure by its name.

    Args:
        name: one of MEASURES.
    """
    return cast(Measure, import_module(f"{__name__}.{name}"))
