"""A quality classifier from two sets of documents: a balanced sample, fastText, and what it is worth on the rest.

All choices are by hash of the document's id: the sample, who is held out, and the order in which fastText reads. So the
model does not depend on parts, workers or the order of files; one thread and a seed make fastText repeat itself.

Shapes: D documents, P parts, H held-out documents, T thresholds.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import xxhash

from dataassets.hashing import keyed_order
from dataassets.recipe import HIGH, QualityModel
from dataassets.report import Histogram, Report
from dataassets.stages.filter.rule import SHARES

LOW = "__label__cc"  # of the ordinary class, as DCLM's published classifier names it
NUM_BUCKETS = 16  # of the examples on their way to one order: bounds memory, changes no result
FEWEST = {"train": 10, "held_out": 2}  # of each class: below it neither model nor measurement means anything
_NOTHING = pa.table({"good": pa.array([], pa.bool_()), "text": pa.array([], pa.large_string())})
THRESHOLDS = tuple(round(0.1 * k, 1) for k in range(1, 10))


@dataclass(frozen=True, eq=False)
class Examples:
    """The documents of one part that are taken.

    Args:
        rows: int64, of the part.
        order: uint64, where fastText reads each: by rising value.
        held_out: bool, kept from training.
        good: whether the part is of the positive class.
    """

    rows: npt.NDArray[np.int64]
    order: npt.NDArray[np.uint64]
    held_out: npt.NDArray[np.bool_]
    good: bool

    def table(self, documents: pa.Table) -> pa.Table:
        """The examples of a part, with a column `bucket` for the exchange that puts them in order.

        Args:
            documents: records.DOCUMENTS, the whole part.
        """
        taken = documents.take(pa.array(self.rows))
        columns = {
            "bucket": (self.order >> np.uint64(60)).astype(np.uint32),
            "order": self.order,
            "id": taken.column("id"),
            "good": np.full(len(taken), self.good),
            "held_out": self.held_out,
            "text": one_line(taken.column("text")),
        }
        return pa.table(columns)


@dataclass(frozen=True)
class Trained:
    """What became of a training.

    Args:
        model: its file; None where there were too few examples.
        counts: of examples, by class and side.
        facts: what people ask of it, as JSON: AUC, precision and recall by threshold.
        report: histograms of the held-out scores by class.
    """

    model: Path | None
    counts: Mapping[str, int]
    facts: Mapping[str, Any] = field(default_factory=dict)
    report: Report = field(default_factory=Report)


def one_line(texts: pa.ChunkedArray) -> pa.ChunkedArray:
    r"""Texts as lines of fastText: line feeds are spaces, and no word of a text passes for a label.

    Args:
        texts: large_string [D].

    >>> one_line(pa.chunked_array([["a\nb __label__x"]])).to_pylist()
    ['a b label_x']
    """
    return pc.replace_substring(pc.replace_substring(texts, "\n", " "), "__label__", "label_")


def choose(ids: Sequence[npt.NDArray[Any]], good: Sequence[bool], *, settings: QualityModel) -> list[Examples]:
    """A sample of both classes, equally many of each.

    Args:
        ids: of each part, its documents' ids: P arrays of 16 bytes an item.
        good: of each part, whether it is of the positive class.
        settings: how many, which share is held out, seed.

    Returns:
        One for each part.
    """
    keys = [[bytes(i) for i in part.tolist()] for part in ids]
    classes = np.repeat(np.array(good, bool), [len(k) for k in keys])
    flat = [i for part in keys for i in part]
    drawn, order, side = (_hashed(flat, f"{settings.seed}/{what}") for what in ("sample", "order", "held out"))
    number = min([settings.per_class, int(classes.sum()), int((~classes).sum())])
    taken = np.zeros(len(flat), bool)
    for own in (classes, ~classes):
        members = np.flatnonzero(own)
        taken[members[np.argsort(drawn[members], kind="stable")[:number]]] = True
    held_out = side < np.uint64(int(settings.held_out * 2**64))
    found, start = [], 0
    for part, is_good in zip(keys, good, strict=True):
        rows = np.flatnonzero(taken[start : start + len(part)])
        found.append(Examples(rows, order[start + rows], held_out[start + rows], is_good))
        start += len(part)
    return found


def _hashed(ids: list[bytes], salt: str) -> npt.NDArray[np.uint64]:
    return keyed_order(ids, salt=f"quality_model/{salt}")


def _are_enough(counts: Mapping[str, int]) -> bool:
    """Whether there are examples enough of each class to train and to measure."""
    return all(counts.get(f"{side}:{label}", 0) >= n for side, n in FEWEST.items() for label in ("good", "ordinary"))


def train_quality(buckets: Iterable[pa.Table], *, settings: QualityModel, folder: Path) -> Trained:
    """Train a classifier and measure it on what was held out.

    Args:
        buckets: examples, as `Examples.table` gives them, a bucket at a time; sorted here within each.
        settings: of the training.
        folder: where its files are written; the model stays there.
    """
    import fasttext

    from dataassets.stages.filter.linear import probabilities  # as the filter will score

    folder.mkdir(parents=True, exist_ok=True)
    counts = {f"{side}:{label}": 0 for side in FEWEST for label in ("good", "ordinary")}
    trained_on: set[int] = set()
    kept: list[pa.Table] = []
    lines = folder / "train.txt"
    with lines.open("wb") as file:
        for bucket in buckets:
            rows = bucket.sort_by([("order", "ascending"), ("id", "ascending")])
            kept.append(rows.filter(pc.field("held_out")).select(_NOTHING.column_names))
            for is_good, text in zip(*_columns(rows.filter(~pc.field("held_out"))), strict=True):
                line = text.encode()
                file.write(f"{HIGH if is_good else LOW} ".encode() + line + b"\n")
                trained_on.add(xxhash.xxh3_64_intdigest(line))
                counts["train:good" if is_good else "train:ordinary"] += 1
    held_out = pa.concat_tables([_NOTHING, *kept])
    copied = [xxhash.xxh3_64_intdigest(text.encode()) in trained_on for text in held_out.column("text").to_pylist()]
    held_out = held_out.filter(pc.invert(pa.array(copied, pa.bool_())))  # a text that was learnt measures nothing
    good = np.array(held_out.column("good").to_pylist(), bool)
    counts["held_out:good"], counts["held_out:ordinary"] = int(good.sum()), int((~good).sum())
    if not _are_enough(counts):
        return Trained(None, counts)
    knobs = settings.model_dump(include={"lr", "dim", "epoch", "bucket", "seed"})
    knobs |= {"minCount": settings.min_count, "wordNgrams": settings.word_ngrams}
    model = fasttext.train_supervised(str(lines), loss="softmax", thread=1, verbose=0, **knobs)
    path = folder / "model.bin"
    model.save_model(str(path))
    lines.unlink()
    scores = probabilities(held_out.column("text"), model=path, label=HIGH, key="filter.quality.label")
    return Trained(path, counts, measured(scores, good), _report(scores, good))


def measured(scores: npt.NDArray[np.float32], good: npt.NDArray[np.bool_]) -> dict[str, Any]:
    """What scores are worth: AUC, and precision, recall and the share above each threshold.

    Args:
        scores: float32 [H].
        good: bool [H], the truth; both classes are there.

    >>> measured(np.array([0.9, 0.2], np.float32), np.array([True, False]))["auc"]
    1.0
    """
    rows = []
    for threshold in THRESHOLDS:
        above = scores >= threshold
        hits = int((above & good).sum())
        precision = hits / int(above.sum()) if above.any() else None
        share, recall = float(above.mean()), hits / int(good.sum())
        rows.append({"threshold": threshold, "precision": precision, "recall": recall, "share": share})
    return {"auc": auc(scores, good), "thresholds": rows}


def auc(scores: npt.NDArray[np.float32], good: npt.NDArray[np.bool_]) -> float:
    """The chance that a good document scores above an ordinary one; equal scores count half.

    Args:
        scores: float32 [H].
        good: bool [H]; both classes are there.

    Source: Mann and Whitney, 1947: the sum of the ranks of one class, equal values sharing theirs.

    >>> auc(np.array([0.5, 0.5], np.float32), np.array([True, False]))
    0.5
    """
    _, place, count = np.unique(scores, return_inverse=True, return_counts=True)
    rank = np.cumsum(count) - (count - 1) / 2
    num_good = int(good.sum())
    above = rank[place][good].sum() - num_good * (num_good + 1) / 2
    return float(above / (num_good * (len(good) - num_good)))


def _report(scores: npt.NDArray[np.float32], good: npt.NDArray[np.bool_]) -> Report:
    classes = {"score of positive, held out": scores[good], "score of negative, held out": scores[~good]}
    return Report(histograms={name: Histogram.of(own, edges=SHARES) for name, own in classes.items()})


def _columns(rows: pa.Table) -> tuple[list[bool], list[str]]:
    return rows.column("good").to_pylist(), rows.column("text").to_pylist()
