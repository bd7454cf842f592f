"""Checks of `filtered` against the limits of the recipe: what is kept, what one rule drops, how languages move."""

from collections.abc import Mapping
from typing import Any

from dataassets.recipe import Checks, Filter, LanguageDrift
from dataassets.report import Check
from dataassets.store import Manifest

DRIFT = "language_drift"
CHECKS = "checks"  # in the settings of `filtered`, beside its rules
_LANGUAGE, _KEPT_AFTER = "language:", "kept_after:"
Result = tuple[bool, Mapping[str, float], str]  # whether it holds, its numbers, what to say beside the promise


def settings(limits: Checks) -> dict[str, Any]:
    """The limits that the stored checks of a partition depend on, as JSON, beside its filter's settings.

    Args:
        limits: of its source.
    """
    return {CHECKS: limits.model_dump(mode="json", exclude={DRIFT})}


def filter_of(manifest: Manifest) -> Filter:
    """The rules that a partition of `filtered` was judged by.

    Args:
        manifest: of it.
    """
    return Filter.model_validate({name: own for name, own in manifest.settings.items() if name != CHECKS})


def results(manifest: Manifest, limits: Checks) -> dict[str, Result]:
    """The checks by limits that depend on the partition alone.

    Args:
        manifest: of `filtered`, composed.
        limits: of its source.
    """
    return {"retention": _retention(manifest, limits), "no_rule_drops_all": _rule_drop(manifest, limits)}


def blocking(limits: Checks) -> dict[str, bool]:
    """Which of these checks the recipe lets block.

    Args:
        limits: of the source.
    """
    return {"retention": limits.retention.block, "no_rule_drops_all": limits.rule_drop.block}


def _retention(manifest: Manifest, limits: Checks) -> Result:
    own = limits.retention
    num_in, num_out = manifest.counts.get("documents_in", 0), manifest.counts.get("documents", 0)
    rate = num_out / num_in if num_in else 1.0
    holds = not num_in or own.min <= rate <= own.max
    return holds, {"rate": rate, "limit": own.min, "max": own.max}, ""


def _rule_drop(manifest: Manifest, limits: Checks) -> Result:
    """The rule that drops most of what it is given."""
    own = limits.rule_drop
    worst, rate = "", 0.0
    given = manifest.counts.get("documents_in", 0)
    for rule in filter_of(manifest).on:
        left = _counts(manifest).get(f"{_KEPT_AFTER}{rule}")
        if left is None:
            continue
        if given >= own.min_documents and (given - left) / given > rate:
            worst, rate = rule, (given - left) / given
        given = left
    note = f"{worst} drops {rate:.1%} of what it is given" if worst else ""
    return rate <= own.max, {"rate": rate, "limit": own.max}, note


def languages(manifest: Manifest) -> dict[str, int]:
    """Documents of each language among those that were judged, kept or not.

    Args:
        manifest: of `filtered`.
    """
    counts = _counts(manifest).items()
    return {name.removeprefix(_LANGUAGE): n for name, n in counts if name.startswith(_LANGUAGE)}


def distance(here: Mapping[str, int], there: Mapping[str, int]) -> float:
    """Total variation: the share that would have to move from one value to another to make two counts alike.

    Args:
        here: counts, their sum above 0.
        there: counts, their sum above 0.

    >>> distance({"en": 3, "de": 1}, {"en": 10})
    0.25
    """
    a, b = sum(here.values()), sum(there.values())
    return sum(abs(here.get(x, 0) / a - there.get(x, 0) / b) for x in sorted({*here, *there})) / 2


def language_drift(here: Manifest, before: Manifest | None, *, snapshot: str, limits: LanguageDrift) -> Check:
    """How far the languages moved since an earlier snapshot; what cannot be compared holds, and says so.

    Args:
        here: of `filtered`.
        before: the same source, earlier; None where it is not there.
        snapshot: the earlier one; "" where there is none.
        limits: of the source.
    """
    now, then = languages(here), languages(before) if before else {}
    fewest = min(sum(now.values()), sum(then.values()))
    if not snapshot:
        note = "nothing to compare with: no earlier snapshot has documents"
    elif before is None:
        note = f"unknown: filtered of {snapshot} is not there; materialize it, then this partition again"
    elif fewest < limits.min_documents:
        note = f"unknown: {fewest} documents beside {snapshot}, fewer than min_documents = {limits.min_documents}"
    else:
        rate = distance(now, then)
        moved = max({*now, *then}, key=lambda x: abs(_share(now, x) - _share(then, x)))
        note = f"since {snapshot} most of it {moved}, {_share(then, moved):.1%} to {_share(now, moved):.1%}"
        numbers = {"rate": rate, "limit": limits.max}
        return Check(DRIFT, rate <= limits.max, blocking=False, numbers=numbers, note=note)
    return Check(DRIFT, True, blocking=False, numbers={"limit": limits.max}, note=note)


def _share(counts: Mapping[str, int], name: str) -> float:
    return counts.get(name, 0) / sum(counts.values())


def _counts(manifest: Manifest) -> Mapping[str, int]:
    found: Mapping[str, int] = (manifest.report or {}).get("counts", {})
    return found
