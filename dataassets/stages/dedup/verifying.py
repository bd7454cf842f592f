"""How alike two documents of a pair are: by their shingles, exactly, or by their signatures, about.

Exact: pairs are cut into blocks of bounded size; each reads the shingle sets that it asks for, and no others, by their
place in the files, and is a unit of work of its own.

Shapes: P pairs, N documents in pairs.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dataassets.recipe import Dedup
from dataassets.stages.dedup.documents import Documents
from dataassets.stages.dedup.part import Ints, Part, Spread

BLOCK_PAIRS = 1 << 15  # of signatures compared at once, or of sets in one unit of work
BLOCK_SHINGLES = 1 << 24  # in one unit of work, each pair's two sets counted: 64 MB


def similarities(
    docs: Documents, later: Ints, earlier: Ints, *, parts: Sequence[Part], settings: Dedup, spread: Spread
) -> npt.NDArray[np.float64]:
    """Similarity of the two documents of each pair.

    Args:
        docs: the documents.
        later: int64 [P], numbers of documents.
        earlier: int64 [P].
        parts: that hold their shingles.
        settings: `verify: exact` gives the true Jaccard similarity of the two sets of shingles, others the share of
            equal values in the two signatures. 0 where one has none.
        spread: does units of work.

    Returns:
        float64 [P].
    """
    if settings.minhash is not None and settings.minhash.verify == "exact":
        cuts = _cuts(docs.size[later] + docs.size[earlier])
        blocks = [_block(docs, later[cut], earlier[cut], parts) for cut in cuts]
        return np.concatenate([np.empty(0), *spread(_jaccard, blocks)])
    found = np.empty(len(later))
    for start in range(0, len(later), BLOCK_PAIRS):
        cut = slice(start, start + BLOCK_PAIRS)
        same = docs.signature[later[cut]] == docs.signature[earlier[cut]]
        signed = np.minimum(docs.size[later[cut]], docs.size[earlier[cut]]) > 0
        found[cut] = np.where(signed, same.mean(axis=1), 0.0)
    return found


class _Block(NamedTuple):
    """Some pairs and where the sets of their documents lie; `part` counts the block's own parts."""

    parts: list[Part]
    part: Ints
    start: Ints
    size: Ints
    left: Ints
    right: Ints


def _cuts(size_P: Ints) -> Iterator[slice]:
    """Runs of pairs that are read at once; a pair that alone is larger is read alone."""
    ends, start = np.cumsum(size_P), 0
    while start < len(ends):
        before = ends[start - 1] if start else 0
        stop = int(np.searchsorted(ends, before + BLOCK_SHINGLES, side="right"))
        stop = max(start + 1, min(stop, start + BLOCK_PAIRS))
        yield slice(start, stop)
        start = stop


def _block(docs: Documents, later: Ints, earlier: Ints, parts: Sequence[Part]) -> _Block:
    own = np.union1d(later, earlier)
    numbers, part = np.unique(docs.part[own], return_inverse=True)
    return _Block(
        [parts[number] for number in numbers.tolist()],
        part,
        docs.start[own],
        docs.size[own],
        np.searchsorted(own, later),
        np.searchsorted(own, earlier),
    )


def _jaccard(block: _Block) -> npt.NDArray[np.float64]:
    from dataassets.stages.dedup.kernels import jaccard

    sets = []  # documents rise, so those of a part follow one another
    for number, part in enumerate(block.parts):
        own = block.part == number
        assert part.shingles is not None, "verify: exact keeps shingles"
        sets.append(part.shingles(block.start[own], block.size[own]))
    found = np.empty(len(block.left))
    starts = np.cumsum(block.size) - block.size
    jaccard(np.concatenate([np.empty(0, np.uint32), *sets]), starts, block.size, block.left, block.right, found)
    return found
