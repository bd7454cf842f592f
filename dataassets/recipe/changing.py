"""A recipe with some keys of its filters written otherwise, to try them; the file stays as it is."""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import yaml
from pydantic import BaseModel

from dataassets.recipe.errors import RecipeError
from dataassets.recipe.load import Located, parse, read, read_yaml


@dataclass(frozen=True)
class Change:
    """One key, written otherwise.

    Args:
        key: its path, such as filter.gopher_quality.min_words or sources.web.filter.length.min.
        value: plain data.
        is_removed: the key is left out instead.
    """

    key: str
    value: object = None
    is_removed: bool = False

    @classmethod
    def of(cls, text: str) -> "Change":
        """A change as it is written on the command line, its value in YAML.

        Args:
            text: KEY=VALUE.

        Raises:
            RecipeError: it is not of that form, or the value is no YAML.

        >>> Change.of("filter.language.keep=[en, de]").value
        ['en', 'de']
        """
        key, equals, value = text.partition("=")
        if not (key and equals):
            raise RecipeError(f"{text!r}: no KEY=VALUE; write such as filter.gopher_quality.min_words=80")
        return cls(key, read_yaml(value, where=text))

    def __str__(self) -> str:
        return f"no {self.key}" if self.is_removed else f"{self.key}={inline(self.value)}"


def inline(value: object) -> str:
    """Plain data as YAML on one line.

    >>> inline({"min": 5}), inline(0.3)
    ('{min: 5}', '0.3')
    """
    return yaml.safe_dump(value, default_flow_style=True, sort_keys=False, width=10**6).removesuffix("...\n").strip()


@dataclass(frozen=True)
class Changed:
    """A recipe as changes make it.

    Args:
        located: the recipe and the file that it would stand in.
        data: plain, as YAML would hold it.
    """

    located: Located
    data: Mapping[str, Any]

    def section(self, change: Change) -> str:
        """What to write into the recipe to keep a change: the rule that it is in, whole.

        Args:
            change: one of those made.
        """
        parts = change.key.split(".")
        depth = 2 if parts[0] == "filter" else 3  # a source's own filter replaces the recipe's: it is shown whole
        here: Any = self.data
        for part in parts[:depth]:
            here = here.get(part) if isinstance(here, dict) else None
        path = ".".join(parts[:depth])
        return f"leave out {path}" if here is None else f"{path}: {inline(here)}"


def changed(located: Located, changes: Sequence[Change]) -> Changed:
    """Write some keys of the filters otherwise.

    A source without a filter of its own gets a copy of the recipe's to be changed. An entry of a mapping or list that
    the recipe leaves at its default changes that default's entry alone.

    Args:
        located: a recipe read from its file.
        changes: made one after the other.

    Raises:
        RecipeError: a key is not under a filter, or the recipe is wrong with the changes made.
    """
    data = read(located.file)
    assert isinstance(data, dict), "it was read as a recipe"
    data = deepcopy(data)  # what an anchor shares is changed in one place alone
    for change in changes:
        _write(data, located, change)
    where = f"{located.file} with {', '.join(map(str, changes))}"
    return Changed(Located(parse(data, where=where), located.file), data)


def _write(data: dict[str, Any], located: Located, change: Change) -> None:
    parts = change.key.split(".")
    if parts[0] == "sources" and len(parts) > 2 and parts[2] == "filter":
        _own_filter(data, parts[1], change)
    elif parts[0] != "filter":
        raise RecipeError(
            f"{change}: only filters are tried by their signals; take a key under filter or sources.<name>.filter"
        )
    here: Any = data
    model: object = located.recipe
    for at, part in enumerate(parts[:-1]):
        key, inner = _key(here, model, part), _inner(model, part)
        if isinstance(here, dict) and here.get(key) is None:
            here[key] = _default(inner)
        here, model = _entry(here, key, change=change), inner
        if not isinstance(here, dict | list):
            path = ".".join(parts[: at + 1])
            raise RecipeError(f"{change}: {path} is {inline(here)}, which has no keys; change it itself")
    key = _key(here, model, parts[-1])
    if not change.is_removed and isinstance(here, dict):
        here[key] = change.value
        return
    _entry(here, key, change=change)
    if change.is_removed:
        del here[key]
    else:
        here[key] = change.value


def _own_filter(data: dict[str, Any], source: str, change: Change) -> None:
    sources = data["sources"]
    if source not in sources:
        raise RecipeError(f"{change}: no source {source!r}; take one of {sorted(sources)}")
    if sources[source].get("filter") is None:
        sources[source]["filter"] = deepcopy(data.get("filter") or {})


def _entry(here: Any, key: Any, *, change: Change) -> Any:  # noqa: ANN401 - plain data
    """What a mapping or list holds at a key."""
    keys = list(here) if isinstance(here, dict) else list(range(len(here)))
    if key not in keys:
        preset = f"; what a preset brings is left out by --set {change.key}=null" if "preset" in keys else ""
        raise RecipeError(f"{change}: the recipe writes no {key} there; take one of {keys}{preset}")
    return here[key]


def _key(here: object, model: object, part: str) -> str | int:
    """A part of a path as the key that it names: entries of lists, and of mappings by number, have numbers."""
    by_number = isinstance(here, list) or (isinstance(model, Mapping) and any(isinstance(k, int) for k in model))
    return int(part) if by_number and part.isdigit() else part


def _inner(model: object, part: str) -> object:
    """The checked value at a part of a path; None where there is none."""
    if isinstance(model, BaseModel):
        return getattr(model, part, None)
    if isinstance(model, Mapping):
        return model.get(part)
    if isinstance(model, Sequence) and part.isdigit() and int(part) < len(model):
        return model[int(part)]
    return None


def _default(inner: object) -> Any:  # noqa: ANN401 - plain data
    """What stands at a key that is not written: the entries of a mapping or list of plain values, else none."""
    if isinstance(inner, Mapping) and not any(isinstance(own, BaseModel) for own in inner.values()):
        return dict(inner)
    return list(inner) if isinstance(inner, tuple) else {}
