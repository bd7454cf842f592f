"""The recipe: every knob of the road, as frozen models. Nothing happens that it does not say."""

import functools
import re
from collections.abc import Iterator
from typing import Literal

from pydantic import Field, ValidationInfo, field_validator, model_validator

from dataassets.recipe.base import Model, is_written
from dataassets.recipe.checks import Checks
from dataassets.recipe.rules import Filter
from dataassets.recipe.snapshots import Between, Snapshots
from dataassets.recipe.trained import PerplexityModel, QualityModel

NAME = re.compile(r"[a-z0-9_-]+")
Format = Literal["text", "html", "jsonl", "parquet", "warc"]


class Fields(Model):
    """Which columns of a jsonl or parquet record hold what. Other columns go into `meta`."""

    text: str = Field("text", description="column of the text")
    url: str = Field("url", description="column of the address, where there is one")
    timestamp: str = Field(
        "timestamp", description="column of the time (ISO 8601 or epoch seconds), where there is one"
    )


class MaxBad(Model):
    """How many unreadable records a source may hold."""

    fraction: float = Field(0.01, ge=0, le=1, description="share of records above which the check speaks")
    block: bool = Field(False, description="fail the partition above it, instead of a warning")


class Clean(Model):
    """How bytes become text."""

    extractor: Literal["default"] = Field("default", description="HTML to main text; default is resiliparse")
    pii: Literal["mask", "drop", "keep"] = Field("keep", description="e-mail and IP addresses, phone and card numbers")


class MinHash(Model):
    """MinHash LSH over word or character n-grams; signatures are datasketch's `affine32`."""

    num_perm: int = Field(112, ge=2, description="permutations in a signature")
    bands: int | Literal["auto"] = Field(
        14, description="bands, a divisor of num_perm; auto: datasketch's best bands and rows for the threshold"
    )
    shingle: Literal["words", "characters"] = Field("words", description="what a shingle is a run of")
    ngram: int = Field(5, ge=1, description="words (or characters) in a shingle")
    threshold: float = Field(0.7, ge=0, le=1, description="Jaccard similarity from which on a document repeats another")
    verify: Literal["exact", "estimate", "none"] = Field(
        "exact", description="how a candidate pair is decided: by its shingles, by its signatures, or taken as it is"
    )
    seed: int = Field(1, ge=0, description="seed of the permutations")

    @field_validator("bands", mode="before")
    @classmethod
    def _number_or_auto(cls, bands: object) -> object:
        if bands == "auto" or isinstance(bands, int):
            return bands
        raise ValueError(f"bands = {bands!r}: a divisor of num_perm is wanted, or auto")

    @model_validator(mode="after")
    def _bands_divide(self) -> "MinHash":
        if self.bands == "auto":
            if not 0 < self.threshold < 1:
                raise ValueError(f"bands = auto wants a threshold between 0 and 1, not {self.threshold:g}; name bands")
            return self
        ok = [b for b in range(1, self.num_perm + 1) if self.num_perm % b == 0]
        if self.bands not in ok:
            raise ValueError(f"bands = {self.bands} does not divide num_perm = {self.num_perm}; take one of {ok}")
        return self

    @property
    def banding(self) -> tuple[int, int]:
        """Bands, and rows in each.

        >>> MinHash().banding, MinHash(num_perm=128, threshold=0.8, bands="auto").banding
        ((14, 8), (9, 13))
        """
        if self.bands == "auto":
            return _best_banding(self.threshold, self.num_perm)
        return self.bands, self.num_perm // self.bands


@functools.cache
def _best_banding(threshold: float, num_perm: int) -> tuple[int, int]:
    """Bands and rows with the least sum of areas of false positives and false negatives about the threshold."""
    from datasketch import MinHashLSH

    found = MinHashLSH(threshold=threshold, num_perm=num_perm)
    return found.b, found.r


class Dedup(Model):
    """What counts as a repetition, and among which documents."""

    scope: Literal["partition", "snapshot", "history"] = Field(
        "snapshot", description="where copies are looked for: in a source, a snapshot, or all snapshots up to it"
    )
    priority: tuple[str, ...] = Field((), description="sources whose documents are kept first; default: their order")
    exact: bool = Field(False, description="drop documents whose normalized text was seen")
    minhash: MinHash | None = Field(None, description="drop near-duplicates")
    cluster: Literal["first", "longest"] | None = Field(
        None,
        description="keep one document of each chain of duplicates; null: drop one only where a kept one repeats it",
    )


