"""Which rules judge a document. A rule that is not named in the recipe does not run."""

from pydantic import ValidationInfo, field_validator

from dataassets.recipe.base import Model, is_written
from dataassets.recipe.rules.published import C4, FineWeb, GopherQuality, GopherRepetition, Language, Length


class Filter(Model):
    """The rules that are on. They judge in this order, whatever the recipe's; the first that fails is the reason."""

    length: Length | None = None
    language: Language | None = None
    gopher_repetition: GopherRepetition | None = None
    gopher_quality: GopherQuality | None = None
    c4: C4 | None = None
    fineweb: FineWeb | None = None

    @field_validator("*", mode="before")
    @classmethod
    def _named_rules_run(cls, value: object, info: ValidationInfo) -> object:
        """A rule named with nothing behind it looks as if it ran."""
        if value is None and is_written(info):
            raise ValueError(f"{info.field_name} = null; write {{}} to run it with its defaults, or leave it out")
        return value
