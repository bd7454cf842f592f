"""Fixtures of all tests."""

from pathlib import Path

import pytest
from hypothesis import settings
from small_corpus import write_corpus, write_recipe

from dataassets.recipe import Located, load

# A law does not depend on how busy the machine is; kernels compile within a test's first example.
settings.register_profile("steady", deadline=None)
settings.load_profile("steady")


@pytest.fixture
def corpus(tmp_path: Path) -> Located:
    """The small corpus and its recipe, nothing built."""
    write_corpus(tmp_path)
    return load(write_recipe(tmp_path))
