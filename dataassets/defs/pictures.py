"""Which plots tell most of each product: a small one that Dagster draws in place, a full one behind a click."""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

from dataassets.defs import glance, plots
from dataassets.report import Report
from dataassets.runner.limits import filter_of
from dataassets.store import Manifest

# The quantity that a product's small plot shows; where it is not among the histograms, the first one.
_FIRST = {
    "cleaned": "characters",
    "signals": "num_nonsymbol_words",
    "signatures": "shingles",
    "duplicates": "similarity",
}


def of_product(manifest: Manifest, report: Report) -> Mapping[str, str]:
    """The plots of one partition.

    Args:
        manifest: of the partition.
        report: of its stage.

    Returns:
        Markdown by name: `plot`, drawn in place, and `plot_full`; for filtered the `thresholds` too.
    """
    small, svg = _PICTURES[manifest.product](manifest, report)
    found = {"plot": small or "nothing to draw", "plot_full": _image(svg)}
    if manifest.product == "filtered" and report.histograms:
        found["thresholds"] = _image(_histograms(manifest, report)[1])
    return found


def _image(svg: str) -> str:
    return f"![plot]({plots.data_uri(svg)})"


def _title(manifest: Manifest, what: str) -> str:
    return f"{what}, {manifest.partition.replace('|', ' ')}"


def _in_and_out(manifest: Manifest, _report: Report) -> tuple[str, str]:
    """Documents in, after each reason of a drop, largest first."""
    left = manifest.counts.get("documents_in", 0)
    steps = [("records" if manifest.product == "raw" else "documents in", left)]
    for reason, n in sorted(manifest.dropped.items(), key=lambda item: (-item[1], item[0])):
        left -= n
        steps.append((f"less {reason}", left))
    steps.append((manifest.product, left))
    return glance.bars(steps), plots.funnel(steps, title=_title(manifest, f"What became of {manifest.product}"))


def _rules(manifest: Manifest, report: Report) -> tuple[str, str]:
    """What each rule leaves, in the order in which they judge; the small plot shows those that take something."""
    left = {name.removeprefix("kept_after:"): n for name, n in report.counts.items() if name.startswith("kept_after:")}
    steps = [
        ("cleaned", manifest.counts.get("documents_in", 0)),
        *((r, left[r]) for r in filter_of(manifest).on if r in left),
    ]
    takes = {rule: before - n for (_, before), (rule, n) in pairwise(steps)}
    most = max(takes, key=lambda rule: takes[rule], default=None)
    marked = most if most and takes[most] else None
    title = _title(manifest, "Kept after each rule" + (f" ({marked} takes most)" if marked else ""))
    return glance.bars(_takers(steps, takes)), plots.funnel(steps, title=title, marked=marked)


def _takers(steps: Sequence[tuple[str, int]], takes: Mapping[str, int]) -> list[tuple[str, int]]:
    """The first step and the rules that take most, as many as are drawn in place, in the order of the steps."""
    shown = sorted((rule for rule in takes if takes[rule]), key=lambda rule: -takes[rule])[: glance.ROWS - 1]
    told = {rule: f"{rule}, −{plots.human(takes[rule])}" for rule in shown}
    return [steps[0], *((told[rule], n) for rule, n in steps[1:] if rule in told)]


def _histograms(manifest: Manifest, report: Report) -> tuple[str, str]:
    first = _FIRST.get(manifest.product, "")
    name = first if first in report.histograms else next(iter(report.histograms), "")
    small = glance.skyline(name, report.histograms[name]) if name else ""
    return small, plots.small_multiples(report.histograms, title=_title(manifest, manifest.product.capitalize()))


def _mix(manifest: Manifest, _report: Report) -> tuple[str, str]:
    sources = (manifest.format or {}).get("sources", {})
    items = [(name, s["asked"], s["tokens"]) for name, s in sources.items()]
    small = glance.bars([(f"tokens {name}", tokens) for name, _, tokens in items])
    return small, plots.paired_bars(items, title=f"Mix {manifest.partition}", unit="tokens")


_PICTURES: dict[str, Callable[[Manifest, Report], tuple[str, str]]] = {
    "raw": _in_and_out,
    "cleaned": _histograms,
    "signals": _histograms,
    "filtered": _rules,
    "signatures": _histograms,
    "duplicates": _histograms,
    "deduped": _in_and_out,
    "tokenized": _histograms,
    "mixed": _mix,
}