class Tokenize(Model):
    """Text to token ids."""

    tokenizer: Literal["gpt2"] = Field("gpt2", description="name of the vocabulary")


class Source(Model):
    """One stream of documents; `clean`, `filter`, `dedup`, `checks` here replace the recipe's whole section for it."""

    format: Format = Field(description="how its files are read")
    paths: tuple[str, ...] = Field(
        min_length=1, description="file patterns, relative to the recipe; {snapshot} in them is its name"
    )
    fields: Fields = Field(Fields(), description="columns of jsonl and parquet records")
    normalize: bool = Field(True, description="NFC, control characters, white space; false keeps text as it is")
    max_bad: MaxBad = Field(MaxBad(), description="how many unreadable records are too many")
    clean: Clean | None = Field(None, description="instead of the recipe's")
    filter: Filter | None = Field(None, description="instead of the recipe's")
    dedup: Dedup | None = Field(None, description="exact and minhash of this source, instead of the recipe's")
    checks: Checks | None = Field(None, description="instead of the recipe's")

    @field_validator("clean", "filter", "dedup", "checks", mode="before")
    @classmethod
    def _says_what_it_means(cls, value: object, info: ValidationInfo) -> object:
        """A section named with nothing behind it may be meant either way."""
        if value is None and is_written(info):
            raise ValueError(f"{info.field_name} = null; leave it out for the recipe's, or write {{}} for the defaults")
        return value

    @property
    def by_snapshot(self) -> bool:
        """Whether its paths name the snapshot; other sources lie whole in the first one."""
        return any("{snapshot}" in path for path in self.paths)


class Mix(Model):
    """One mixture of sources, written as shuffled shards."""

    tokens: int = Field(gt=0, description="tokens in all, train and val")
    weights: dict[str, float] = Field(min_length=1, description="share of the tokens from each source")
    max_epochs: float = Field(4.0, gt=0, description="most times that a source may be repeated")
    val_fraction: float = Field(0.005, ge=0, lt=1, description="share of documents held out, by hash of their id")
    tokens_per_shard: int = Field(500_000_000, gt=0, description="most tokens in a shard (2 bytes each for gpt2)")
    seed: int = Field(1, ge=0, description="seed of the shuffle and of the choice of the remainder")
    snapshots: Between = Field(Between(), description="which snapshots are read; default all")

    @field_validator("weights")
    @classmethod
    def _shares(cls, weights: dict[str, float]) -> dict[str, float]:
        if bad := {name: w for name, w in weights.items() if not w > 0}:
            raise ValueError(f"weights of {bad} must be above 0; leave the source out instead")
        total = sum(weights.values())
        if abs(total - 1) > 1e-3:
            raise ValueError(f"weights sum to {total:g}, not 1; scale them")
        return {name: w / total for name, w in weights.items()}


class Compute(Model):
    """How units of work run. Part size shapes the products; executor and workers never do."""

    executor: Literal["inline", "process", "ray"] = Field("process", description="where units run")
    workers: int | None = Field(None, ge=1, description="units at a time; null: one a core")
    address: str = Field("local", description="of the Ray cluster: local (this machine), auto, or host:port")
    part_bytes: int = Field(64_000_000, ge=1_000, description="about the bytes of content in one part")

    @field_validator("address")
    @classmethod
    def _place(cls, address: str) -> str:
        if address not in ("local", "auto") and not re.fullmatch(
            r"[^\s/:]+:\d{1,5}|\[[0-9a-fA-F:]+\]:\d{1,5}", address
        ):
            raise ValueError(f"address = {address!r} is no place of a Ray cluster; take local, auto or host:port")
        return address


