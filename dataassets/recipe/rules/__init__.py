"""Knobs of the filter's rules, a model each."""

from dataassets.recipe.rules.code import Code
from dataassets.recipe.rules.custom import Custom, Signal
from dataassets.recipe.rules.decontamination import Decontamination
from dataassets.recipe.rules.filter import Filter
from dataassets.recipe.rules.line_filter import LineFilter
from dataassets.recipe.rules.published import C4, FineWeb, GopherQuality, GopherRepetition, Language, Length
from dataassets.recipe.rules.toxicity import Toxicity
from dataassets.recipe.rules.url import Url

__all__ = [
    "C4",
    "Code",
    "Custom",
    "Decontamination",
    "Filter",
    "FineWeb",
    "GopherQuality",
    "GopherRepetition",
    "Language",
    "Length",
    "LineFilter",
    "Signal",
    "Toxicity",
    "Url",
]
