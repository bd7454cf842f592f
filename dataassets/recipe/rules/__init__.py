"""Knobs of the filter's rules, a model each."""

from dataassets.recipe.rules.code import Code
from dataassets.recipe.rules.filter import Filter
from dataassets.recipe.rules.line_filter import LineFilter
from dataassets.recipe.rules.published import C4, FineWeb, GopherQuality, GopherRepetition, Language, Length

__all__ = ["C4", "Code", "Filter", "FineWeb", "GopherQuality", "GopherRepetition", "Language", "Length", "LineFilter"]