class Recipe(Model):
    """A whole corpus: where it lies, what becomes of it."""

    root: str = Field(description="where products go: a folder relative to the recipe, or an fsspec URL")
    snapshots: Snapshots = Field(description='the windows of time, e.g. {start: "2026-10-01"}')
    sources: dict[str, Source] = Field(
        min_length=1, description="where the text lies: a name and its settings for each"
    )
    clean: Clean = Clean()
    filter: Filter = Filter()
    quality_model: QualityModel | None = Field(None, description="the classifier that `filter.quality` asks")
    perplexity_model: PerplexityModel | None = Field(None, description="the language model of `filter.perplexity`")
    dedup: Dedup = Dedup()
    checks: Checks = Checks()
    tokenize: Tokenize = Tokenize()
    mixes: dict[str, Mix] = Field(default_factory=dict)
    compute: Compute = Compute()

    @model_validator(mode="after")
    def _names_agree(self) -> "Recipe":
        if problems := [*self._bad_names(), *self._unknown_sources(), *self._dedup_disagreements(), *self._untrained()]:
            raise ValueError("\n".join(problems))
        return self

    def _bad_names(self) -> Iterator[str]:
        for kind, names in (("sources", self.sources), ("mixes", self.mixes)):
            for name in names:
                if not NAME.fullmatch(name):
                    yield f"{kind}.{name}: a name is made of a-z, 0-9, _ and -; rename it"

    def _unknown_sources(self) -> Iterator[str]:
        known = sorted(self.sources)
        for mix, settings in self.mixes.items():
            for source in settings.weights:
                if source not in self.sources:
                    yield f"mixes.{mix}.weights.{source}: no such source; take one of {known}"
        for model, key in (
            ("quality_model", "positive"),
            ("quality_model", "negative"),
            ("perplexity_model", "sources"),
        ):
            own = getattr(self, model)
            for i, source in enumerate(getattr(own, key) if own else ()):
                if source not in self.sources:
                    yield f"{model}.{key}.{i}: {source} is no source; take one of {known}"
        for i, source in enumerate(self.dedup.priority):
            if source not in self.sources:
                yield f"dedup.priority.{i}: {source} is no source; take one of {known}"
            elif source in self.dedup.priority[:i]:
                yield f"dedup.priority.{i}: {source} stands there twice; name each source once"

    def _dedup_disagreements(self) -> Iterator[str]:
        for name, settings in self.sources.items():
            if (own := settings.dedup) is None:
                continue
            for extra in sorted(own.model_fields_set - {"exact", "minhash"}):
                yield f"sources.{name}.dedup.{extra}: a source may set exact and minhash only; set it in dedup"
            if own.minhash is not None and own.minhash != self.dedup.minhash:
                yield (
                    f"sources.{name}.dedup.minhash differs from dedup.minhash; signatures of one corpus have one "
                    "shape: take the same values, or null to leave this source out"
                )

    def _untrained(self) -> Iterator[str]:
        sections = {"filter": self.filter} | {f"sources.{x}.filter": s.filter for x, s in self.sources.items()}
        for where, rules in sections.items():
            for rule in ("quality", "perplexity"):
                section, own = f"{rule}_model", getattr(rules, rule, None)
                if getattr(self, section) is not None or rules is None:
                    continue
                asked = {where: own} | {f"{where}.languages.{x}": getattr(f, rule) for x, f in rules.languages.items()}
                for place, asks in asked.items():
                    if asks is not None and asks.model is None and (place == where or asks != own):
                        yield f"{place}.{rule}.model: left out, and nothing trains one; name a file or add {section}"

    def clean_of(self, source: str) -> Clean:
        """The clean settings that hold for a source."""
        return self.sources[source].clean or self.clean

    def filter_of(self, source: str) -> Filter:
        """The filter settings that hold for a source."""
        own = self.sources[source].filter
        return self.filter if own is None else own

    def dedup_of(self, source: str) -> Dedup:
        """The dedup settings that hold for a source."""
        own = self.sources[source].dedup
        return self.dedup if own is None else own

    def checks_of(self, source: str) -> Checks:
        """The limits of the checks that hold for a source."""
        own = self.sources[source].checks
        return self.checks if own is None else own

    @property
    def priority(self) -> list[str]:
        """All sources, those of `dedup.priority` first, then the recipe's order."""
        first = list(self.dedup.priority)
        return first + [name for name in self.sources if name not in first]
