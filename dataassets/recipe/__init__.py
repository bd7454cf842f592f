"""Every knob of the road: frozen pydantic models, read from YAML."""

from dataassets.recipe.errors import RecipeError
from dataassets.recipe.load import DEMO_FOLDER, RECIPE_ENV, Located, demo_text, find_or_demo, load, parse
from dataassets.recipe.model import Clean, Compute, Dedup, Fields, MaxBad, MinHash, Mix, Recipe, Source, Tokenize
from dataassets.recipe.rules import (
    C4,
    Code,
    Filter,
    FineWeb,
    GopherQuality,
    GopherRepetition,
    Language,
    Length,
    LineFilter,
)
from dataassets.recipe.snapshots import Snapshots
from dataassets.recipe.written import as_yaml

__all__ = [
    "C4",
    "DEMO_FOLDER",
    "RECIPE_ENV",
    "Clean",
    "Code",
    "Compute",
    "Dedup",
    "Fields",
    "Filter",
    "FineWeb",
    "GopherQuality",
    "GopherRepetition",
    "Language",
    "Length",
    "LineFilter",
    "Located",
    "MaxBad",
    "MinHash",
    "Mix",
    "Recipe",
    "RecipeError",
    "Snapshots",
    "Source",
    "Tokenize",
    "as_yaml",
    "demo_text",
    "find_or_demo",
    "load",
    "parse",
]
