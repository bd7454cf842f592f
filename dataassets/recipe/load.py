"""YAML to recipe, with errors that name file, key path, value, what was wanted and the mend."""

import importlib.resources
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from dataassets.recipe.base import WRITTEN, with_paths
from dataassets.recipe.errors import RecipeError
from dataassets.recipe.model import Recipe
from dataassets.recipe.rules import Filter
from dataassets.recipe.telling import told

RECIPE_ENV = "DATAASSETS_RECIPE"
DEMO_FOLDER = Path("demo")


@dataclass(frozen=True)
class Located:
    """A recipe and the file that it was read from; its relative paths start at that file's folder."""

    recipe: Recipe
    file: Path

    @property
    def root(self) -> str:
        """Where products go: an absolute folder, or an fsspec URL."""
        return self.resolve(self.recipe.root)

    def resolve(self, path: str) -> str:
        """A path of the recipe as an absolute path or URL.

        Args:
            path: relative to the recipe's folder, absolute, starting with ~, or a URL with ://.
        """
        if "://" in path:
            return path
        return os.path.normpath(self.file.resolve().parent / Path(path).expanduser())

    def filter_of(self, source: str) -> Filter:
        """The filter settings that hold for a source, the files that they name as absolute paths."""
        found: Filter = with_paths(self.recipe.filter_of(source), self.resolve)
        return found


def load(file: str | Path) -> Located:
    """Read a recipe.

    Args:
        file: a YAML file.

    Raises:
        RecipeError: the file is not there, is no YAML, or holds a wrong key or value.
    """
    file = Path(file)
    return Located(parse(read(file), where=str(file)), file)


def read(file: Path) -> object:
    """What a YAML file holds, before it is checked.

    Args:
        file: a recipe.

    Raises:
        RecipeError: the file is not there or is no YAML.
    """
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise RecipeError(
            f"{file}: no such recipe; write one (README, 'Your own data') or run `dataassets demo`"
        ) from None
    except (OSError, UnicodeDecodeError) as e:
        raise RecipeError(f"{file}: cannot be read as a UTF-8 file ({e}); name the recipe's YAML file") from e
    return read_yaml(text, where=str(file))


def read_yaml(text: str, *, where: str) -> object:
    """What YAML says; a key that stands twice is refused.

    Args:
        text: YAML.
        where: it stands, for errors.

    Raises:
        RecipeError: it is no YAML.
    """
    try:
        return yaml.load(text, Loader=_UniqueKeys)
    except (yaml.YAMLError, ValueError) as e:
        raise RecipeError(f"{where}: not YAML; mend the place that is named: {e}") from e


def parse(data: object, *, where: str) -> Recipe:
    """Check plain data as a recipe.

    Args:
        data: what YAML gave.
        where: the file, for errors.

    Raises:
        RecipeError: a wrong key or value; every mistake is listed (names that must agree once all else is right).
    """
    if not isinstance(data, dict):
        met = "nothing" if data is None else f"a {type(data).__name__}"
        raise RecipeError(f"{where}: holds {met}; a recipe is a mapping with root, snapshots and sources")
    try:
        return Recipe.model_validate(data, context=WRITTEN)
    except ValidationError as e:
        lines = [f"{where}: {line}" for error in e.errors(include_url=False) for line in told(error)]
        raise RecipeError("\n".join(dict.fromkeys(lines))) from None


def find_or_demo() -> Located:
    """The recipe of this process: $DATAASSETS_RECIPE, else ./recipe.yaml, else the demo's under ./demo.

    Raises:
        RecipeError: it is wrong, or $DATAASSETS_RECIPE names no file.
    """
    if named := os.environ.get(RECIPE_ENV):
        return load(named)
    here = Path("recipe.yaml")
    if here.exists():
        return load(here)
    demo = DEMO_FOLDER / "recipe.yaml"
    return Located(parse(yaml.safe_load(demo_text()), where="the demo's recipe"), demo)


def demo_text() -> str:
    """The demo's recipe as YAML, as it ships in this package."""
    return (importlib.resources.files("dataassets.recipe") / "demo.yaml").read_text(encoding="utf-8")


class _UniqueKeys(yaml.SafeLoader):
    """Refuses a key that a mapping holds twice, which YAML would silently let the last one win."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[Any] = set()
        for key_node, _ in node.value:
            if key_node.tag == "tag:yaml.org,2002:merge":  # <<: what it brings may be overridden
                continue
            if not isinstance(key_node, yaml.ScalarNode):
                raise yaml.constructor.ConstructorError(None, None, "a key must be a word", key_node.start_mark)
            key = self.construct_object(key_node, deep=deep)
            if key in seen:
                raise yaml.constructor.ConstructorError(None, None, f"key {key!r} stands twice", key_node.start_mark)
            seen.add(key)
        return super().construct_mapping(node, deep)


def _date_or_text(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> object:
    """A date; what only looks like one stays text, for the model to refuse by name."""
    try:
        return loader.construct_yaml_timestamp(node)
    except ValueError:
        return node.value


_UniqueKeys.add_constructor("tag:yaml.org,2002:timestamp", _date_or_text)
