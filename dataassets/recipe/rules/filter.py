"""Which rules judge a document. A rule that is not named in the recipe does not run."""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field, SerializationInfo, ValidationInfo, field_serializer, field_validator, model_validator

from dataassets.recipe.base import Model, is_written
from dataassets.recipe.rules import presets
from dataassets.recipe.rules.code import Code
from dataassets.recipe.rules.custom import NAME, Custom
from dataassets.recipe.rules.decontamination import Decontamination
from dataassets.recipe.rules.labels import LABELS
from dataassets.recipe.rules.learned import Perplexity, Quality
from dataassets.recipe.rules.line_filter import LineFilter
from dataassets.recipe.rules.published import C4, FineWeb, GopherQuality, GopherRepetition, Language, Length
from dataassets.recipe.rules.toxicity import Toxicity
from dataassets.recipe.rules.url import Url


class Filter(Model):
    """The rules that are on. They judge in this order, whatever the recipe's; the first that fails is the reason.

    A document is judged by `languages.<its language>` where the recipe names it, otherwise by the rules beside it. A
    language has the rules of all others but for what it names; null switches a rule off for it.
    """

    preset: str | None = Field(
        None, exclude=True, description="published settings to start from, replaced by what they are"
    )
    words: Literal["english", "unicode"] = Field(
        "english", description="how words are cut: by spaCy's English rules, or at Unicode's word boundaries (UAX #29)"
    )
    url: Url | None = None
    length: Length | None = None
    language: Language | None = None
    gopher_repetition: GopherRepetition | None = None
    gopher_quality: GopherQuality | None = None
    c4: C4 | None = None
    fineweb: FineWeb | None = None
    line_filter: LineFilter | None = None
    code: Code | None = None
    toxicity: Toxicity | None = None
    perplexity: Perplexity | None = None
    quality: Quality | None = None
    decontamination: Decontamination | None = None
    custom: dict[str, Custom] = Field(
        default_factory=dict, description="filters of your own; they judge in the order of names"
    )
    languages: dict[str, "Filter"] = Field(  # the last field: it builds on all others
        default_factory=dict, description="what differs for documents of a language, by lid.176's label"
    )

    @model_validator(mode="before")
    @classmethod
    def _expand_preset(cls, data: object) -> object:
        if isinstance(data, Mapping) and data.get("preset") is not None:
            return presets.expanded(data)
        return data

    @field_validator("*", mode="before")
    @classmethod
    def _named_rules_run(cls, value: object, info: ValidationInfo) -> object:
        """A rule named with nothing behind it looks as if it ran."""
        if value is None and is_written(info):
            raise ValueError(f"{info.field_name} = null; write {{}} to run it with its defaults, or leave it out")
        return value

    @field_validator("languages", mode="before")
    @classmethod
    def _complete_languages(cls, value: object, info: ValidationInfo) -> object:
        if not isinstance(value, Mapping):
            return value
        if unknown := [code for code in value if code not in LABELS]:
            raise ValueError(f"{unknown[0]} is no label of lid.176; most are ISO 639-1 codes, such as de or zh")
        if nested := [code for code, own in value.items() if isinstance(own, Mapping) and own.get("languages")]:
            raise ValueError(f"{nested[0]} = {{languages: …}}: a language has none of its own; name them beside it")
        base = {name: own for name, own in info.data.items() if name != "languages"}
        return {
            code: presets.of_language(base, own) if isinstance(own, Mapping) else own for code, own in value.items()
        }

    @field_validator("custom")
    @classmethod
    def _own_names(cls, custom: dict[str, Custom]) -> dict[str, Custom]:
        """Names that stand for themselves, in one order: keys of products do not know the recipe's."""
        for name in custom:
            if not NAME.fullmatch(name):
                raise ValueError(f"{name!r} is no name: it is made of a-z, 0-9 and _, a letter first; rename it")
            if name in cls.model_fields:
                raise ValueError(f"{name} = the name of a built-in rule; rename it")
        return dict(sorted(custom.items()))

    @model_validator(mode="after")
    def _lines_or_sentences(self) -> "Filter":
        """A rule that changes lines leaves none of C4's sentences where they were counted."""
        if self.c4 is not None and not self.c4.split_paragraph:
            masks = self.decontamination is not None and self.decontamination.action == "mask"
            if self.line_filter is not None:
                raise ValueError(
                    "c4.split_paragraph = false beside line_filter, which keeps lines; take one of the two"
                )
            if masks:
                raise ValueError(
                    "c4.split_paragraph = false beside decontamination.action = mask, which may join sentences; "
                    "write action: drop, or leave split_paragraph out"
                )
        return self

    @field_serializer("languages")
    def _differences(self, languages: dict[str, "Filter"], info: SerializationInfo) -> dict[str, dict[str, Any]]:
        """Of each language what differs from the others, so that reading it gives the same again."""
        rules = set(type(self).model_fields) - {"languages"}
        base, by_alias = self.model_dump(mode=info.mode, include=rules), bool(info.by_alias)
        return {
            code: _difference(base, own.model_dump(mode=info.mode, include=rules, by_alias=by_alias))
            for code, own in languages.items()
        }

    @property
    def on(self) -> list[str]:
        """The rules that some document is judged by, in their order, as reasons name them: the user's own last."""
        every, others = [self, *self.languages.values()], ("preset", "words", "languages", "custom")
        rules = [name for name in type(self).model_fields if name not in others]
        built_in = [name for name in rules if any(getattr(own, name) is not None for own in every)]
        return built_in + sorted({name for own in every for name in own.custom})

    def of(self, language: str | None) -> "Filter":
        """The settings by which a document is judged.

        Args:
            language: its label; null where none was found.

        >>> Filter(length={"min": 1}, languages={"de": {"length": {"max": 9}}}).of("de").length.max
        9
        """
        return self if language is None else self.languages.get(language, self)


def _difference(base: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    """What `overlaid` puts over the base to get the other."""
    found = {name: value for name, value in own.items() if value != base[name]}
    for name, value in found.items():
        if isinstance(value, dict) and isinstance(base[name], dict):
            differ = {knob: number for knob, number in value.items() if number != base[name].get(knob)}
            found[name] = differ or None  # nothing differs, but some are gone: all of the user's own filters
    return found
