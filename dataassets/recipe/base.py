"""What every model of the recipe shares: frozen, nothing unknown, numbers that are numbers."""

from collections.abc import Callable
from typing import Any, get_args

from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler, ValidationInfo, field_validator
from pydantic_core import core_schema

WRITTEN = {"written": True}  # context of a recipe that a person wrote: what may be a slip of the pen is refused there


def is_written(info: ValidationInfo) -> bool:
    """Whether a model is read from a recipe, rather than built in Python, where None and odd limits are meant."""
    return bool(info.context and info.context.get("written"))


class Model(BaseModel):
    """A frozen model that refuses keys it does not know, infinite numbers, and true or false for a number."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=False, allow_inf_nan=False)

    @field_validator("*", mode="before")
    @classmethod
    def _no_flag_for_a_number(cls, value: object, info: ValidationInfo) -> object:
        kind = cls.model_fields[str(info.field_name)].annotation
        if isinstance(value, bool) and {int, float} & {kind, *get_args(kind)}:
            raise ValueError(f"{info.field_name} = {str(value).lower()} is no number; write one")
        return value


class FilePath(str):
    """A file that the recipe names, relative to the recipe's folder; `Located` makes it absolute."""

    __slots__ = ()

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: object, _handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        """Text in YAML and in JSON."""
        return core_schema.no_info_after_validator_function(
            cls, core_schema.str_schema(min_length=1), serialization=core_schema.to_string_ser_schema()
        )


def with_paths(value: Any, resolve: Callable[[str], str]) -> Any:  # noqa: ANN401 - whatever a model holds
    """The same value, with every FilePath in it made absolute.

    Args:
        value: a model, or what a field of one holds.
        resolve: makes a path absolute.

    >>> with_paths(((FilePath("a"), "b"), {"c": FilePath("d")}), "/x/".__add__)
    (('/x/a', 'b'), {'c': '/x/d'})
    """
    if isinstance(value, FilePath):
        return FilePath(resolve(value))
    if isinstance(value, BaseModel):
        return value.model_copy(update={name: with_paths(own, resolve) for name, own in value})
    if isinstance(value, tuple):
        return tuple(with_paths(own, resolve) for own in value)
    if isinstance(value, dict):
        return {name: with_paths(own, resolve) for name, own in value.items()}
    return value
