"""Every knob of the road: frozen pydantic models, read from YAML."""

from dataassets.recipe.changing import Change, Changed, changed
from dataassets.recipe.checks import Checks, LanguageDrift, Retention, RuleDrop
from dataassets.recipe.errors import RecipeError
from dataassets.recipe.load import DEMO_FOLDER, RECIPE_ENV, Located, demo_text, find_or_demo, load, parse
from dataassets.recipe.model import Clean, Compute, Dedup, Fields, MaxBad, MinHash, Mix, Recipe, Source, Tokenize
from dataassets.recipe.rules import (
    C4,
    Code,
    Custom,
    Decontamination,
    Filter,
    FineWeb,
    GopherQuality,
    GopherRepetition,
    Language,
    Length,
    LineFilter,
    Signal,
    Toxicity,
    Url,
)
from dataassets.recipe.snapshots import Snapshots
from dataassets.recipe.written import as_yaml

__all__ = [
    "C4",
    "DEMO_FOLDER",
    "RECIPE_ENV",
    "Change",
    "Changed",
    "Checks",
    "Clean",
    "Code",
    "Compute",
    "Custom",
    "Decontamination",
    "Dedup",
    "Fields",
    "Filter",
    "FineWeb",
    "GopherQuality",
    "GopherRepetition",
    "Language",
    "LanguageDrift",
    "Length",
    "LineFilter",
    "Located",
    "MaxBad",
    "MinHash",
    "Mix",
    "Recipe",
    "RecipeError",
    "Retention",
    "RuleDrop",
    "Signal",
    "Snapshots",
    "Source",
    "Tokenize",
    "Toxicity",
    "Url",
    "as_yaml",
    "changed",
    "demo_text",
    "find_or_demo",
    "load",
    "parse",
]
