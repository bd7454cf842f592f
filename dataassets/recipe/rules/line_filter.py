"""Knobs of the line filter."""

from pydantic import Field, ValidationInfo, model_validator

from dataassets.recipe.base import Model, is_written
from dataassets.recipe.rules.published import STOP_WORDS


class LineFilter(Model):
    """Lines that go from the text of documents that stay; None switches a test off. Reason: too_little_left."""

    max_symbol_share: float | None = Field(0.5, ge=0, le=1, description="most share of symbols in a line")
    min_stop_words: int | None = Field(None, ge=0, description="fewest stop words in a line")
    stop_words: tuple[str, ...] = Field(STOP_WORDS, description="these, Capitalized and UPPER case too")
    min_words: int | None = Field(None, ge=0, description="fewest words with a letter or digit in a line")
    max_upper_share: float | None = Field(None, ge=0, le=1, description="most share of capitals in letters with case")
    need_letter: bool = Field(False, description="drop lines without a letter: numbers, rulers, lone bullets")
    keep_fences: bool = Field(True, description="lines inside ``` or ~~~ fences stay, whatever they hold")
    min_kept: float | None = Field(None, ge=0, le=1, description="least share of characters left in a document")

    @model_validator(mode="after")
    def _has_stop_words(self, info: ValidationInfo) -> "LineFilter":
        if is_written(info) and self.min_stop_words and not self.stop_words:
            raise ValueError(
                f"min_stop_words = {self.min_stop_words}, but stop_words is empty, so no line stays; list some"
            )
        return self
