"""Every knob of the road: frozen pydantic models, read from YAML."""

from dataassets.recipe.errors import RecipeError
from dataassets.recipe.load import DEMO_FOLDER, RECIPE_ENV, Located, demo_text, find_or_demo, load, parse
from dataassets.recipe.model import Clean, Compute, Dedup, Fields, MaxBad, MinHash, Mix, Recipe, Source, Tokenize
from dataassets.recipe.rules import C4, Filter, FineWeb, GopherQuality, GopherRepetition, Language, Length
from dataassets.recipe.snapshots import Snapshots
from dataassets.recipe.written import as_yaml

__all__ = [
    "C4",
    "DEMO_FOLDER",
    "RECIPE_ENV",
    "Clean",
    "Compute",
    "Dedup",
    "Fields",
    "Filter",
    "FineWeb",
    "GopherQuality",
    "GopherRepetition",
    "Language",
    "Length",
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
