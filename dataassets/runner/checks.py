"""The checks of each product: what is promised before a commit, by name, and how it is computed."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from dataassets.recipe import Checks
from dataassets.report import Check
from dataassets.runner import limits as by_limits
from dataassets.store import Manifest

RETENTION_FLOOR = 0.01  # an extraction that keeps less is more likely wrong than strict
REMOVAL_LIMIT = 0.9  # of a source, by dedup
MIX_TOLERANCE = 0.005


@dataclass(frozen=True)
class Promise:
    """A check as Dagster lists it before any run.

    Args:
        name: of the check.
        blocking: whether nothing is committed where it fails.
        description: one sentence for a person.
        is_stored: the manifest keeps its result. Where another partition counts too, which may come later, it is
            computed whenever the partition is asked for, and never blocks.
    """

    name: str
    blocking: bool
    description: str
    is_stored: bool = True


_BALANCE = Promise("counts_balance", True, "documents in = documents out + dropped by reason")
_ALIGNED = Promise("rows_match_upstream", True, "one row for each upstream document, in its order")

PROMISES: dict[str, tuple[Promise, ...]] = {
    "raw": (
        _BALANCE,
        Promise("ids_unique", True, "no two documents share an id"),
        Promise("bad_records", False, "share of unreadable records within the source's max_bad"),
    ),
    "cleaned": (
        _BALANCE,
        Promise("no_pii_left", True, "no pattern of personal data is found in the text, unless the recipe keeps it"),
        Promise("not_all_dropped", False, "extraction left some text"),
    ),
    "signals": (_ALIGNED, Promise("no_nulls", True, "every signal that exists for any document was measured for each")),
    "filtered": (
        _BALANCE,
        Promise("retention", False, "the share of documents kept is within the recipe's checks.retention"),
        Promise("no_rule_drops_all", False, "no rule drops nearly all that it is given (checks.rule_drop)"),
        Promise(by_limits.DRIFT, False, "languages are about those of the snapshot before", is_stored=False),
    ),
    "signatures": (_ALIGNED, Promise("signed_share", False, "most documents are long enough to be compared")),
    "duplicates": (
        Promise("matches_are_kept", True, "each match of a dropped document is itself kept"),
        Promise("dropped_once", True, "no document is dropped twice"),
        Promise("removal_share", False, "not nearly everything is a duplicate"),
    ),
    "deduped": (
        _BALANCE,
        Promise("drops_equal_duplicates", True, "as many documents went as `duplicates` lists for this source"),
    ),
    "tokenized": (
        _ALIGNED,
        Promise("round_trip", True, "a sample agrees with tiktoken and decodes to its text"),
        Promise("ids_in_vocabulary", True, "every token id is below the vocabulary's size"),
    ),
    "mixed": (
        Promise("mix_on_target", True, "tokens of each source within 0.5 % of the target, or one document of it"),
        Promise("train_val_disjoint", True, "no document is in both train and val"),
        Promise("checksums", True, "shards read back as they were written, and hold what was planned"),
    ),
}


_DEFAULTS = Checks()


def compute(
    manifest: Manifest,
    numbers: Mapping[str, float],
    *,
    max_bad: float = 1.0,
    bad_blocks: bool = False,
    limits: Checks = _DEFAULTS,
) -> list[Check]:
    """Compute the checks of a corpus product from its counts.

    Args:
        manifest: composed, not yet committed.
        numbers: measured by the units (see runner.units).
        max_bad: of the source, for raw.
        bad_blocks: of the source, for raw.
        limits: of the source, for filtered.
    """
    counts = manifest.counts
    num_in, num_out = counts.get("documents_in", 0), counts.get("documents", 0)
    dropped = sum(manifest.dropped.values())
    found: dict[str, tuple[bool, Mapping[str, float]]] = {
        "counts_balance": (num_in == num_out + dropped, {"in": num_in, "out": num_out, "dropped": dropped}),
        "rows_match_upstream": _equal(num_out, numbers.get("rows_expected", 0)),
        "ids_unique": (numbers.get("repeated_ids", 0) == 0, {"repeated": numbers.get("repeated_ids", 0)}),
        "bad_records": _at_most(_share(dropped, num_in), max_bad),
        "no_pii_left": (numbers.get("pii_left", 0) == 0, {"documents": numbers.get("pii_left", 0)}),
        "not_all_dropped": _at_least(_share(num_out, num_in, empty=1.0), RETENTION_FLOOR),
        "no_nulls": (numbers.get("nulls", 0) == 0, {"nulls": numbers.get("nulls", 0)}),
        "signed_share": _at_least(_share(numbers.get("signed", 0), num_out, empty=1.0), 0.5),
        "drops_equal_duplicates": _equal(dropped, numbers.get("duplicates", 0)),
        "round_trip": (
            numbers.get("mismatches", 0) == 0,
            {"sampled": numbers.get("sampled", 0), "mismatches": numbers.get("mismatches", 0)},
        ),
        "ids_in_vocabulary": _below(numbers.get("largest_id", 0), numbers.get("vocabulary", 1)),
    }
    by_recipe = by_limits.results(manifest, limits) if manifest.product == "filtered" else {}
    results = told(manifest.product, found | {name: result[:2] for name, result in by_recipe.items()})
    blocks = {"bad_records": bad_blocks} | by_limits.blocking(limits)
    notes = {name: f"{note}; " for name, (_, _, note) in by_recipe.items() if note}
    return [
        replace(c, blocking=c.blocking or blocks.get(c.name, False), note=notes.get(c.name, "") + c.note)
        for c in results
    ]


def told(product: str, results: Mapping[str, tuple[bool, Mapping[str, float]]]) -> list[Check]:
    """Checks of a product whose results are at hand.

    Args:
        product: one of PROMISES.
        results: by name of the check: whether it holds, and its numbers.
    """
    return [
        Check(p.name, results[p.name][0], blocking=p.blocking, numbers=_floats(results[p.name][1]), note=p.description)
        for p in PROMISES[product]
        if p.is_stored
    ]


def _floats(numbers: Mapping[str, float]) -> dict[str, float]:
    return {name: float(x) for name, x in numbers.items()}


def _share(part: float, whole: float, *, empty: float = 0.0) -> float:
    return part / whole if whole else empty


def _equal(found: float, wanted: float) -> tuple[bool, dict[str, float]]:
    return found == wanted, {"found": found, "wanted": wanted}


def _at_most(rate: float, limit: float) -> tuple[bool, dict[str, float]]:
    return rate <= limit, {"rate": rate, "limit": limit}


def _at_least(rate: float, limit: float) -> tuple[bool, dict[str, float]]:
    return rate >= limit, {"rate": rate, "limit": limit}


def _below(value: float, limit: float) -> tuple[bool, dict[str, float]]:
    return value < limit, {"value": value, "limit": limit}
