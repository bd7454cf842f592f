"""Raw records to documents: decode, extract, normalize, mask; each row on its own."""

from collections import Counter
from typing import Any, NamedTuple

import pyarrow as pa

from dataassets.recipe import Clean
from dataassets.records import DOCUMENTS, KEPT, with_reason
from dataassets.report import SAMPLE_CHARS, SAMPLES_PER_REASON, Histogram, Report
from dataassets.stages.clean.charset import decode
from dataassets.stages.clean.normal import normalized
from dataassets.stages.clean.pii import find_pii, mask_pii

CHARACTER_EDGES = (0, 1, 10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000, 10_000_000)
_HTML = ("text/html", "application/xhtml+xml")


class _Cleaned(NamedTuple):
    """What became of one record; `counts` are the counters that it adds to."""

    text: str
    reason: str
    counts: Counter[str]
    value: float | None = None
    limit: float | None = None


def clean(records: pa.Table, *, settings: Clean, normalize: bool) -> tuple[pa.Table, Report]:
    """Turn raw bytes into text.

    Reasons: `clean:media_type` (neither HTML nor text), `clean:undecodable`, `clean:attributes` (a tag with more
    attributes than a parser can take), `clean:unparsable`, `clean:empty`; `pii:<kind>` where `settings.pii` is drop.

    Args:
        records: of schema RAW.
        settings: the extractor, and what becomes of personal data.
        normalize: put text into normal form; else it is only decoded (and extracted, where it is HTML).

    Returns:
        All records in their order as `with_reason(DOCUMENTS)`, language still null; a report with counters
        `charset:<name>`, `html:<event>`, `pii:<kind>` (places masked), and a histogram of `characters` of those kept.
    """
    contents, media_types = records.column("content"), records.column("media_type").to_pylist()
    done = [
        _one(content.as_buffer().to_pybytes(), media_type, settings=settings, normalize=normalize)
        for content, media_type in zip(contents, media_types, strict=True)
    ]
    num = len(done)
    columns = {
        **{name: records.column(name) for name in records.column_names if name in DOCUMENTS.names},
        "text": pa.array([d.text for d in done], pa.large_string()),
        "language": pa.nulls(num, pa.string()),
        "language_score": pa.nulls(num, pa.float32()),
        "reason": pa.array([d.reason for d in done], pa.string()),
    }
    schema = with_reason(DOCUMENTS)
    table = pa.table([columns[name] for name in schema.names], schema=schema)
    return table, _report(table, done)


def _one(content: bytes, media_type: str, *, settings: Clean, normalize: bool) -> _Cleaned:
    counts: Counter[str] = Counter()
    base = media_type.split(";", 1)[0].strip().lower()
    if base not in _HTML and not base.startswith("text/"):
        return _Cleaned("", "clean:media_type", counts)
    decoded = decode(content, media_type=media_type, html=base in _HTML)
    if decoded is None:
        return _Cleaned("", "clean:undecodable", counts)
    text = decoded.text
    counts[f"charset:{decoded.charset}"] += 1
    if decoded.num_replaced:
        counts["charset:repaired"] += 1
    if base in _HTML:
        from dataassets.stages.clean.html import extract  # compiled, for those who have HTML only

        page = extract(text)
        counts.update(page.counts)
        if page.reason != KEPT:
            return _Cleaned("", page.reason, counts, page.value, page.limit)
        text = page.text
    if normalize:
        text = normalized(text)
    if not text or text.isspace():
        return _Cleaned(text, "clean:empty", counts)
    return _without_pii(text, counts, pii=settings.pii)


def _without_pii(text: str, counts: Counter[str], *, pii: str) -> _Cleaned:
    if pii == "drop" and (kinds := find_pii(text)):
        return _Cleaned(text, f"pii:{min(kinds)}", counts)
    if pii == "mask":
        text, masked = mask_pii(text)
        counts.update({f"pii:{kind}": n for kind, n in masked.items()})
    return _Cleaned(text, KEPT, counts)


def _report(table: pa.Table, done: list[_Cleaned]) -> Report:
    counts: Counter[str] = Counter()
    samples: dict[str, list[dict[str, Any]]] = {}
    for i, row in enumerate(done):
        counts.update(row.counts)
        if row.reason != KEPT and len(samples.setdefault(row.reason, [])) < SAMPLES_PER_REASON:
            sample = {"id": table["id"][i].as_py().hex(), "url": table["url"][i].as_py()}
            # what was dropped for personal data is not shown
            sample["snippet"] = "" if row.reason.startswith("pii:") else row.text[:SAMPLE_CHARS]
            if row.value is not None:
                sample |= {"value": row.value, "limit": row.limit}
            samples[row.reason].append(sample)
    characters = Histogram.of([len(d.text) for d in done if d.reason == KEPT], edges=CHARACTER_EDGES)
    return Report(dict(sorted(counts.items())), {"characters": characters}, samples)
