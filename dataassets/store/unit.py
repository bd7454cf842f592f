"""What one finished unit of work left behind: its files, what they hold, its report."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from dataassets.report import Report
from loader.format import FileEntry, canonical_json


@dataclass(frozen=True)
class UnitRecord:
    """One unit's share of a product, merged into the manifest in unit order.

    Args:
        files: product files, names relative to the root.
        dropped_files: files of what was removed, names relative to the root.
        digests: of the logical content of each file that counts as content, in order.
        counts: documents in and out, bytes of text, tokens, ...
        dropped: reason -> documents.
        report: what the stage told.
        numbers: measured for checks (sums over units).
    """

    files: tuple[FileEntry, ...] = ()
    dropped_files: tuple[FileEntry, ...] = ()
    digests: tuple[str, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    dropped: Mapping[str, int] = field(default_factory=dict)
    report: Report = field(default_factory=Report)
    numbers: Mapping[str, int] = field(default_factory=dict)

    def to_bytes(self) -> bytes:
        """Canonical JSON.

        >>> UnitRecord.from_bytes(UnitRecord(counts={"documents": 2}).to_bytes()).counts
        {'documents': 2}
        """
        body = asdict(self) | {"report": self.report.to_json()}
        return canonical_json(body)

    @classmethod
    def from_bytes(cls, data: bytes) -> "UnitRecord":
        """The inverse of `to_bytes`."""
        body: dict[str, Any] = json.loads(data)
        for name in ("files", "dropped_files"):
            body[name] = tuple(FileEntry(**entry) for entry in body[name])
        return cls(**body | {"digests": tuple(body["digests"]), "report": Report.from_json(body["report"])})


def total(maps: list[Mapping[str, int]]) -> dict[str, int]:
    """Add counters up by name.

    >>> total([{"a": 1}, {"a": 2, "b": 3}])
    {'a': 3, 'b': 3}
    """
    out: dict[str, int] = {}
    for counters in maps:
        for name, n in counters.items():
            out[name] = out.get(name, 0) + n
    return out
