"""One row of a product in a sentence: what a stage did to a document, in the words of the recipe."""

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from dataassets.runner.limits import filter_of
from dataassets.store import Manifest

_SNIPPET = 100  # characters of text shown


def record(manifest: Manifest, row: pa.Table, *, was_dropped: bool, signals: pa.Table | None) -> str:
    """A document in a product of Parquet.

    Args:
        manifest: of the product's partition.
        row: one row of it, or of what it dropped.
        was_dropped: whether it is the latter.
        signals: the document's row of signals, where it was met.
    """
    values = row.to_pylist()[0]
    if was_dropped:
        return f"dropped, {_reason(manifest, values['reason'], signals)}{_content(values)}"
    if manifest.product == "raw":
        url = f", {values['url']}" if values["url"] else ""
        return f"{values['origin']} at position {values['position']:,}: {_size(values)}{url}"
    if manifest.product == "signals":
        return _signals(values)
    if manifest.product == "signatures":
        signed = "a MinHash signature" if values["signature"] else "too short, or not meant, for a MinHash signature"
        return f"{signed}, {values['num_shingles']:,} distinct shingles"
    rules = filter_of(manifest).on if manifest.product == "filtered" else []
    passed = f"passed {', '.join(rules)}; " if rules else ""
    return f"{passed}{len(values['text']):,} characters{_content(values)}"


def repetition(row: Mapping[str, Any], match: Mapping[str, Any]) -> str:
    """A row of `duplicates`.

    Args:
        row: records.DUPLICATES.
        match: `url` and `origin` of the kept document; {} where it is not at hand.
    """
    where = match.get("url") or match.get("origin")
    alike = "the same text" if row["reason"].startswith("exact") else f"similarity {row['similarity']:.3f}"
    told = f"{row['reason']}: repeats {row['match_id'].hex()} of {row['match_source']}"
    return f"{told}{f', {where}' if where else ''}, {alike}"


def place(shard: str, ordinals: Sequence[int]) -> str:
    """Where a document stands in a shard.

    Args:
        shard: its name without ending.
        ordinals: each time it stands there.

    >>> place("train/shard_00000", [3, 90])
    'train/shard_00000: documents 3, 90'
    """
    shown = ", ".join(f"{n:,}" for n in ordinals)
    return f"{shard}: document{'s' if len(ordinals) > 1 else ''} {shown}"


def _reason(manifest: Manifest, reason: str, signals: pa.Table | None) -> str:
    """The reason, with what was measured and the recipe's limit where a rule judged a number."""
    rule, _, name = reason.partition(":")
    if manifest.product != "filtered" or signals is None:
        return reason
    from dataassets.stages.filter import rules

    settings = filter_of(manifest).of(signals.column("language")[0].as_py())
    for test in rules.judging(settings)[rule].tests(signals, settings=settings):
        if test.name == name:
            value = signals.column(test.column)[0].as_py()
            limit = "" if test.limit is None else f", limit {number(test.limit)}"
            return f"{reason} ({test.column} {number(value)}{limit})"
    return reason


def _signals(values: Mapping[str, Any]) -> str:
    score = values["language_score"]
    language = f"language {values['language']} {score:.3f}" if score is not None else "language not measured"
    shares = [
        f"{name} {number(values[name])}" for name in ("dup_line_frac", "top_2_gram", "alpha_words") if values[name]
    ]
    sizes = f"{values['num_chars']:,} characters, {values['num_words']:,} words, {values['num_lines']:,} lines"
    return ", ".join([sizes, language, *shares])


def _content(values: Mapping[str, Any]) -> str:
    text = snippet(values.get("text") or values.get("content") or "")
    return f': "{text}"' if text else ""


def snippet(content: str | bytes) -> str:
    r"""The beginning of a text on one line.

    >>> snippet("a\n\tb")
    'a b'
    """
    text = content[: 4 * _SNIPPET].decode("utf-8", "replace") if isinstance(content, bytes) else content[: 4 * _SNIPPET]
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())[:_SNIPPET]


def _size(values: Mapping[str, Any]) -> str:
    return f"{len(values['content']):,} bytes of {values['media_type']}"


def number(value: object) -> str:
    """A number in four digits, a list of names by commas.

    >>> number(0.123456), number(["en", "de"]), number(200)
    ('0.1235', 'en, de', '200')
    """
    if isinstance(value, float):
        return f"{value:.4g}"
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
