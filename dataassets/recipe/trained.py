"""Models that the graph trains: from which sources, how."""

from pydantic import Field, model_validator

from dataassets.recipe.base import Model
from dataassets.recipe.snapshots import Between


class QualityModel(Model):
    """A fastText classifier that tells one set of sources from another.

    Bigrams and 200,000 documents a class are those of DCLM's classifier (Li et al. 2024, arXiv:2406.11794, published as
    `…_bigram_200k_train.bin`); what it does not name is fastText's own default.
    """

    positive: tuple[str, ...] = Field(min_length=1, description="sources of good documents")
    negative: tuple[str, ...] = Field(min_length=1, description="sources of ordinary documents")
    snapshots: Between = Field(Between(), description="which snapshots are read; default all")
    per_class: int = Field(200_000, ge=1, description="most documents of each class; both give equally many")
    held_out: float = Field(0.1, gt=0, lt=1, description="share of them kept from training, by hash of the id")
    seed: int = Field(1, ge=0, lt=2**31, description="seed of the sample and of the training")
    dim: int = Field(100, ge=1, description="size of the embeddings")
    word_ngrams: int = Field(2, ge=1, le=5, description="words in the longest n-gram")
    epoch: int = Field(5, ge=1, description="times that each document is read")
    lr: float = Field(0.1, gt=0, description="learning rate at the start")
    min_count: int = Field(1, ge=1, description="fewest occurrences of a word that is learnt by itself")
    bucket: int = Field(2_000_000, ge=1, lt=2**31, description="rows for n-grams, shared by hash; 4 x dim bytes each")

    @model_validator(mode="after")
    def _no_source_on_both_sides(self) -> "QualityModel":
        if both := sorted(set(self.positive) & set(self.negative)):
            raise ValueError(f"negative = {list(self.negative)}: {both[0]} is among positive too; take it out of one")
        return self

    @property
    def reads(self) -> tuple[str, ...]:
        """Sources that it is trained on."""
        return (*self.positive, *self.negative)


class PerplexityModel(Model):
    """A KenLM model of n-grams of words, estimated by KenLM's own `lmplz`, which must be on PATH."""

    sources: tuple[str, ...] = Field(min_length=1, description="sources of text as it should be")
    snapshots: Between = Field(Between(), description="which snapshots are read; default all")
    order: int = Field(5, ge=2, le=6, description="words in the longest n-gram; CCNet's models have 5")
    prune: tuple[int, ...] = Field(
        (), description="n-grams seen so often or less are left out, by n, as lmplz takes it"
    )

    @property
    def reads(self) -> tuple[str, ...]:
        """Sources that it is trained on."""
        return self.sources
