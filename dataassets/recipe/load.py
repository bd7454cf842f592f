"""YAML to recipe, with errors that name file, key path, value, what was wanted and the mend."""

import difflib
import importlib.resources
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args, get_origin

import yaml
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from dataassets.recipe.errors import RecipeError
from dataassets.recipe.model import Recipe

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


def load(file: str | Path) -> Located:
    """Read a recipe.

    Args:
        file: a YAML file.

    Raises:
        RecipeError: the file is not there, is no YAML, or holds a wrong key or value.
    """
    file = Path(file)
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise RecipeError(
            f"{file}: no such recipe; write one (README, 'Your own data') or run `dataassets demo`"
        ) from None
    except (OSError, UnicodeDecodeError) as e:
        raise RecipeError(f"{file}: cannot be read as a UTF-8 file ({e}); name the recipe's YAML file") from e
    try:
        data = yaml.load(text, Loader=_UniqueKeys)
    except yaml.YAMLError as e:
        raise RecipeError(f"{file}: not YAML: {e}") from e
    return Located(parse(data, where=str(file)), file)


def parse(data: object, *, where: str) -> Recipe:
    """Check plain data as a recipe.

    Args:
        data: what YAML gave.
        where: the file, for errors.

    Raises:
        RecipeError: a wrong key or value; every mistake is listed.
    """
    if not isinstance(data, dict):
        raise RecipeError(f"{where}: a recipe is a mapping with root, snapshots and sources, not {type(data).__name__}")
    try:
        return Recipe.model_validate(data)
    except ValidationError as e:
        lines = [f"{where}: {_told(error)}" for error in e.errors(include_url=False)]
        raise RecipeError("\n".join(lines)) from None


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
            key = self.construct_object(key_node, deep=deep)
            if key in seen:
                raise yaml.constructor.ConstructorError(None, None, f"key {key!r} stands twice", key_node.start_mark)
            seen.add(key)
        return super().construct_mapping(node, deep)


def _told(error: ErrorDetails) -> str:
    path = ".".join(str(part) for part in error["loc"] if part != "[key]")
    met = error["input"]
    if error["type"] == "extra_forbidden":
        known = _known_keys(error["loc"][:-1])
        near = difflib.get_close_matches(str(error["loc"][-1]), known, n=1)
        mend = f"did you mean {near[0]}?" if near else f"take one of {known}"
        return f"{path} = {_short(met)}: no such key; {mend}"
    if error["type"] == "missing":
        return f"{path}: missing; it must be given"
    said = error["msg"].removeprefix("Value error, ")
    if error["type"] == "value_error" and path:
        return f"{path}: {said}"
    return f"{path} = {_short(met)}: {said[:1].lower()}{said[1:]}" if path else said


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _known_keys(loc: tuple[int | str, ...]) -> list[str]:
    """Keys of the model that stands at a place in the recipe."""
    here: Any = Recipe
    for part in loc:
        if isinstance(here, type) and issubclass(here, BaseModel):
            here = {f.alias or name: f.annotation for name, f in here.model_fields.items()}.get(str(part))
        elif get_origin(here) in (dict, tuple):
            here = get_args(here)[-1 if get_origin(here) is dict else 0]
        if models := [a for a in get_args(here) if isinstance(a, type) and issubclass(a, BaseModel)]:
            here = here if get_origin(here) in (dict, tuple) else models[0]
    return [f.alias or name for name, f in here.model_fields.items()] if hasattr(here, "model_fields") else []
