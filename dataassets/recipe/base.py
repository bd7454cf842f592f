"""What every model of the recipe shares: frozen, nothing unknown, numbers that are numbers."""

from typing import get_args

from pydantic import BaseModel, ConfigDict, ValidationInfo, field_validator

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
