"""A mix planned from ids and lengths alone: what is picked, its global order, the cut into shards.

Shapes: n picks of all parts.
"""

import itertools
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from dataassets.recipe import Mix
from dataassets.stages.mix.choosing import Chosen, choose, gathered, most_tokens
from dataassets.stages.mix.model import Available, Picks, Plan, ShardPlan, Split
from dataassets.stages.mix.order import Keys, keyed_order

Ints = npt.NDArray[np.int64]


def plan(parts: Sequence[Available], *, settings: Mix) -> Plan:
    """Plan a mix exactly, before anything is written.

    Args:
        parts: of `tokenized`, in document order; sources without a weight are passed over.
        settings: of the mix.

    Returns:
        The plan. Shards, and the order of documents in them, do not depend on the cut of a source into parts.

    Raises:
        RecipeError: a source has no tokens, or would be repeated more than `max_epochs` times; with numbers that work.
    """
    sources = [gathered(name, parts, settings=settings) for name in settings.weights]
    works = most_tokens({docs.source: docs.train_tokens for docs in sources}, settings=settings)
    both = [(docs, choose(docs, works=works, settings=settings)) for docs in sources]
    part = np.concatenate([docs.part[chosen.row] for docs, chosen in both])
    ordinal = np.concatenate([docs.ordinal[chosen.row] for docs, chosen in both])
    length = np.concatenate([docs.length[chosen.row] for docs, chosen in both])
    ids = np.concatenate([docs.id_D2[chosen.row] for docs, chosen in both])
    order = np.concatenate([shuffled(docs.id_D2, chosen, seed=settings.seed) for docs, chosen in both])
    copy = np.concatenate([chosen.copy for _, chosen in both])
    val = np.concatenate([chosen.val for _, chosen in both])
    shard = np.empty(len(part), np.uint32)
    shards: list[ShardPlan] = []
    for split in ("train", "val"):
        rows = np.flatnonzero(val == (split == "val"))
        rows = rows[ordered(order[rows], ids[rows], copy[rows])]
        cuts = shard_cuts(length[rows], most=settings.tokens_per_shard)
        shard[rows] = len(shards) + np.repeat(np.arange(len(cuts) - 1), np.diff(cuts))
        shards += _told(split, length[rows], cuts)
    by_part = np.argsort(part, kind="stable")
    bounds = np.searchsorted(part[by_part], np.arange(len(parts) + 1))
    groups = [by_part[a:b] for a, b in itertools.pairwise(bounds.tolist())]
    picks = tuple(Picks(shard[g], ordinal[g], copy[g], order[g]) for g in groups)
    return Plan(tuple(shards), tuple(chosen.told for _, chosen in both), picks)


def shuffled(id_D2: Keys, chosen: Chosen, *, seed: int) -> Keys:
    """The shuffle's key of each pick: keyed order of the id, salted by seed and copy.

    Args:
        id_D2: uint64 [D, 2] of the source.
        chosen: its picks.
        seed: of the mix.

    Returns:
        uint64 [n].
    """
    order = np.empty(len(chosen.row), np.uint64)
    for copy in range(int(chosen.copy.max(initial=-1)) + 1):
        own = chosen.copy == copy
        order[own] = keyed_order(id_D2[chosen.row[own]], salt=f"shuffle {seed} {copy}")
    return order


def ordered(order: Keys, id_n2: Keys, copy: npt.NDArray[np.int32]) -> Ints:
    """Rows sorted by (order, id, copy); the last two count only where two keys are equal.

    >>> ordered(np.array([7, 3, 7], np.uint64), np.array([[2, 0], [9, 9], [1, 0]], np.uint64), np.zeros(3, np.int32))
    array([1, 2, 0])
    """
    rows = np.argsort(order)
    rising = order[rows]
    if (rising[1:] != rising[:-1]).all():
        return rows
    words = id_n2.byteswap()  # ids compare as bytes do
    return np.lexsort((copy, words[:, 1], words[:, 0], order))


def shard_cuts(lengths: Ints, *, most: int) -> Ints:
    """Cut a run of documents into as few shards as `most` allows, of nearly equal size.

    Shards are filled one by one up to the smallest size that needs no more of them. A document longer than `most` is a
    shard of its own.

    Args:
        lengths: int64 [n], tokens.
        most: tokens in a shard.

    Returns:
        int64, rising bounds of the shards; [0] where there is no document.

    >>> shard_cuts(np.array([4, 4, 4, 4]), most=10).tolist()
    [0, 2, 4]
    >>> shard_cuts(np.array([1, 1, 1, 1, 1, 1, 1]), most=5).tolist()
    [0, 4, 7]
    """
    sums = np.concatenate([[0], np.cumsum(lengths)])
    few = len(_filled(sums, most))
    low, high = 0, most  # the size is above low, at most high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if len(_filled(sums, middle)) <= few else (middle, high)
    return np.array(_filled(sums, high), np.int64)


def _filled(sums: Ints, size: int) -> list[int]:
    cuts = [0]
    while cuts[-1] < len(sums) - 1:
        end = int(np.searchsorted(sums, sums[cuts[-1]] + size, side="right")) - 1
        cuts.append(max(end, cuts[-1] + 1))
    return cuts


def _told(split: Split, lengths: Ints, cuts: Ints) -> list[ShardPlan]:
    sums = np.concatenate([[0], np.cumsum(lengths)])[cuts]
    return [ShardPlan(split, int(t), int(d)) for t, d in zip(np.diff(sums), np.diff(cuts), strict=True)]
