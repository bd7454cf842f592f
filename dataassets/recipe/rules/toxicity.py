"""Knobs of the rule that looks for listed words."""

from collections.abc import Mapping

from pydantic import Field, ValidationInfo, field_validator, model_validator

from dataassets.recipe.base import FilePath, Model, is_written
from dataassets.recipe.rules.labels import LABELS


class Toxicity(Model):
    """Listed words and phrases in the text. Reasons: toxicity:words, toxicity:distinct, toxicity:ratio."""

    words: tuple[FilePath, ...] = Field((), description="lists for texts of any language, an entry a line")
    lists: dict[str, FilePath] = Field({}, description="language: list for its texts, languages as lid.176 names them")
    packaged: tuple[str, ...] = Field((), description="languages whose list the package badwords-py brings")
    max_matches: int | None = Field(0, ge=0, description="most places with an entry; C4's is 0")
    max_distinct: int | None = Field(None, ge=0, description="most different entries")
    max_ratio: float | None = Field(None, ge=0, description="most places with an entry per word of the text")
    keep_fraction: float = Field(0, ge=0, le=1, description="share of failing documents that stay, by hash of the id")

    @field_validator("lists", "packaged")
    @classmethod
    def _languages(cls, value: Mapping[str, FilePath] | tuple[str, ...]) -> object:
        if unknown := [code for code in value if code not in LABELS]:
            raise ValueError(f"{unknown[0]} is no label of lid.176; most are ISO 639-1 codes, such as de or zh")
        return value

    @model_validator(mode="after")
    def _names_a_list(self, info: ValidationInfo) -> "Toxicity":
        if is_written(info) and not (self.words or self.lists or self.packaged):
            raise ValueError("toxicity = {} names no list; give words: [FILE], lists: {en: FILE} or packaged: [en]")
        return self
