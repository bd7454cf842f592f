"""What a partition is made of: the committed parts that it reads, and the units of work that read them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from dataassets.recipe import Filter, Recipe
from dataassets.runner.corpus import Cell, Corpus
from dataassets.runner.duplicates import Past
from dataassets.runner.models import models_of
from dataassets.runner.shares import cuts_of
from dataassets.runner.units import Unit
from dataassets.runner.wide import PartFile
from dataassets.store import MODELS, WHOLE, FileEntry, Job, Store, is_beside, rows_of, split_key


@dataclass(frozen=True)
class Parts:
    """Looks up parts and makes units of them; boundaries depend on recipe and data alone.

    Args:
        corpus: of the recipe.
        store: where products lie; whatever is upstream is committed.
    """

    corpus: Corpus
    store: Store

    @property
    def _recipe(self) -> Recipe:
        return self.corpus.located.recipe

    def raw_units(self, job: Job, files: Sequence[Any]) -> list[Unit]:
        """Files in order, small ones together up to a part's size: boundaries depend on the data alone."""
        source = self._recipe.sources[split_key(job.partition)[1]]
        part_bytes = self._recipe.compute.part_bytes
        groups: list[list[Any]] = []
        size = part_bytes
        for file in files:
            if size + file.bytes > part_bytes:
                groups.append([])
                size = 0
            groups[-1].append(file)
            size += file.bytes
        return [Unit(self.store, job, i, (), (tuple(g), source, part_bytes)) for i, g in enumerate(groups)]

    def units(self, job: Job) -> list[Unit]:
        """One unit for each upstream part."""
        settings = self._settings(job)
        upstream = self.corpus.upstream(job.product, job.partition)
        cells = [c for c in upstream if c[0] not in ("duplicates", *MODELS)]
        columns = [self.of(cell[0], [cell]) for cell in cells]
        return [
            Unit(self.store, job, i, tuple((p.product, p.partition, p.entry) for p in row), settings)
            for i, row in enumerate(zip(*columns, strict=True))
        ]

    def _settings(self, job: Job) -> Any:  # noqa: ANN401 - what each stage takes (runner.units)
        snapshot, source = split_key(job.partition)
        if job.product == "cleaned":
            return self._recipe.clean_of(source), self._recipe.sources[source].normalize
        if job.product == "signatures":
            return self._recipe.dedup_of(source)
        if job.product == "tokenized":
            return self._recipe.tokenize
        if job.product == "deduped":
            duplicates = self.store.manifest("duplicates", snapshot)
            assert duplicates is not None, "causes were looked up"
            return tuple(e.name for e in rows_of(duplicates))
        filters = self.corpus.located.filter_of(source)
        if job.product == "signals":
            return filters, self._trained(filters)
        return filters, cuts_of(self.store, job.partition, filters=filters)

    def _trained(self, filters: Filter) -> dict[str, FileEntry]:
        """The files of the models that a filter asks, by product; names relative to the root."""
        return {
            p.product: replace(p.entry, name=f"{p.product}/{p.entry.name}")
            for model in models_of(filters)
            for p in self.of(model, [(model, WHOLE)])
        }

    def of(self, product: str, cells: Sequence[Cell]) -> list[PartFile]:
        """All parts of committed partitions, in order."""
        parts = []
        for cell in cells:
            manifest = self.store.manifest(*cell)
            assert manifest is not None, "causes were looked up"
            parts += [PartFile(product, cell[1], entry) for entry in rows_of(manifest)]
        return parts

    def signed(self, snapshot: str) -> list[PartFile]:
        """Parts of the signatures of a snapshot, in document order."""
        return self.of("signatures", _only("signatures", self.corpus.upstream("duplicates", snapshot)))

    def past(self, snapshot: str) -> Past:
        """An earlier snapshot whose duplicates were found."""
        manifest = self.store.manifest("duplicates", snapshot)
        assert manifest is not None, "causes were looked up"
        keys = tuple(entry.name for entry in manifest.files if is_beside(entry.name))
        return Past(snapshot, self.signed(snapshot), keys, manifest.digest)

    def tokens(self, mix: str) -> list[PartFile]:
        """The `.bin` files that a mix reads, in document order."""
        parts = self.of("tokenized", self.corpus.upstream("mixed", mix))
        return [p for p in parts if p.entry.name.endswith(".bin")]


def _only(product: str, cells: Sequence[Cell]) -> list[Cell]:
    return [cell for cell in cells if cell[0] == product]
