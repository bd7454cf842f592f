"""Which documents of one source are read, and how often: the val side, whole epochs, a hash-ordered remainder.

Shapes: D documents of a source, n picks.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dataassets.recipe import Mix, RecipeError
from dataassets.stages.mix.model import Available, SourcePlan
from dataassets.stages.mix.order import Keys, argsorted, id_words, keyed_order

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Chosen:
    """Picks of one source.

    Args:
        told: its numbers.
        row: int64 [n], document among the source's.
        copy: int32 [n].
        val: bool [n].
    """

    told: SourcePlan
    row: Ints
    copy: npt.NDArray[np.int32]
    val: npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Documents:
    """All documents of one source, part after part.

    Args:
        source: its name.
        part: int64 [D], place of their part among all parts.
        ordinal: int64 [D], row in it.
        length: int64 [D], tokens.
        id_D2: uint64 [D, 2], ids.
        hash: uint64 [D], the hash that decides the side.
        is_val: bool [D], the side.
    """

    source: str
    part: Ints
    ordinal: Ints
    length: Ints
    id_D2: Keys
    hash: Keys
    is_val: npt.NDArray[np.bool_]

    @property
    def train_tokens(self) -> int:
        """Tokens of the train side."""
        return int(self.length[~self.is_val].sum())


def gathered(source: str, parts: Sequence[Available], *, settings: Mix) -> Documents:
    """The documents of one source, and their sides.

    A document is on the val side iff the hash of its id is below `val_fraction`: it never changes sides as data grows.

    Args:
        source: its name.
        parts: of all sources.
        settings: of the mix.

    Raises:
        RecipeError: nothing to train on.
    """
    own = [(i, one) for i, one in enumerate(parts) if one.source == source]
    length = np.concatenate([np.empty(0, np.int64), *(one.lengths.astype(np.int64) for _, one in own)])
    id_D2 = np.concatenate([np.empty((0, 2), np.uint64), *(id_words(one.ids) for _, one in own)])
    hash_D = keyed_order(id_D2, salt="val")
    documents = Documents(
        source=source,
        part=np.repeat([i for i, _ in own], [len(one.lengths) for _, one in own]).astype(np.int64),
        ordinal=np.concatenate([np.empty(0, np.int64), *(np.arange(len(one.lengths)) for _, one in own)]),
        length=length,
        id_D2=id_D2,
        hash=hash_D,
        is_val=val_side(hash_D, fraction=settings.val_fraction),
    )
    if not documents.train_tokens:
        raise RecipeError(
            f"weights.{source} = {settings.weights[source]:g}, but the source has no tokens to train on "
            f"({len(length)} documents); materialize its tokenized partitions, loosen its filter, or leave it out"
        )
    return documents


def choose(documents: Documents, *, works: int, settings: Mix) -> Chosen:
    """Choose the documents of one source.

    Of the val side, documents are taken once each, lowest hash first, to the document boundary closest to the target.
    Train is whole epochs of its side and a remainder in the order of another hash, which depends on the seed, to the
    closest boundary.

    Args:
        documents: of the source.
        works: a number of tokens that would not be too many, for the error.
        settings: of the mix.

    Returns:
        The picks; train before val, in no order that matters.

    Raises:
        RecipeError: more epochs than `max_epochs`.
    """
    source, id_D2, length_D, hash_D = documents.source, documents.id_D2, documents.length, documents.hash
    weight = settings.weights[source]
    target = settings.tokens * weight
    train_rows, val_rows = np.flatnonzero(~documents.is_val), np.flatnonzero(documents.is_val)
    available = documents.train_tokens
    val_rows = val_rows[argsorted(hash_D[val_rows])]
    val_rows = _prefix(val_rows, length_D, target=target * settings.val_fraction)
    val_tokens = int(length_D[val_rows].sum())
    wanted = max(target - val_tokens, 0.0)
    if wanted > settings.max_epochs * available * (1 + 1e-12):
        raise RecipeError(_too_often(source, wanted, available, works=works, settings=settings))
    epochs = int(wanted // available)
    seeded = keyed_order(id_D2[train_rows], salt=f"remainder {settings.seed}")
    some = train_rows[argsorted(seeded)]
    some = _prefix(some, length_D, target=wanted - epochs * available)
    row = np.concatenate([np.tile(train_rows, epochs), some, val_rows])
    copy = np.repeat(np.arange(epochs + 2), [*[len(train_rows)] * epochs, len(some), len(val_rows)])
    copy[len(row) - len(val_rows) :] = 0
    train_tokens = epochs * available + int(length_D[some].sum())
    told = SourcePlan(
        source=source,
        weight=weight,
        asked=max(1, round(target)),
        asked_val=round(target * settings.val_fraction),
        train=train_tokens,
        val=val_tokens,
        available=int(length_D.sum()),
        available_train=available,
        documents=len(length_D),
        train_documents=len(row) - len(val_rows),
        val_documents=len(val_rows),
        epochs=train_tokens / available,
        longest=int(length_D.max()),
    )
    return Chosen(told, row, copy.astype(np.int32), np.arange(len(row)) >= len(row) - len(val_rows))


def val_side(hash_D: Keys, *, fraction: float) -> npt.NDArray[np.bool_]:
    """Documents whose hash / 2^64 is below the fraction, bool [D].

    >>> val_side(np.array([0, 2**63, 2**64 - 1], np.uint64), fraction=0.5).tolist()
    [True, False, False]
    """
    return hash_D < np.uint64(int(fraction * 2**64))


def _prefix(rows: Ints, length_D: Ints, *, target: float) -> Ints:
    """The first rows whose tokens come closest to the target; the shorter of two equally close."""
    sums = np.concatenate([[0], np.cumsum(length_D[rows])])
    after = int(np.searchsorted(sums, target))
    if after > 0 and (after == len(sums) or target - sums[after - 1] <= sums[after] - target):
        after -= 1
    return rows[:after]


def most_tokens(available: Mapping[str, int], *, settings: Mix) -> int:
    """The largest `tokens` of a mix that repeats no source more than `max_epochs` times.

    What val takes is left out of the reckoning, so the number holds for any document boundary.

    Args:
        available: train tokens of each source.
        settings: weights and max_epochs.

    >>> most_tokens({"a": 100}, settings=Mix(tokens=1, weights={"a": 1}, max_epochs=2))
    200
    """
    return min(int(settings.max_epochs * n / settings.weights[source]) for source, n in available.items())


def _too_often(source: str, wanted: float, available: int, *, works: int, settings: Mix) -> str:
    weight, epochs = settings.weights[source], wanted / available
    smaller = int(settings.max_epochs * available / settings.tokens * 1e6) / 1e6
    return (
        f"weights.{source} = {weight:g} of tokens = {settings.tokens:,} wants {round(wanted):,} tokens to train on, "
        f"but the source has {available:,}: {epochs:.2f} epochs, max_epochs = {settings.max_epochs:g}; take "
        f"tokens = {works:,} or less (that suits all sources), or a weight of {smaller:g} or less for {source}, "
        f"or max_epochs = {epochs + 0.005:.2f}"
    )
