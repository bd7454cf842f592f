"""The graph without an orchestrator: which partitions there are, what each needs, and on what its key depends."""

import datetime as dt
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from dataassets.recipe import Located, RecipeError
from dataassets.recipe.snapshots import next_start
from dataassets.runner import limits
from dataassets.store import CORPUS, PRODUCTS, partition_key, split_key

# Raised when a stage's output for equal input and settings changes; the products above it are then made again.
CODE_VERSIONS = dict.fromkeys(PRODUCTS, "1") | {"signals": "3", "filtered": "3", "signatures": "2"}

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

    def partitions(self, product: str) -> list[str]:
        """Keys of all partitions of a product, in the order of their work.

        Args:
            product: one of store.PRODUCTS.
        """
        if product == "mixed":
            return list(self.located.recipe.mixes)
        if product == "duplicates":
            return self.snapshots
        return [partition_key(s, x) for s in self.snapshots for x in self.sources]

    def upstream(self, product: str, partition: str) -> list[Cell]:
        """What a partition is made of, in a fixed order.

        Args:
            product: one of store.PRODUCTS.
            partition: its key.
        """
        if product == "raw":
            return []
        if product == "duplicates":
            return [
                (p, partition_key(partition, x))
                for p in ("signatures", "filtered")
                for x in self.located.recipe.priority
            ]
        if product == "mixed":
            snapshots, sources = self.mix_snapshots(partition), self._mixed(partition)
            return [("tokenized", partition_key(s, x)) for s in snapshots for x in sources]
        needs = {
            "filtered": ["cleaned", "signals"],
            "signals": ["cleaned"],
            "signatures": ["filtered"],
            "deduped": ["filtered", "duplicates"],
            "tokenized": ["deduped"],
            "cleaned": ["raw"],
        }[product]
        return [(p, split_key(partition)[0] if p == "duplicates" else partition) for p in needs]

    def mix_snapshots(self, mix: str) -> list[str]:
        """The snapshots that a mix reads."""
        between = self.located.recipe.mixes[mix].snapshots
        low, high = between.from_ or self.snapshots[0], between.to or self.snapshots[-1]
        for name, key in (("from", low), ("to", high)):
            if key not in self.snapshots:
                raise RecipeError(
                    f"{self.located.file}: mixes.{mix}.snapshots.{name} = {key}: no such snapshot; "
                    f"take one of {self.snapshots}"
                )
        return [s for s in self.snapshots if low <= s <= high]

    def _mixed(self, mix: str) -> list[str]:
        """Sources that a mix reads, in the recipe's order."""
        return [x for x in self.sources if x in self.located.recipe.mixes[mix].weights]

    def cells(self, products: Sequence[str]) -> list[Cell]:
        """All partitions of some products and of all that they need, each after what it needs.

        Args:
            products: names from store.PRODUCTS.
        """
        wanted = self.needed(products)
        ordered: list[Cell] = []
        for snapshot in self.snapshots:
            for product in PRODUCTS:
                if product in wanted and product == "duplicates":
                    ordered.append((product, snapshot))
                elif product in wanted and product in CORPUS:
                    ordered += [(product, partition_key(snapshot, x)) for x in self.sources]
        if "mixed" in wanted:
            ordered += [("mixed", mix) for mix in self.partitions("mixed")]
        return ordered

    def needed(self, products: Sequence[str]) -> set[str]:
        """Some products and all products that they are made of."""
        wanted: set[str] = set()
        todo = list(products)
        while todo:
            product = todo.pop()
            wanted.add(product)
            for partition in self.partitions(product)[:1]:
                todo += [p for p, _ in self.upstream(product, partition) if p not in wanted]
        return wanted

    def settings(self, product: str, partition: str) -> dict[str, Any]:
        """The part of the recipe that a partition's content depends on, as JSON."""
        recipe = self.located.recipe
        if product == "mixed":
            return recipe.mixes[partition].model_dump(mode="json", by_alias=True)
        if product == "duplicates":
            body = recipe.dedup.model_dump(mode="json", include={"scope", "minhash"})
            return body | {"priority": recipe.priority}
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
        return recipe.filter_of(source).model_dump(mode="json") | limits.settings(recipe.checks_of(source))

    def _signatures(self, source: str) -> dict[str, Any]:
        dedup = self.located.recipe.dedup_of(source)
        return dedup.model_dump(mode="json", include={"exact": True, "minhash": {"num_perm", "ngram", "seed"}})

    def _tokenized(self, source: str) -> dict[str, Any]:
        from dataassets.stages.tokenize import vocabulary

        settings = self.located.recipe.tokenize
        return settings.model_dump(mode="json") | {"sha256": vocabulary(settings).sha256}
