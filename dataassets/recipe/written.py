"""A recipe as YAML with nothing left unsaid: defaults written out, presets replaced by what they are."""

from typing import Any

import yaml

from dataassets.recipe.model import Recipe

_OVERRIDES = ("clean", "filter", "dedup", "checks")  # of a source: null is not written, it stands for the recipe's


def as_yaml(recipe: Recipe) -> str:
    """Every setting that holds, as YAML; reading it gives the same recipe, and so the same products.

    Args:
        recipe: whatever was left to defaults and presets.
    """
    data = _plain(recipe.model_dump(by_alias=True))
    data["filter"] = _rules_that_run(data["filter"])
    for source in data["sources"].values():
        for section in _OVERRIDES:
            if source[section] is None:
                del source[section]
        if "filter" in source:
            source["filter"] = _rules_that_run(source["filter"])
    text: str = yaml.safe_dump(data, sort_keys=False, allow_unicode=True, default_flow_style=None, width=110)
    return text


def _plain(value: Any) -> Any:  # noqa: ANN401 - whatever a model holds
    """Values as YAML has them; numbers that are keys stay numbers, unlike in JSON."""
    if isinstance(value, dict):
        return {name: _plain(own) for name, own in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(own) for own in value]
    return str(value) if isinstance(value, str) else value


def _rules_that_run(filter_: dict[str, Any]) -> dict[str, Any]:
    """A filter without the rules that are off, which are not written at all."""
    return {name: value for name, value in filter_.items() if value is not None}
