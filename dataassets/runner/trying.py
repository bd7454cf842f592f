"""What other thresholds would do, from the signals that are there: counts by source and reason, without a text pass.

Shapes: D documents of one part.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dataassets.recipe import Filter, Located, RecipeError
from dataassets.runner.causes import Ledger, UpstreamError
from dataassets.runner.corpus import Corpus
from dataassets.store import FileEntry, Store, partition_key, split_key

if TYPE_CHECKING:  # a stage is imported where it runs
    from dataassets.stages.filter import Verdict


@dataclass
class Tally:
    """What the filter keeps of one source.

    Args:
        documents: judged.
        kept: of them.
        characters: of the kept ones, as cleaned.
        dropped: by reason.
    """

    documents: int = 0
    kept: int = 0
    characters: int = 0
    dropped: Counter[str] = field(default_factory=Counter)

    def add(self, verdict: "Verdict", num_chars: npt.NDArray[np.int64]) -> None:
        """Count the documents of a part."""
        kept = verdict.kept
        counts = np.bincount(verdict.failed_by, minlength=len(verdict.reasons)).tolist()
        self.documents += len(kept)
        self.kept += counts[0]
        self.characters += int(num_chars[kept].sum())
        self.dropped.update({reason: n for reason, n in zip(verdict.reasons, counts, strict=True) if reason and n})

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(
            self.documents + other.documents,
            self.kept + other.kept,
            self.characters + other.characters,
            self.dropped + other.dropped,
        )


class Part(NamedTuple):
    """Some documents: a partition and their file in its `cleaned`."""

    partition: str
    cleaned: FileEntry


class Mover(NamedTuple):
    """A document that changes sides.

    Args:
        was: its reason now, "" where it is kept.
        then: its reason with the change.
        column: the signal that decides, now or then.
        value: of that signal.
        limit: that it fails, or failed.
        part: where it lies.
        row: of the part.
    """

    was: str
    then: str
    column: str
    value: object
    limit: object
    part: Part
    row: int


@dataclass
class Trial:
    """One way to write the filters, beside the way in which they are written.

    Args:
        tallies: by source.
        newly_dropped: by source, documents kept now.
        newly_kept: by source, documents dropped now.
        movers: by (source, reason now, reason then), the first ones in the order of documents.
    """

    tallies: dict[str, Tally] = field(default_factory=dict)
    newly_dropped: Counter[str] = field(default_factory=Counter)
    newly_kept: Counter[str] = field(default_factory=Counter)
    movers: dict[tuple[str, str, str], list[Mover]] = field(default_factory=dict)

    @property
    def total(self) -> Tally:
        """Of all sources."""
        return sum(self.tallies.values(), Tally())


class Outcome(NamedTuple):
    """The filters as they are, and as each variant has them.

    Args:
        now: as the recipe has them.
        then: of each variant.
        partitions: whose signals were judged.
        left_out: partitions without signals that are up to date.
    """

    now: Trial
    then: list[Trial]
    partitions: list[str]
    left_out: list[str]


class Tuner:
    """Tries filters on the signals of a corpus; writes nothing.

    Args:
        located: the recipe.
    """

    def __init__(self, located: Located) -> None:
        self.corpus = Corpus.of(located)
        self.store = Store.at(located.root)
        self.ledger = Ledger(self.corpus, self.store)

    def tried(self, variants: Sequence[Located], *, partitions: Sequence[str] = (), num_samples: int = 3) -> Outcome:
        """Judge all documents by each variant.

        Args:
            variants: recipes that differ from this one in their filters.
            partitions: keys of those to judge; none means all whose signals are up to date.
            num_samples: most movers of each source, reason now and reason then; of the first variant alone.

        Raises:
            RecipeError: a variant changes what signals measure, or there is no such partition.
            UpstreamError: signals that are asked for, or all of them, are absent or stale.
        """
        usable, left_out = self._usable(partitions)
        corpora = [Corpus(variant, self.corpus.today) for variant in variants]
        for corpus in corpora:
            self._refuse_other_signals(corpus, dict.fromkeys(split_key(p)[1] for p in usable))
        trials = [Trial() for _ in (self.corpus, *corpora)]
        for partition in usable:
            source = split_key(partition)[1]
            filters = [c.located.filter_of(source) for c in (self.corpus, *corpora)]
            for part, signals in self._parts(partition, filters[0]):
                _judge(trials, filters, signals, part=part, num_samples=num_samples)
        return Outcome(trials[0], trials[1:], usable, left_out)

    def characters_per_token(self, source: str) -> float | None:
        """Characters of cleaned text for each token, from the manifests; None where nothing of it is tokenized."""
        keys = [key for key in self.corpus.partitions("tokenized") if split_key(key)[1] == source]
        tokenized = self._summed("tokenized", keys)
        if not tokenized["tokens"]:
            return None
        num_chars, num_bytes = self._summed("signals", keys)["characters"], self._summed("cleaned", keys)["bytes"]
        return tokenized["bytes_in"] / tokenized["tokens"] * num_chars / num_bytes

    def _summed(self, product: str, keys: Sequence[str]) -> Counter[str]:
        """Counts of the partitions that are there, those of their reports too."""
        found: Counter[str] = Counter()
        for key in keys:
            if (manifest := self.store.manifest(product, key)) is not None:
                found.update((manifest.report or {}).get("counts", {}) | manifest.counts)
        return found

    def texts(self, movers: Sequence[Mover]) -> list[dict[str, Any]]:
        """Id, url and text of some documents, in their order; of the files, only the row groups that hold them."""
        found: dict[tuple[Part, int], dict[str, Any]] = {}
        rows_of: dict[Part, list[int]] = {}
        for mover in movers:
            rows_of.setdefault(mover.part, []).append(mover.row)
        for part, rows in rows_of.items():
            table = self.store.read_rows(
                "cleaned", part.partition, part.cleaned.name, rows=rows, columns=["id", "url", "text"]
            )
            found |= {(part, row): values for row, values in zip(rows, table.to_pylist(), strict=True)}
        return [found[mover.part, mover.row] for mover in movers]

    def _usable(self, asked: Sequence[str]) -> tuple[list[str], list[str]]:
        """Partitions with signals that are up to date, and those without."""
        for partition in asked:
            self.ledger.refuse_unknown("signals", partition)
        states = {key: self.ledger.state("signals", key) for key in asked or self.corpus.partitions("signals")}
        usable = [key for key, state in states.items() if state == "there"]
        left_out = [key for key, state in states.items() if state != "there"]
        if left_out and (asked or not usable):
            key = left_out[0]
            what = {"missing": "are not there", "stale": "are stale: their settings or inputs changed since"}
            only = f" --partition '{key}'" if asked else ""
            raise UpstreamError(
                f"signals {key} {what[states[key]]}; measure first: "
                f"dataassets build {self.corpus.located.file} --stage signals{only}"
            )
        return usable, left_out

    def _refuse_other_signals(self, corpus: Corpus, sources: Iterable[str]) -> None:
        """A variant is judged by the signals that are there only if these are its own; more of them do not matter."""
        for source in sources:
            key = partition_key(self.corpus.snapshots[0], source)
            here, there = self.corpus.settings("signals", key), corpus.settings("signals", key)
            if not _holds(here, there):
                raise RecipeError(
                    f"the change makes other signals ({', '.join(_differences(here, there))}, of {source}), so those "
                    "that are there cannot tell; write it into a recipe and measure anew: "
                    f"dataassets build {self.corpus.located.file} --stage signals"
                )

    def _parts(self, partition: str, filters: Filter) -> Iterator[tuple[Part, pa.Table]]:
        """The parts of a partition with their signals, but those that are lists: no test reads them."""
        from dataassets.stages.filter import schema

        cleaned, signals = (self.store.manifest(product, partition) for product in ("cleaned", "signals"))
        assert cleaned, "signals are up to date"
        assert signals, "signals are there"
        plain = [own.name for own in schema(filters) if own.name != "id" and not pa.types.is_nested(own.type)]
        for text, measured in zip(cleaned.files, signals.files, strict=True):
            yield Part(partition, text), self.store.read_part("signals", partition, measured.name, columns=plain)


def _judge(
    trials: Sequence[Trial], filters: Sequence[Filter], signals: pa.Table, *, part: Part, num_samples: int
) -> None:
    """Count a part in each trial; the first one is what holds now."""
    from dataassets.stages.filter import decide

    source = split_key(part.partition)[1]
    num_chars = signals.column("num_chars").to_numpy()
    verdicts = [decide(signals, settings=settings) for settings in filters]
    now = verdicts[0]
    for trial, verdict in zip(trials, verdicts, strict=True):
        trial.tallies.setdefault(source, Tally()).add(verdict, num_chars)
        trial.newly_dropped[source] += int((now.kept & ~verdict.kept).sum())
        trial.newly_kept[source] += int((verdict.kept & ~now.kept).sum())
    for trial, verdict in zip(trials[1:2], verdicts[1:2], strict=True):
        for mover in _movers(now, verdict, signals, part=part, most=num_samples):
            told = trial.movers.setdefault((source, mover.was, mover.then), [])
            if len(told) < num_samples:
                told.append(mover)


def _movers(now: "Verdict", then: "Verdict", signals: pa.Table, *, part: Part, most: int) -> Iterator[Mover]:
    """The first documents of a part that change sides, of each pair of reasons."""
    rows = np.flatnonzero(now.kept != then.kept)
    pair = now.failed_by[rows] * len(then.reasons) + then.failed_by[rows]
    for code in np.unique(pair).tolist():
        before, after = divmod(code, len(then.reasons))
        judge = then if after else now
        for row in rows[pair == code][:most].tolist():
            test = judge.test_of(row)
            value = signals.column(test.column)[row].as_py()
            yield Mover(now.reasons[before], then.reasons[after], test.column, value, test.limit, part, row)


def _holds(here: Mapping[str, Any], there: Mapping[str, Any]) -> bool:
    """Whether signals measured by some settings hold all that others would measure, for every language."""
    ours, theirs = here.get("languages", {}), there.get("languages", {})
    pairs = [(here, there), *((ours.get(code, here), theirs.get(code, there)) for code in {*ours, *theirs})]
    return all(own.get(name) == knobs for own, other in pairs for name, knobs in other.items() if name != "languages")


def _differences(here: Mapping[str, Any], there: Mapping[str, Any], *, path: str = "") -> Iterator[str]:
    """Paths of what differs in two settings."""
    for name in dict.fromkeys([*here, *there]):
        a, b, own = here.get(name), there.get(name), f"{path}{name}"
        if isinstance(a, Mapping) and isinstance(b, Mapping):
            yield from _differences(a, b, path=f"{own}.")
        elif a != b:
            yield own
