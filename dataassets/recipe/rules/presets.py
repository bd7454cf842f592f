"""Presets: published settings of the filter by name, as `presets.yaml` beside the recipe's models has them.

A preset is no rule of its own: it expands to settings that are seen, changed and kept like written ones.
"""

import importlib.resources
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import yaml
from pydantic import BaseModel

Settings = Mapping[str, Any]  # of a filter: rule to its knobs, null where it is off


@lru_cache(maxsize=1)
def presets() -> dict[str, dict[str, Any]]:
    """All presets by name.

    >>> sorted(presets())
    ['basic', 'c4', 'dclm', 'fineweb', 'gopher', 'multilingual', 'none']
    """
    text = (importlib.resources.files("dataassets.recipe") / "presets.yaml").read_text(encoding="utf-8")
    found: dict[str, dict[str, Any]] = yaml.safe_load(text)
    return found


def preset(name: object) -> dict[str, Any]:
    """The settings of a preset.

    Args:
        name: what a recipe named.

    Raises:
        ValueError: there is none of this name.

    >>> preset("none")
    {}
    """
    if not isinstance(name, str) or name not in presets():
        raise ValueError(f"preset = {name}: no such preset; take one of {list(presets())}")
    return presets()[name]


def overlaid(base: Settings, own: Settings) -> dict[str, Any]:
    """Settings with others over them: knob by knob where both have a rule; a knob is replaced whole.

    Args:
        base: a rule is a mapping or a model.
        own: the same.

    >>> overlaid({"length": {"min": 1, "max": 9}, "words": "english"}, {"length": {"min": 2}, "c4": None})
    {'length': {'min': 2, 'max': 9}, 'words': 'english', 'c4': None}
    """
    return {**base, **{name: _knobs(base.get(name), value) for name, value in own.items()}}


def expanded(own: Settings) -> dict[str, Any]:
    """The settings that a filter with a preset stands for: null takes a rule, or a language, of the preset away.

    Args:
        own: with `preset`, and what is written beside it.

    Raises:
        ValueError: there is no such preset.

    >>> expanded({"preset": "c4", "c4": {"min_sentences": 3}})
    {'c4': {'min_sentences': 3}}
    """
    base = preset(own["preset"])
    found = overlaid(base, {name: value for name, value in own.items() if name != "preset"})
    theirs, ours = base.get("languages", {}), own.get("languages", {})
    if isinstance(ours, Mapping) and theirs:
        merged = {code: _over(theirs.get(code), value) for code, value in ours.items()}
        found["languages"] = _without_nulls({**theirs, **merged})
    return _without_nulls(found)


def of_language(base: Settings, own: Settings) -> dict[str, Any]:
    """The whole settings of a language: what it names over the recipe's, or over those of a preset that it names.

    Args:
        base: the settings of all other languages.
        own: what the recipe names; null switches a rule off.

    Raises:
        ValueError: there is no such preset.

    >>> of_language({"length": {"min": 1}, "c4": {}}, {"length": {"max": 9}, "c4": None})
    {'length': {'min': 1, 'max': 9}}
    """
    start = base if own.get("preset") is None else preset(own["preset"])
    found = overlaid({name: value for name, value in start.items() if name not in ("preset", "languages")}, own)
    return {name: value for name, value in _without_nulls(found).items() if name != "preset"}


def _over(base: object, own: object) -> object:
    """Settings of a language over those that a preset has for it."""
    return overlaid(base, own) if isinstance(base, Mapping) and isinstance(own, Mapping) else own


def _knobs(base: object, own: object) -> object:
    """The knobs of a rule over others; whatever else it is stands for itself."""
    if isinstance(base, Mapping | BaseModel) and isinstance(own, Mapping | BaseModel):
        written = own.model_dump(exclude_unset=True) if isinstance(own, BaseModel) else own
        return {**dict(base), **written}
    return own


def _without_nulls(settings: Settings) -> dict[str, Any]:
    return {name: value for name, value in settings.items() if value is not None}
