"""Verified pairs to the documents that go, each with the kept one that it repeats.

Shapes: P verified pairs, N documents in pairs.
"""

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from dataassets.stages.dedup.documents import Documents
from dataassets.stages.dedup.part import Ints


class Pairs(NamedTuple):
    """Pairs of documents, each once, sorted by (later, earlier).

    Args:
        later: int64 [P], numbers of documents.
        earlier: int64 [P].
        exact: bool [P], whether the two have one text.
        similarity: float64 [P].
    """

    later: Ints
    earlier: Ints
    exact: npt.NDArray[np.bool_]
    similarity: npt.NDArray[np.float64]

    def take(self, which: npt.NDArray[np.int64] | npt.NDArray[np.bool_]) -> "Pairs":
        """Some of the pairs."""
        return Pairs(self.later[which], self.earlier[which], self.exact[which], self.similarity[which])


def repeating_a_kept_one(pairs: Pairs, *, num_docs: int) -> Pairs:
    """A document goes iff one of its earlier partners stays.

    Args:
        pairs: verified.
        num_docs: N.

    Returns:
        One pair for each document that goes, in document order: that with its earliest kept partner, among the exact
        ones where there is any.
    """
    from dataassets.stages.dedup.kernels import resolve

    match = np.full(num_docs, -1, np.int64)
    resolve(pairs.later, pairs.earlier, pairs.exact, match)
    return pairs.take(match[match >= 0])


def all_but_one(
    pairs: Pairs,
    docs: Documents,
    *,
    own: int,
    keep: Literal["first", "longest"],
    measure: Callable[[Ints, Ints], npt.NDArray[np.float64]],
) -> Pairs:
    """Of each connected component one document stays, however far the others are from it.

    Args:
        pairs: verified.
        docs: all documents in pairs.
        own: position of the first document that may go; one before it always stays, and is kept where there is any.
        keep: the first in document order, or the one with the most shingles, the first of these.
        measure: similarity of documents (later, earlier) that were no candidates.

    Returns:
        For each document that goes, in document order, the kept one in the place of `earlier`, even where it is later.
    """
    from dataassets.stages.dedup.kernels import components

    num_docs = len(docs.position)
    root = np.arange(num_docs)
    components(pairs.later, pairs.earlier, root)
    keeper = root.copy()  # the first of each component, which is an earlier snapshot's where there is one
    if keep == "longest":
        order = np.lexsort((docs.position, -docs.length, root))
        best = order[np.unique(root[order], return_index=True)[1]]
        keeper[root[best]] = np.where(docs.position[root[best]] < own, root[best], best)
        keeper = keeper[root]
    later = np.flatnonzero((keeper != np.arange(num_docs)) & (docs.position >= own))
    match = keeper[later]
    code, wanted = (
        pairs.later * num_docs + pairs.earlier,
        np.maximum(later, match) * num_docs + np.minimum(later, match),
    )
    at = np.minimum(np.searchsorted(code, wanted), max(len(code) - 1, 0))
    met = code[at] == wanted if len(code) else np.zeros(len(later), bool)
    found = Pairs(later, match, np.zeros(len(later), bool), np.empty(len(later)))
    found.exact[met], found.similarity[met] = pairs.exact[at[met]], pairs.similarity[at[met]]
    found.similarity[~met] = measure(later[~met], match[~met])
    return found
