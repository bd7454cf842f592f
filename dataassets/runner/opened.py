"""A built corpus to look at, in a notebook: tables of products by name and key."""

from pathlib import Path

import pyarrow as pa

from dataassets.recipe import load
from dataassets.runner.corpus import Corpus
from dataassets.store import PRODUCTS, SHARDED, Manifest, ManifestError, Store


class Opened:
    """The committed products of a recipe.

    Args:
        recipe: its YAML file.
    """

    def __init__(self, recipe: str | Path) -> None:
        self.corpus = Corpus.of(load(recipe))
        self.store = Store.at(self.corpus.located.root)

    def partitions(self, product: str) -> list[str]:
        """Keys of the partitions of a product that are there.

        Args:
            product: such as "filtered".
        """
        return [key for key in self.corpus.partitions(product) if self.store.manifest(product, key) is not None]

    def manifest(self, product: str, key: str) -> Manifest:
        """All that is known of one partition: counts, drops, checks, inputs.

        Args:
            product: such as "filtered".
            key: such as "2026-10-01|web".

        Raises:
            ManifestError: it is not there.
        """
        found = self.store.manifest(product, key)
        if found is None:
            there = ", ".join(self.partitions(product)) or "none"
            raise ManifestError(f"{product} {key} is not there; build it, or take one of: {there}")
        return found

    def table(self, product: str, key: str, *, dropped: bool = False) -> pa.Table:
        """One partition as an Arrow table; `.to_pandas()` gives a data frame.

        Args:
            product: one that holds Parquet, or "tokenized".
            key: such as "2026-10-01|web".
            dropped: what the stage removed instead, with a column `reason`.

        Raises:
            ManifestError: it is not there.
            ValueError: `mixed`, which the loader reads.
        """
        if product == "mixed" or product not in PRODUCTS:
            ok = [p for p in PRODUCTS if p != "mixed"]
            raise ValueError(f"table({product!r}, …): take one of {ok}; a mix is read by loader.TokenDataset")
        manifest = self.manifest(product, key)
        if product in SHARDED:
            bins = [entry for entry in manifest.files if entry.name.endswith(".bin")]
            return pa.concat_tables([self.store.read_tokens(key, entry) for entry in bins])
        return pa.concat_tables(list(self.store.read_parts(product, key, dropped=dropped)))
