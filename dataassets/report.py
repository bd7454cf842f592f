"""What a stage tells of itself beside its records: counters, histograms, samples. Reports of units add up.

Merging is associative and keeps the order of units, so a product's report does not depend on who computed which unit.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

SAMPLES_PER_REASON = 3
SAMPLE_CHARS = 240


@dataclass(frozen=True)
class Histogram:
    """Counts of values between fixed edges; values outside fall in the first or last bin.

    Args:
        edges: N + 1 rising bin edges.
        counts: N counts.
        limits: the thresholds to draw as lines, rising.
    """

    edges: tuple[float, ...]
    counts: tuple[int, ...]
    limits: tuple[float, ...] = ()

    @classmethod
    def of(cls, values: npt.ArrayLike, *, edges: Sequence[float], limits: Iterable[float] = ()) -> "Histogram":
        """Count values; NaN is left out.

        >>> Histogram.of([0.1, 0.2, 9.0], edges=[0, 0.15, 1]).counts
        (1, 2)
        """
        found, ends = np.asarray(values, np.float64), np.asarray(edges, np.float64)
        bins = np.searchsorted(ends[1:-1], found[~np.isnan(found)], side="right")  # below the first end: 0
        counts = np.bincount(bins, minlength=len(ends) - 1)
        return cls(tuple(ends.tolist()), tuple(counts.tolist()), tuple(sorted(set(limits))))

    def __add__(self, other: "Histogram") -> "Histogram":
        assert self.edges == other.edges, "histograms of one name have one set of edges"
        return Histogram(self.edges, tuple(a + b for a, b in zip(self.counts, other.counts, strict=True)), self.limits)


@dataclass(frozen=True)
class Report:
    """Counters, histograms and samples of one unit, or of many merged.

    Args:
        counts: free counters of the stage, e.g. `{"pii:email": 3}`.
        histograms: by name of the quantity.
        samples: by reason, at most SAMPLES_PER_REASON small rows of plain JSON values (first ones in document order).
    """

    counts: Mapping[str, int] = field(default_factory=dict)
    histograms: Mapping[str, Histogram] = field(default_factory=dict)
    samples: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)

    def __add__(self, other: "Report") -> "Report":
        counts = dict(self.counts)
        for name, n in other.counts.items():
            counts[name] = counts.get(name, 0) + n
        histograms = dict(self.histograms)
        for name, h in other.histograms.items():
            histograms[name] = histograms[name] + h if name in histograms else h
        samples = {reason: list(rows) for reason, rows in self.samples.items()}
        for reason, rows in other.samples.items():
            samples[reason] = [*samples.get(reason, []), *rows][:SAMPLES_PER_REASON]
        return Report(counts, histograms, samples)

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values, for a manifest.

        >>> Report(counts={"a": 1}).to_json()
        {'counts': {'a': 1}, 'histograms': {}, 'samples': {}}
        """
        return {
            "counts": dict(self.counts),
            "histograms": {
                name: {"edges": list(h.edges), "counts": list(h.counts), "limits": list(h.limits)}
                for name, h in self.histograms.items()
            },
            "samples": {reason: [dict(row) for row in rows] for reason, rows in self.samples.items()},
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Report":
        """The inverse of `to_json`.

        >>> Report.from_json(Report(counts={"a": 1}).to_json()).counts
        {'a': 1}
        """
        histograms = {
            name: Histogram(tuple(h["edges"]), tuple(h["counts"]), _limits(h)) for name, h in data["histograms"].items()
        }
        return cls(dict(data["counts"]), histograms, dict(data["samples"]))


def _limits(histogram: Mapping[str, Any]) -> tuple[float, ...]:
    """The limits of a histogram in a manifest; those written earlier have one, or null."""
    if "limits" in histogram:
        return tuple(histogram["limits"])
    return () if histogram["limit"] is None else (histogram["limit"],)


def merge(reports: Iterable[Report]) -> Report:
    """Add reports up in the order given.

    >>> merge([Report({"a": 1}), Report({"a": 2, "b": 1})]).counts
    {'a': 3, 'b': 1}
    """
    total = Report()
    for report in reports:
        total = total + report
    return total


@dataclass(frozen=True)
class Check:
    """One quality check, computed before a commit and kept in the manifest.

    Args:
        name: as in the asset's check specs.
        passed: whether it holds.
        blocking: nothing is committed where a blocking check fails; others warn.
        numbers: float metadata, usually `rate` and `limit`, which the UI plots.
        note: one sentence for a person.
    """

    name: str
    passed: bool
    blocking: bool
    numbers: Mapping[str, float] = field(default_factory=dict)
    note: str = ""

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values, for a manifest.

        >>> Check("ids_unique", True, blocking=True).to_json()["passed"]
        True
        """
        return {
            "name": self.name,
            "passed": self.passed,
            "blocking": self.blocking,
            "numbers": {name: float(x) for name, x in self.numbers.items()},
            "note": self.note,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Check":
        """The inverse of `to_json`.

        >>> Check.from_json(Check("a", False, blocking=True).to_json()).passed
        False
        """
        return cls(data["name"], data["passed"], data["blocking"], data["numbers"], data["note"])
