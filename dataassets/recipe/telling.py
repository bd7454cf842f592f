"""What pydantic found, told to a person who wrote YAML: key path, value met, value wanted, mend."""

import difflib
import re
from collections.abc import Callable, Iterator
from typing import Any, get_args, get_origin

from pydantic import BaseModel
from pydantic_core import ErrorDetails

from dataassets.recipe.model import Recipe

_NAMED = re.compile(r"(\w+)( = .*)")
_WANTED: dict[str, str] = {
    "tuple_type": "a list is wanted; put it in [ ]",
    "model_type": "a mapping is wanted; write {key: value}, or leave it out",
    "dict_type": "a mapping is wanted; write {key: value}",
    "int_parsing": "a whole number is wanted, such as 1_000_000 (YAML reads 1e6 as text)",
    "int_type": "a whole number is wanted, such as 1_000_000",
    "int_from_float": "a whole number is wanted, such as 1_000_000",
    "float_parsing": "a number is wanted, such as 0.5",
    "float_type": "a number is wanted, such as 0.5",
    "finite_number": "a finite number is wanted; take a large one",
    "bool_parsing": "true or false is wanted",
    "bool_type": "true or false is wanted",
    "string_type": "text is wanted; write it in quotes, or leave the key out",
    "invalid_key": "a key must be text; write it in quotes",
    "too_short": "at least one entry is wanted",
}


def told(error: ErrorDetails) -> Iterator[str]:
    """One line for each mistake in an error of the model `Recipe`.

    Args:
        error: as pydantic tells it.

    >>> list(told({"type": "missing", "loc": ("root",), "msg": "Field required", "input": {}}))
    ['root: missing; give where products go: a folder relative to the recipe, or an fsspec URL']
    """
    loc = tuple(part for part in error["loc"] if part != "[key]")
    path = ".".join(str(part) for part in loc)
    if error["type"] == "value_error":
        for line in error["msg"].removeprefix("Value error, ").splitlines():
            yield _placed(path, line)
    elif error["type"] == "missing":
        field = _fields(loc[:-1]).get(str(loc[-1]))
        yield f"{path}: missing; give {(field and field.description) or 'it'}"
    else:
        yield f"{path} = {_short(error['input'])}: {_wanted(error, loc)}"


def _placed(path: str, line: str) -> str:
    """A line of a validator, which names keys from its own place on, with the whole path before it."""
    if not path:
        return line
    if named := _NAMED.fullmatch(line):
        key, rest = named.groups()
        return f"{path}{rest}" if path.rpartition(".")[2] == key else f"{path}.{key}{rest}"
    return f"{path}: {line}"


def _wanted(error: ErrorDetails, loc: tuple[int | str, ...]) -> str:
    if error["type"] == "extra_forbidden":
        known = list(_fields(loc[:-1]))
        near = difflib.get_close_matches(str(loc[-1]), known, n=1)
        return f"no such key; did you mean {near[0]}?" if near else f"no such key; take one of {known}"
    if "[key]" in error["loc"]:
        return _WANTED["invalid_key"]
    if error["type"] in _WANTED:
        return _WANTED[error["type"]]
    said = error["msg"].removeprefix("Input should be ")
    return f"take {said}" if said.startswith("'") else f"take a value {said}"


def _short(value: object) -> str:
    """A value as it reads in YAML, cut where it is long."""
    plain: dict[type, Callable[[Any], str]] = {bool: lambda v: str(v).lower(), type(None): lambda _: "null"}
    text = plain.get(type(value), repr)(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _fields(loc: tuple[int | str, ...]) -> dict[str, Any]:
    """Keys of the model that stands at a place in the recipe, and what they are."""
    here: Any = Recipe
    for part in loc:
        if isinstance(here, type) and issubclass(here, BaseModel):
            here = {f.alias or name: f.annotation for name, f in here.model_fields.items()}.get(str(part))
        elif get_origin(here) in (dict, tuple):
            here = get_args(here)[-1 if get_origin(here) is dict else 0]
        if models := [a for a in get_args(here) if isinstance(a, type) and issubclass(a, BaseModel)]:
            here = here if get_origin(here) in (dict, tuple) else models[0]
    return {f.alias or name: f for name, f in here.model_fields.items()} if hasattr(here, "model_fields") else {}
