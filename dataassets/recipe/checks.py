"""Limits of the checks on `filtered`: what is no longer a strict filter, or another crawl, but a mistake."""

from pydantic import Field, ValidationInfo, model_validator

from dataassets.recipe.base import Model, is_written


class Retention(Model):
    """How much of a source the rules are to keep."""

    min: float = Field(0.01, ge=0, le=1, description="least share of its documents that stays")
    max: float = Field(1.0, ge=0, le=1, description="most share of its documents that stays")
    block: bool = Field(False, description="fail the partition outside of it, instead of a warning")

    @model_validator(mode="after")
    def _leaves_room(self, info: ValidationInfo) -> "Retention":
        if is_written(info) and self.min > self.max:
            raise ValueError(f"min = {self.min} is above max = {self.max}, so nothing holds; raise max or lower min")
        return self


class RuleDrop(Model):
    """How much one rule may drop of what the rules before it left."""

    max: float = Field(0.99, ge=0, le=1, description="most share that a rule drops of the documents it is given")
    min_documents: int = Field(20, ge=1, description="rules that are given fewer documents are not looked at")
    block: bool = Field(False, description="fail the partition above it, instead of a warning")


class LanguageDrift(Model):
    """How far the languages of a source may move from one snapshot to the next."""

    max: float = Field(
        0.2, ge=0, le=1, description="most share of documents that would have to change their language to undo the move"
    )
    min_documents: int = Field(100, ge=1, description="snapshots with fewer documents are not compared")


class Checks(Model):
    """Limits of the checks on `filtered`."""

    retention: Retention = Field(Retention(), description="share of documents kept")
    rule_drop: RuleDrop = Field(RuleDrop(), description="share dropped by one rule")
    language_drift: LanguageDrift = Field(LanguageDrift(), description="languages beside the snapshot before; warns")
