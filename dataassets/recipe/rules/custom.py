"""Knobs of custom filters: where the function is, what it measures, what stays."""

import re
from itertools import pairwise
from typing import Any, Literal

from pydantic import Field, ValidationInfo, field_validator, model_validator

from dataassets.recipe.base import FilePath, Model, is_written

NAME = re.compile(r"[a-z][a-z0-9_]*")
_FUNCTION = re.compile(r"([^\W\d]\w*)(\.[^\W\d]\w*)*:[^\W\d]\w*")


class Signal(Model):
    """One column that the function gives, and which of its values stay; a null always does."""

    type: Literal["float", "int", "bool", "text"] = Field("float", description="of the column")
    min: float | None = Field(None, description="least value of a document that stays (float, int)")
    max: float | None = Field(None, description="most value of a document that stays (float, int)")
    keep: tuple[bool | str, ...] | None = Field(None, min_length=1, description="values that stay (bool, text)")
    drop: tuple[bool | str, ...] | None = Field(None, min_length=1, description="values that go (bool, text)")
    edges: tuple[float, ...] | None = Field(None, min_length=2, description="of the histogram's bins, rising")

    @field_validator("keep", "drop", mode="before")
    @classmethod
    def _texts_or_flags(cls, value: object, info: ValidationInfo) -> object:
        """One value may stand without brackets."""
        found = [value] if isinstance(value, bool | str) else value
        if isinstance(found, list | tuple) and not all(isinstance(one, bool | str) for one in found):
            raise ValueError(f"{info.field_name} = {list(found)}: texts or true and false are wanted; take min and max")
        return found

    @model_validator(mode="after")
    def _limits_fit(self, info: ValidationInfo) -> "Signal":
        counted = self.type in ("float", "int")
        for name in ("keep", "drop") if counted else ("min", "max", "edges"):
            if getattr(self, name) is not None:
                mend = "min and max" if counted else "keep and drop"
                raise ValueError(f"{name} is not for type {self.type}; take {mend}, or another type")
        wanted = bool if self.type == "bool" else str
        for name in ("keep", "drop"):
            for value in getattr(self, name) or ():
                if not isinstance(value, wanted):
                    raise ValueError(f"{name} = {value!r} is no value of type {self.type}; mend one of the two")
        if is_written(info) and self.min is not None and self.max is not None and self.min > self.max:
            raise ValueError(f"min = {self.min:g} is above max = {self.max:g}: nothing stays; raise max or lower min")
        if self.edges and not all(a < b for a, b in pairwise(self.edges)):
            raise ValueError(f"edges = {list(self.edges)} do not rise; sort them, each once")
        return self


class Custom(Model):
    """A filter of the user's own: one function `(RecordBatch) -> columns`. Reasons: <name>:<signal>_below and so on."""

    function: str = Field(description="module:function, the module beside the recipe or installed")
    signals: dict[str, Signal] = Field(min_length=1, description="the columns that it gives, by name")
    settings: dict[str, Any] = Field(default_factory=dict, description="keyword arguments of the function, as JSON")
    version: str = Field("1", description="raise it where the function changes in a way that its file does not show")
    files: tuple[FilePath, ...] = Field(
        (), description="other files that it reads, modules too: a changed one measures anew"
    )
    folder: FilePath = Field(FilePath("."), description="where the module is looked for first; default: the recipe's")

    @field_validator("function")
    @classmethod
    def _names_a_function(cls, function: str) -> str:
        if not _FUNCTION.fullmatch(function):
            raise ValueError(f"function = {function!r} names none; write module:function, such as my_filters:reading")
        return function

    @field_validator("signals")
    @classmethod
    def _plain_names(cls, signals: dict[str, Signal]) -> dict[str, Signal]:
        """In the order of names: keys of products do not know the recipe's."""
        for name in signals:
            if not NAME.fullmatch(name):
                raise ValueError(f"{name!r} is no name: it is made of a-z, 0-9 and _, a letter first; rename it")
        return dict(sorted(signals.items()))

    @field_validator("version", mode="before")
    @classmethod
    def _number_as_text(cls, version: object) -> object:
        return str(version) if isinstance(version, int | float) and not isinstance(version, bool) else version
