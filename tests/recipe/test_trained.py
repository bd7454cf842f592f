"""Recipes with models: written out and read again they are the same; languages may ask in their own way."""

import copy

import pytest
import yaml

from dataassets.recipe import RecipeError, as_yaml, parse

BASE = {
    "root": "./data",
    "snapshots": {"start": "2026-08-01", "cadence": "monthly"},
    "sources": {name: {"format": "text", "paths": [f"{name}/*"]} for name in ("web", "books")},
    "quality_model": {"positive": ["books"], "negative": ["web"], "snapshots": {"to": "2026-08-01"}},
    "perplexity_model": {"sources": ["books"], "prune": [0, 1]},
}
FILTERS = [
    {"quality": {}, "perplexity": {}},
    {"quality": {"min_score": 0.1}, "perplexity": {"max": 900}},
    {"quality": {"keep_fraction": 0.1}, "perplexity": {"limits": {"head": 200, "tail": 600}, "keep": ["head"]}},
    {"quality": {"model": "a.bin"}, "perplexity": {"model": "b.bin", "fractions": {"head": 0.1, "tail": 0.2}}},
    {"quality": {"keep_fraction": 0.1}, "languages": {"de": {"quality": {"keep_fraction": None, "min_score": 0.2}}}},
]


@pytest.mark.parametrize("rules", FILTERS)
def test_a_recipe_written_out_is_the_same_recipe(rules):
    recipe = parse(copy.deepcopy(BASE) | {"filter": rules}, where="x")
    assert parse(yaml.safe_load(as_yaml(recipe)), where="y") == recipe


def test_a_language_that_asks_for_a_model_of_its_own_needs_one():
    data = {k: v for k, v in copy.deepcopy(BASE).items() if k != "quality_model"}
    data["filter"] = {"quality": {"model": "a.bin"}, "languages": {"de": {"quality": {"model": None}}, "fr": {}}}
    with pytest.raises(RecipeError) as met:
        parse(data, where="x")
    assert str(met.value) == (
        "x: filter.languages.de.quality.model: left out, and nothing trains one; name a file or add quality_model"
    )
