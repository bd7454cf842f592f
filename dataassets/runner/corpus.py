"""The graph without an orchestrator: which partitions there are, what each needs, and on what its key depends."""

import datetime as dt
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from dataassets.recipe import Located, RecipeError
from dataassets.recipe.snapshots import Between, next_start
from dataassets.runner import limits
from dataassets.runner.models import models_of
from dataassets.store import CORPUS, EVERY, MODELS, WHOLE, partition_key, split_key

# Raised when a stage's output for equal input and settings changes; the products above it are then made again.
CODE_VERSIONS = dict.fromkeys(EVERY, "1") | {"signals": "3", "filtered": "3", "signatures": "3", "duplicates": "2"}

Cell = tuple[str, str]  # product, partition


@dataclass(frozen=True)
class Corpus:
    """A recipe with its snapshots counted out.

    Args:
        located: the recipe and its file.
        today: the day up to which snapshots are closed, where the recipe names no end.
    """

    located: Located
    today: dt.date

    @classmethod
    def of(cls, located: Located) -> "Corpus":
        """The corpus of a recipe as of today (UTC)."""
        return cls(located, dt.datetime.now(dt.UTC).date())

    @cached_property
    def snapshots(self) -> list[str]:
        """Names of all snapshots, oldest first.

        Raises:
            RecipeError: none has closed yet.
        """
        keys = self.located.recipe.snapshots.keys(today=self.today)
        if not keys:
            start = self.located.recipe.snapshots.start
            raise RecipeError(
                f"{self.located.file}: snapshots.start = {start}: no snapshot has closed by {self.today}; "
                "take an earlier start, or set snapshots.end"
            )
        return keys

    @property
    def closed(self) -> list[str]:
        """Those snapshots whose window has ended, oldest first."""
        cadence = self.located.recipe.snapshots.cadence
        snapshots = self.located.recipe.snapshots.keys(today=self.today)
        return [s for s in snapshots if next_start(dt.date.fromisoformat(s), cadence=cadence) <= self.today]

    @property
    def sources(self) -> list[str]:
        """Names of all sources, in the recipe's order."""
        return list(self.located.recipe.sources)

    @property
    def products(self) -> list[str]:
        """All products of the recipe, in the order of their work: models only where it has a section for them."""
        recipe = self.located.recipe
        return [p for p in EVERY if p not in MODELS or getattr(recipe, p) is not None]

    def partitions(self, product: str) -> list[str]:
        """Keys of all partitions of a product, in the order of their work.

        Args:
            product: one of store.EVERY.
        """
        if product == "mixed":
            return list(self.located.recipe.mixes)
        if product == "duplicates":
            return self.snapshots
        if product in MODELS:
            return [WHOLE] if product in self.products else []
        return [partition_key(s, x) for s in self.snapshots for x in self.sources]

    def upstream(self, product: str, partition: str) -> list[Cell]:
        """What a partition is made of, in a fixed order.

        Args:
            product: one of store.EVERY.
            partition: its key.
        """
        if product == "raw":
            return []
        if product == "duplicates":
            own = [
                (p, partition_key(partition, x))
                for p in ("signatures", "filtered")
                for x in self.located.recipe.priority
            ]
            return own + [("duplicates", s) for s in self.looked_back_at(partition)[-1:]]
        if product == "mixed":
            snapshots, sources = self.mix_snapshots(partition), self._mixed(partition)
            return [("tokenized", partition_key(s, x)) for s in snapshots for x in sources]
        if product in MODELS:
            snapshots, sources = self._model_snapshots(product), self._read_by(product)
            return [("cleaned", partition_key(s, x)) for s in snapshots for x in sources]
        if product == "signals":
            models = models_of(self.located.recipe.filter_of(split_key(partition)[1]))
            return [("cleaned", partition), *((model, WHOLE) for model in models)]
        needs = {
            "filtered": ["cleaned", "signals"],
            "signatures": ["filtered"],
            "deduped": ["filtered", "duplicates"],
            "tokenized": ["deduped"],
            "cleaned": ["raw"],
        }[product]
        return [(p, split_key(partition)[0] if p == "duplicates" else partition) for p in needs]

    def looked_back_at(self, snapshot: str) -> list[str]:
        """Earlier snapshots that the duplicates of one are looked for in, oldest first."""
        if self.located.recipe.dedup.scope != "history":
            return []
        return self.snapshots[: self.snapshots.index(snapshot)]

    def mix_snapshots(self, mix: str) -> list[str]:
        """The snapshots that a mix reads."""
        return self._between(self.located.recipe.mixes[mix].snapshots, where=f"mixes.{mix}")

    def _between(self, between: Between, *, where: str) -> list[str]:
        low, high = between.from_ or self.snapshots[0], between.to or self.snapshots[-1]
        for name, key in (("from", low), ("to", high)):
            if key not in self.snapshots:
                raise RecipeError(
                    f"{self.located.file}: {where}.snapshots.{name} = {key}: no such snapshot; "
                    f"take one of {self.snapshots}"
                )
        return [s for s in self.snapshots if low <= s <= high]

    def _model_snapshots(self, product: str) -> list[str]:
        return self._between(getattr(self.located.recipe, product).snapshots, where=product)

    def _read_by(self, product: str) -> list[str]:
        """Sources that a model is trained on, in the recipe's order."""
        return [x for x in self.sources if x in getattr(self.located.recipe, product).reads]

    def _mixed(self, mix: str) -> list[str]:
        """Sources that a mix reads, in the recipe's order."""
        return [x for x in self.sources if x in self.located.recipe.mixes[mix].weights]

    def cells(self, products: Sequence[str]) -> list[Cell]:
        """All partitions of some products and of all that they need, each after what it needs.

        Args:
            products: names from store.EVERY.
        """
        wanted = self.needed(products)
        ordered: dict[Cell, None] = {}  # a set that keeps its order
        for model in MODELS:
            for cell in [c for key in self.partitions(model) if model in wanted for c in self.upstream(model, key)]:
                ordered |= dict.fromkeys([*self.upstream(*cell), cell])
            ordered |= dict.fromkeys((model, key) for key in self.partitions(model) if model in wanted)
        for snapshot in self.snapshots:
            for product in EVERY:
                if product in wanted and product == "duplicates":
                    ordered[product, snapshot] = None
                elif product in wanted and product in CORPUS:
                    ordered |= dict.fromkeys((product, partition_key(snapshot, x)) for x in self.sources)
        if "mixed" in wanted:
            ordered |= dict.fromkeys(("mixed", mix) for mix in self.partitions("mixed"))
        return list(ordered)

    def needed(self, products: Sequence[str]) -> set[str]:
        """Some products and all products that they are made of."""
        wanted: set[str] = set()
        todo = list(products)
        while todo:
            product = todo.pop()
            wanted.add(product)
            found = {p for partition in self.partitions(product) for p, _ in self.upstream(product, partition)}
            todo += found - wanted
        return wanted

    def settings(self, product: str, partition: str) -> dict[str, Any]:
        """The part of the recipe that a partition's content depends on, as JSON."""
        recipe = self.located.recipe
        if product == "mixed":
            return recipe.mixes[partition].model_dump(mode="json", by_alias=True)
        if product in MODELS:
            found: dict[str, Any] = getattr(recipe, product).model_dump(mode="json", by_alias=True)
            return found
        if product == "duplicates":
            minhash = recipe.dedup.minhash
            body = recipe.dedup.model_dump(mode="json", include={"scope", "minhash", "cluster"})
            return body | {"priority": recipe.priority, "banding": list(minhash.banding) if minhash else None}
        of_source: dict[str, Callable[[str], dict[str, Any]]] = {
            "raw": self._raw,
            "cleaned": self._cleaned,
            "signals": self._signals,
            "filtered": self._filtered,
            "signatures": self._signatures,
            "deduped": lambda _source: {},
            "tokenized": self._tokenized,
        }
        return of_source[product](split_key(partition)[1])

    def _raw(self, source: str) -> dict[str, Any]:
        recipe = self.located.recipe
        body = recipe.sources[source].model_dump(mode="json", include={"format", "fields", "max_bad"})
        return body | {"part_bytes": recipe.compute.part_bytes}

    def _cleaned(self, source: str) -> dict[str, Any]:
        recipe = self.located.recipe
        return recipe.clean_of(source).model_dump(mode="json") | {"normalize": recipe.sources[source].normalize}

    def _signals(self, source: str) -> dict[str, Any]:
        from dataassets.stages.filter import measured_by

        return measured_by(self.located.filter_of(source))

    def _filtered(self, source: str) -> dict[str, Any]:
        recipe = self.located.recipe
        rules = recipe.filter_of(source).model_dump(mode="json")
        on = {name: own for name, own in rules.items() if own is not None}  # a rule that is off is as if unknown
        return on | limits.settings(recipe.checks_of(source))

    def _signatures(self, source: str) -> dict[str, Any]:
        dedup = self.located.recipe.dedup_of(source)
        told = dedup.model_dump(
            mode="json", include={"exact": True, "minhash": {"num_perm", "shingle", "ngram", "seed"}}
        )
        return told | {"shingles": dedup.minhash is not None and dedup.minhash.verify == "exact"}

    def _tokenized(self, source: str) -> dict[str, Any]:
        from dataassets.stages.tokenize import vocabulary

        settings = self.located.recipe.tokenize
        return settings.model_dump(mode="json") | {"sha256": vocabulary(settings).sha256}
