"""Partitions of the graph and how they map onto each other."""

import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import dagster as dg

from dataassets.recipe.snapshots import Cadence, next_start
from dataassets.runner import Corpus
from dataassets.store import MODELS, WHOLE

SNAPSHOT, SOURCE = "snapshot", "source"  # dimensions of the corpus; keys read snapshot|source, as these names sort

_WINDOWS: dict[Cadence, Callable[..., dg.TimeWindowPartitionsDefinition]] = {
    "daily": dg.DailyPartitionsDefinition,
    "weekly": dg.WeeklyPartitionsDefinition,
    "monthly": dg.MonthlyPartitionsDefinition,
}


@dataclass(frozen=True)
class Partitions:
    """The partitions of one recipe.

    Args:
        snapshot: time windows.
        corpus: snapshot x source.
        mix: names of mixes.
        models: products without partitions that the recipe asks for, with the partitions of `cleaned` that each reads.
        history: whether duplicates are looked for in earlier snapshots too.
    """

    snapshot: dg.TimeWindowPartitionsDefinition
    corpus: dg.MultiPartitionsDefinition
    mix: dg.StaticPartitionsDefinition
    history: bool = False
    models: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, corpus: Corpus) -> "Partitions":
        """Partitions of a corpus, the very keys that the runner knows."""
        snapshot = windows(corpus)
        source = dg.StaticPartitionsDefinition(corpus.sources)
        return cls(
            snapshot,
            dg.MultiPartitionsDefinition({SNAPSHOT: snapshot, SOURCE: source}),
            dg.StaticPartitionsDefinition(corpus.partitions("mixed")),
            history=corpus.located.recipe.dedup.scope == "history",
            models={p: [key for _, key in corpus.upstream(p, WHOLE)] for p in corpus.products if p in MODELS},
        )

    def by_snapshot(self, name: str) -> dg.AssetDep:
        """A dependency between the corpus and one snapshot of it, whichever side has the sources."""
        return dg.AssetDep(name, partition_mapping=dg.MultiToSingleDimensionPartitionMapping(SNAPSHOT))

    def all_of(self, name: str) -> dg.AssetDep:
        """A dependency on all partitions of an asset."""
        return dg.AssetDep(name, partition_mapping=dg.AllPartitionMapping())

    def read_by(self, model: str) -> dg.AssetDep:
        """The dependency of a model on the partitions of `cleaned` that it reads, and on no others."""
        return dg.AssetDep("cleaned", partition_mapping=dg.SpecificPartitionsPartitionMapping(self.models[model]))

    def before(self, name: str) -> list[dg.AssetDep]:
        """What an asset of a snapshot needs of itself: the snapshot before, where history counts.

        One step back only, since Dagster takes minutes to resolve "all earlier"; the runner walks the chain.
        """
        one_back = dg.TimeWindowPartitionMapping(start_offset=-1, end_offset=-1)
        return [dg.AssetDep(name, partition_mapping=one_back)] if self.history else []


def windows(corpus: Corpus) -> dg.TimeWindowPartitionsDefinition:
    """Time windows of the recipe's snapshots.

    Dagster's end is exclusive where the recipe's is inclusive, and Dagster offers closed windows only: a recipe whose
    end lies ahead gets as many windows more.
    """
    told = corpus.located.recipe.snapshots
    last = dt.date.fromisoformat(corpus.snapshots[-1])
    return _WINDOWS[told.cadence](
        start_date=told.start.isoformat(),
        end_date=next_start(last, cadence=told.cadence).isoformat() if told.end else None,
        end_offset=len(corpus.snapshots) - len(corpus.closed),
    )
