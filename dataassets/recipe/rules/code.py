"""Knobs of the rule on code."""

from pydantic import Field, ValidationInfo, model_validator

from dataassets.recipe.base import Model, is_written


class Code(Model):
    """Share of a text that is program code. Reasons: code:too_much_code, code:too_little_code."""

    max_ratio: float | None = Field(0.5, ge=0, le=1, description="most share of characters in lines of code")
    min_ratio: float | None = Field(None, ge=0, le=1, description="least share of characters in lines of code")

    @model_validator(mode="after")
    def _leaves_room(self, info: ValidationInfo) -> "Code":
        low, high = self.min_ratio, self.max_ratio
        if is_written(info) and low is not None and high is not None and low > high:
            raise ValueError(
                f"min_ratio = {low} is above max_ratio = {high}, so nothing stays;"
                " lower min_ratio, or write max_ratio: null"
            )
        return self
