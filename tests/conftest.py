"""Fixtures of all tests."""

from pathlib import Path

import pytest
from hypothesis import settings
from small_corpus import write_corpus, write_recipe

from dataassets.recipe import Located, load

# A law does not depend on how busy the machine is; kernels compile within a test's first example.
settings.register_profile("steady", deadline=None)
settings.load_profile("steady")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Slow tests first: beside the one that waits for a daemon, the second worker does the rest."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)


@pytest.fixture
def corpus(tmp_path: Path) -> Located:
    """The small corpus and its recipe, nothing built."""
    write_corpus(tmp_path)
    return load(write_recipe(tmp_path))
