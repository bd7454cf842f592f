"""Knobs of the rules that ask a model."""

from typing import Literal, get_args

from pydantic import Field, field_validator, model_validator

from dataassets.recipe.base import FilePath, Model

HIGH = "__label__hq"  # of the good class, as DCLM's published classifier names it (Li et al. 2024, arXiv:2406.11794)

Bucket = Literal["head", "middle", "tail"]


class Quality(Model):
    """Quality by a fastText classifier: threshold, or best share of a partition. Reason: quality:low_score."""

    model: FilePath | None = Field(
        None, description="a fastText .bin or .ftz; left out: the one that `quality_model` trains"
    )
    label: str = Field(HIGH, min_length=1, description="label whose probability is the score")
    min_score: float | None = Field(
        None, ge=0, le=1, description="least score of a document that stays; 0.5 where keep_fraction is left out too"
    )
    keep_fraction: float | None = Field(
        None, gt=0, le=1, description="instead of min_score: share of each partition's documents that stays, best first"
    )

    @model_validator(mode="after")
    def _one_limit(self) -> "Quality":
        if self.min_score is not None and self.keep_fraction is not None:
            raise ValueError(f"min_score = {self.min_score} beside keep_fraction = {self.keep_fraction}; take one")
        return self

    @property
    def least(self) -> float:
        """The least score, where no share is kept."""
        return 0.5 if self.min_score is None else self.min_score


class Cutoffs(Model):
    """Where head and middle end: the lower the perplexity, the more a text is like what the model was trained on."""

    head: float = Field(gt=0, description="highest value of head")
    tail: float = Field(gt=0, description="highest value of middle; above it is tail")

    @model_validator(mode="after")
    def _rise(self) -> "Cutoffs":
        if self.head > self.tail:
            raise ValueError(f"head = {self.head} is above tail = {self.tail}; exchange them")
        return self


class Perplexity(Model):
    """Perplexity by a KenLM model, in buckets as CCNet has them.

    Reasons: perplexity:above, perplexity:head, perplexity:middle, perplexity:tail. The 30th and the 60th percentile
    are CCNet's (Wenzek et al. 2019, arXiv:1911.00359).
    """

    model: FilePath | None = Field(
        None, description="a KenLM .arpa or .bin; left out: the one that `perplexity_model` trains"
    )
    sentencepiece: FilePath | None = Field(None, description="cuts text for the model, as CCNet's want; else words")
    keep: tuple[Bucket, ...] | None = Field(
        None, min_length=1, description="buckets that stay; left out: head and middle, or all where max is set"
    )
    fractions: Cutoffs | None = Field(
        None, description="cutoffs as shares of each partition's documents; 0.3 and 0.6 where limits is left out too"
    )
    limits: Cutoffs | None = Field(None, description="cutoffs as perplexities, instead of fractions")
    max: float | None = Field(None, gt=0, description="highest perplexity of a document that stays")

    @field_validator("fractions")
    @classmethod
    def _shares(cls, fractions: Cutoffs | None) -> Cutoffs | None:
        if fractions is not None and fractions.tail > 1:
            raise ValueError(f"tail = {fractions.tail} is above 1; write perplexities as limits")
        return fractions

    @model_validator(mode="after")
    def _one_kind(self) -> "Perplexity":
        if self.fractions is not None and self.limits is not None:
            raise ValueError("limits stands beside fractions; take one of them")
        return self

    @property
    def shares(self) -> Cutoffs:
        """The cutoffs as shares, where there are no limits."""
        return self.fractions or Cutoffs(head=0.3, tail=0.6)

    @property
    def dropped(self) -> list[Bucket]:
        """Buckets that do not stay."""
        kept = self.keep or (get_args(Bucket) if self.max is not None else ("head", "middle"))
        return [bucket for bucket in get_args(Bucket) if bucket not in kept]
