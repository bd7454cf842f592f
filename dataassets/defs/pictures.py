"""Which plot tells most of each product."""

from collections.abc import Callable, Mapping

from dataassets.defs import plots
from dataassets.recipe import Filter
from dataassets.report import Report
from dataassets.store import Manifest


def of_product(manifest: Manifest, report: Report) -> Mapping[str, str]:
    """The plots of one partition.

    Args:
        manifest: of the partition.
        report: of its stage.

    Returns:
        SVG texts by name; the one that tells most is `plot`.
    """
    plots_by_name = {"plot": _PICTURES[manifest.product](manifest, report)}
    if manifest.product == "filtered" and report.histograms:
        plots_by_name["thresholds"] = _histograms(manifest, report)
    return plots_by_name


def _title(manifest: Manifest, what: str) -> str:
    return f"{what}, {manifest.partition.replace('|', ' ')}"


def _in_and_out(manifest: Manifest, _report: Report) -> str:
    """Documents in, after each reason of a drop, largest first."""
    left = manifest.counts.get("documents_in", 0)
    steps = [("records" if manifest.product == "raw" else "documents in", left)]
    for reason, n in sorted(manifest.dropped.items(), key=lambda item: (-item[1], item[0])):
        left -= n
        steps.append((f"less {reason}", left))
    return plots.funnel(steps, title=_title(manifest, f"What became of {manifest.product}"))


def _rules(manifest: Manifest, report: Report) -> str:
    left = {name.removeprefix("kept_after:"): n for name, n in report.counts.items() if name.startswith("kept_after:")}
    steps = [
        ("cleaned", manifest.counts.get("documents_in", 0)),
        *((rule, left[rule]) for rule in Filter.model_fields if rule in left),
    ]
    return plots.funnel(steps, title=_title(manifest, "Kept after each rule"))


def _histograms(manifest: Manifest, report: Report) -> str:
    return plots.small_multiples(report.histograms, title=_title(manifest, manifest.product.capitalize()))


def _mix(manifest: Manifest, _report: Report) -> str:
    sources = (manifest.format or {}).get("sources", {})
    items = [(name, s["asked"], s["tokens"]) for name, s in sources.items()]
    return plots.paired_bars(items, title=f"Mix {manifest.partition}", unit="tokens")


_PICTURES: dict[str, Callable[[Manifest, Report], str]] = {
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
