"""Fixtures of all tests."""

from pathlib import Path

import pytest
from small_corpus import write_corpus, write_recipe

from dataassets.recipe import Located, load


@pytest.fixture
def corpus(tmp_path: Path) -> Located:
    """The small corpus and its recipe, nothing built."""
    write_corpus(tmp_path)
    return load(write_recipe(tmp_path))
