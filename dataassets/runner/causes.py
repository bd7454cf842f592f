"""Why a partition is what it is: its inputs, its settings, and whether both still hold."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import xxhash

from dataassets.recipe import RecipeError
from dataassets.runner.corpus import CODE_VERSIONS, Cell, Corpus
from dataassets.store import EVERY, MODELS, Causes, Store, split_key


class UpstreamError(ValueError):
    """What a partition is made of is absent, or no longer what the recipe would make."""


class _Committed(NamedTuple):
    """What of a manifest decides whether it is fresh; inputs of raw alone."""

    key: str
    digest: str
    inputs: Mapping[str, str]


class Ledger:
    """Knows the causes of each partition of a corpus, from the recipe and the manifests alone.

    Args:
        corpus: of the recipe.
        store: where products lie.
    """

    def __init__(self, corpus: Corpus, store: Store) -> None:
        self.corpus, self.store = corpus, store
        self._parsed: dict[Cell, tuple[bytes, _Committed]] = {}

    def refuse_unknown(self, product: str, partition: str) -> None:
        """Refuse a product or partition that the recipe does not have.

        Raises:
            RecipeError: naming those that there are.
        """
        if product not in EVERY:
            raise RecipeError(f"no product {product!r}; take one of {self.corpus.products}")
        if partition not in (known := self.corpus.partitions(product)):
            shown = ", ".join(known[:12]) + (", …" if len(known) > 12 else "")
            none = f"none, as there is no section {product}" if product in MODELS else "none, as mixes is empty"
            raise RecipeError(f"{product} has no partition {partition!r}; take one of {shown or none}")

    def state(
        self, product: str, partition: str, *, seen: dict[Cell, bool] | None = None
    ) -> Literal["there", "stale", "missing"]:
        """Whether a partition is committed, and still what the recipe and its inputs would make.

        Args:
            product: one of store.PRODUCTS.
            partition: its key.
            seen: what was found of others; whoever asks for many at a time hands one dictionary to all.
        """
        found = self._committed((product, partition))
        if found is None:
            return "missing"
        return "there" if self._is_fresh((product, partition), found, {} if seen is None else seen) else "stale"

    def causes(self, product: str, partition: str) -> Causes:
        """Inputs from the manifests of fresh upstream partitions, and settings.

        Raises:
            UpstreamError: one of them is absent or stale.
        """
        inputs: dict[str, str] = {}
        seen: dict[Cell, bool] = {}
        for cell in self.corpus.upstream(product, partition):
            found = self._committed(cell)
            if found is None or not self._is_fresh(cell, found, seen):
                what = "is not there" if found is None else "is stale: its settings or inputs changed since"
                raise UpstreamError(
                    f"{product} {partition} needs {cell[0]} {cell[1]}, which {what}; materialize that partition first, "
                    f"e.g. dataassets build {self.corpus.located.file} --stage {cell[0]} --partition '{cell[1]}'"
                )
            inputs["/".join(cell)] = found.digest
        return Causes(inputs, self.corpus.settings(product, partition), CODE_VERSIONS[product])

    def _committed(self, cell: Cell) -> "_Committed | None":
        """What a manifest says, read anew each time and parsed where it changed: with a history there are many."""
        data = self.store.manifest_bytes(*cell)
        if data is None:
            return None
        mark = xxhash.xxh3_128_digest(data)
        if cell not in self._parsed or self._parsed[cell][0] != mark:
            manifest = self.store.manifest(*cell)
            if manifest is None:
                return None
            inputs = manifest.inputs if cell[0] == "raw" else {}
            self._parsed[cell] = mark, _Committed(manifest.key, manifest.digest, inputs)
        return self._parsed[cell][1]

    def _is_fresh(self, cell: Cell, committed: "_Committed", seen: dict[Cell, bool]) -> bool:
        """Whether the recipe and the upstream manifests would make the same key again.

        Input files of raw are not looked at here: raw itself reads them whenever it is materialized.
        """
        if cell not in seen:
            product, partition = cell
            if product == "duplicates":
                self._look_at_history(partition, seen)
            inputs: dict[str, str] = dict(committed.inputs)
            fresh = True
            if product != "raw":
                inputs = {}
                for needed in self.corpus.upstream(product, partition):
                    other = self._committed(needed)
                    fresh = fresh and other is not None and self._is_fresh(needed, other, seen)
                    if other is not None:
                        inputs["/".join(needed)] = other.digest
            causes = Causes(inputs, self.corpus.settings(product, partition), CODE_VERSIONS[product])
            seen[cell] = fresh and causes.job(product, partition).key == committed.key
        return seen[cell]

    def _look_at_history(self, snapshot: str, seen: dict[Cell, bool]) -> None:
        """Snapshots that one looks back at, oldest first: so a long history is no deep recursion."""
        for earlier in self.corpus.looked_back_at(snapshot):
            cell = ("duplicates", earlier)
            if cell not in seen and (there := self._committed(cell)) is not None:
                self._is_fresh(cell, there, seen)

    def input_files(self, partition: str) -> list[Any]:
        """Files of one cell; static sources lie whole in the first snapshot.

        Raises:
            RecipeError: the source matches no file in any snapshot.
        """
        from dataassets.stages.read import list_files

        snapshot, name = split_key(partition)
        source = self.corpus.located.recipe.sources[name]
        located = self.corpus.located
        first = snapshot == self.corpus.snapshots[0]
        patterns = [located.resolve(p) for p in source.paths if first or "{snapshot}" in p]
        files = list_files(patterns, snapshot=snapshot)
        if not files and not any(
            list_files([located.resolve(p) for p in source.paths], snapshot=s) for s in self.corpus.snapshots
        ):
            raise RecipeError(
                f"{located.file}: sources.{name}.paths = {list(source.paths)} match no file in any snapshot; "
                "mend the patterns or put the files there"
            )
        return files

    def causes_of_raw(self, partition: str, files: Sequence[Any]) -> Causes:
        """Inputs by content of the files, and settings."""
        from dataassets.stages.read import fingerprint

        inputs = {file.origin: fingerprint(file) for file in files}
        return Causes(inputs, self.corpus.settings("raw", partition), CODE_VERSIONS["raw"])
