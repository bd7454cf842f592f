"""Lists of words to counts of them in texts.

Shapes: D documents, R of them, P entries.
"""

import numpy as np
import numpy.typing as npt

from dataassets.stages.filter import lists
from dataassets.stages.filter.automaton import Automaton, build, count_found
from dataassets.stages.filter.folding import fold, fold_table, folded, room
from dataassets.stages.text import Bytes, Ints, compiled, frozen


def load(files: lists.Files, *, unspaced: lists.Files = ()) -> Automaton:
    """The automaton of some lists.

    Args:
        files: key in the recipe and path; their entries count as whole words.
        unspaced: the same of lists whose entries count anywhere, inside a word too.

    Raises:
        RecipeError: a file cannot be read, or all are empty.
    """
    anywhere = {folded(entry)[1:] for key, path in unspaced for entry in lists.words(path, key=key)}
    whole = {folded(entry) for key, path in files for entry in lists.words(path, key=key)}
    lists.refuse_none(len(anywhere | whole), [*files, *unspaced])
    return build(anywhere | {entry for entry in whole if entry[1:] not in anywhere})


def count_listed(buffer: Bytes, offsets: Ints, *, rows: Ints, found: Automaton) -> npt.NDArray[np.int64]:
    """Count the entries in some texts.

    Args:
        buffer: bytes of the texts.
        offsets: int64 [D + 1].
        rows: int64 [R], the texts to read.
        found: the automaton of the lists.

    Returns:
        int64 [R, 2]: places with an entry, and different entries.
    """
    counts_R2 = np.zeros((len(rows), 2), np.int64)
    longest = int((offsets[rows + 1] - offsets[rows]).max(initial=0))
    scratch, seen = np.empty(room(longest), np.uint8), np.full(len(found.offsets) - 1, -1, np.int64)
    _count(buffer, offsets, frozen(rows), found, fold_table(), scratch, seen, counts_R2)
    return counts_R2


@compiled
def _count(
    buffer: Bytes, offsets: Ints, rows: Ints, found: Automaton, table: npt.NDArray[np.int32],
    scratch: Bytes, seen: Ints, out_R2: Ints,
) -> None:  # fmt: skip
    for r in range(len(rows)):
        size = fold(buffer, offsets[rows[r]], offsets[rows[r] + 1], table, scratch)
        out_R2[r, 0], out_R2[r, 1] = count_found(scratch, size, found, table, seen, r)
