"""The rules, in the order in which they judge, and the measures, in the order of their signals; each is a module here.

A rule that needs signals of its own is a measure too. Adding one: a model in `recipe/rules`, a module here, its name
in RULES and, where it measures, in MEASURES. One that removes lines names the column of those it keeps in LINES.
Filters of the user's own are one measure and a rule each.
"""

from functools import cache
from importlib import import_module
from typing import cast

from dataassets.recipe import Filter
from dataassets.stages.filter.rule import Measure, Ranked, Rule
from dataassets.stages.filter.rules.custom import CustomRule

RULES = (
    "url",
    "length",
    "language",
    "gopher_repetition",
    "gopher_quality",
    "c4",
    "fineweb",
    "line_filter",
    "code",
    "toxicity",
    "perplexity",
    "quality",
    "decontamination",
)
MEASURES = ("language", "standard", "url", "line_filter", "code", "toxicity", "perplexity", "quality",
            "decontamination", "custom")  # fmt: skip
RANKED = ("perplexity", "quality")  # those that may keep a share of a partition


@cache
def rule(name: str) -> Rule:
    """A rule by its name.

    Args:
        name: one of RULES.
    """
    return cast(Rule, import_module(f"{__name__}.{name}"))


def judging(settings: Filter) -> dict[str, Rule]:
    """The rules that are on, by the name that reasons begin with, in judging order, the user's own last.

    Args:
        settings: of the stage.
    """
    own = {name: CustomRule(name, custom) for name, custom in settings.custom.items()}
    return {name: rule(name) for name in RULES if getattr(settings, name) is not None} | own


@cache
def measure(name: str) -> Measure:
    """A measure by its name.

    Args:
        name: one of MEASURES.
    """
    return cast(Measure, import_module(f"{__name__}.{name}"))


def ranked(settings: Filter) -> dict[str, Ranked]:
    """The rules that keep a share of a partition, by name, in judging order.

    Args:
        settings: of the documents of one kind.
    """
    found = {name: cast(Ranked, import_module(f"{__name__}.{name}")) for name in RANKED}
    return {name: rule for name, rule in found.items() if rule.ranked(settings)}
