"""Signals to decisions, without a look at the text: the first test that a document fails is its reason.

Shapes: D documents.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dataassets.recipe import Filter
from dataassets.records import KEPT
from dataassets.stages.filter import languages, rules
from dataassets.stages.filter.languages import Part
from dataassets.stages.filter.rule import Ruling


class Found(NamedTuple):
    """Documents that a test removed, or masked.

    Args:
        reason: `<rule>:<test>`.
        test: as it was applied to them.
        rows: int64, their rows, rising.
    """

    reason: str
    test: Ruling
    rows: npt.NDArray[np.int64]


@dataclass(frozen=True)
class Verdict:
    """What the rules say of some documents.

    Args:
        parts: the documents by the settings of their language.
        reasons: what the numbers in `failed_by` stand for; the first one, "", for a document that is kept.
        failed_by: int64 [D], the number of each document's reason.
        found: what each test removed, in the order in which they judge.
        masked: what each test that masks found in documents that are kept, with their part.
        kept_after: documents that each rule leaves, by rule, in the order in which they judge.
    """

    parts: list[Part]
    reasons: list[str]
    failed_by: npt.NDArray[np.int64]
    found: list[Found]
    masked: list[tuple[Part, Found]]
    kept_after: dict[str, int]

    @property
    def kept(self) -> npt.NDArray[np.bool_]:
        """Whether a document stays: bool [D]."""
        return np.equal(self.failed_by, 0)

    @property
    def reason(self) -> pa.Array:
        """The reason of each document: string [D]."""
        return pa.array(self.reasons, pa.string()).take(pa.array(self.failed_by))

    def test_of(self, row: int) -> Ruling:
        """The test that removed a document.

        Args:
            row: of a document that is not kept.
        """
        reason = self.reasons[self.failed_by[row]]
        return next(f.test for f in self.found if f.reason == reason and row in f.rows)


def decide(signals: pa.Table, *, settings: Filter) -> Verdict:
    """Apply the thresholds to signals.

    Args:
        signals: measured with the same `measured_by(settings)`; columns of lists are not read.
        settings: which rules judge, with what limits; they judge in the order of RULES, each document by the settings
            of its language.

    >>> from dataassets.recipe import Length
    >>> signals = pa.table({"language": ["en", "de"], "num_chars": [3, 9]})
    >>> decide(signals, settings=Filter(length=Length(min=5))).reason.to_pylist()
    ['length:short', '']
    """
    parts = languages.parts(signals.column("language"), settings=settings)
    numbers = signals.select([field.name for field in signals.schema if not pa.types.is_list(field.type)])
    tables = [languages.taken(numbers, part) for part in parts]
    judging = [rules.judging(part.settings) for part in parts]
    reasons, failed_by, kept_after = {KEPT: 0}, np.zeros(len(signals), np.int64), dict[str, int]()
    found: list[Found] = []
    masks: list[tuple[Part, Found]] = []
    for rule in settings.on:
        for part, table, on in zip(parts, tables, judging, strict=True):
            for test in on[rule].tests(table, settings=part.settings) if rule in on else ():
                reason, failed = f"{rule}:{test.name}", part.rows[test.failed]
                if not test.drops:
                    masks.append((part, Found(reason, test, failed)))
                    continue
                gone = failed[failed_by[failed] == 0]
                failed_by[gone] = reasons.setdefault(reason, len(reasons))
                found.append(Found(reason, test, gone))
        kept_after[rule] = int((failed_by == 0).sum())
    masked = [(part, own._replace(rows=own.rows[failed_by[own.rows] == 0])) for part, own in masks]
    return Verdict(parts, list(reasons), failed_by, found, masked, kept_after)


def limits(signals: pa.Table, *, settings: Filter) -> dict[str, list[float]]:
    """By signal that some test reads, the numbers that it is held against, whatever the language of a document.

    Args:
        signals: any; what they hold does not matter.
        settings: as for `decide`.
    """
    nothing = signals.slice(0, 0)
    found: dict[str, list[float]] = {}
    for own in languages.every(settings):
        for judging in rules.judging(own).values():
            for test in judging.tests(nothing, settings=own):
                found.setdefault(test.column, []).extend([test.limit] if isinstance(test.limit, int | float) else [])
    return found
