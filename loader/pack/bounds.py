"""Where documents begin in a row: position ids, document ids, cumulative lengths, and labels that do not look across.

Shapes: B rows, T tokens a row, N documents in a batch.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from loader.errors import SettingError

BOUNDARIES = ("position_ids", "document_ids", "cu_seqlens")
IGNORED = -100  # the label that torch's cross entropy leaves out

Ints = npt.NDArray[np.int64]


class Bounds:
    """What a data set tells of documents, beside inputs and labels.

    Args:
        boundaries: one of BOUNDARIES, several of them, or None.

    Raises:
        SettingError: another name.
    """

    def __init__(self, boundaries: str | tuple[str, ...] | None) -> None:
        names = () if boundaries is None else (boundaries,) if isinstance(boundaries, str) else tuple(boundaries)
        for name in names:
            if name not in BOUNDARIES:
                raise SettingError(f"boundaries = {boundaries!r}, wanted None, one or several of {BOUNDARIES}")
        self.names = tuple(name for name in BOUNDARIES if name in names)

    def of(self, document_BT: Ints) -> dict[str, npt.NDArray[Any]]:
        """Tell the boundaries of a batch.

        Args:
            document_BT: int64 [B, T], a number that changes where another document begins; -1 is padding.

        Returns:
            `position_ids` int64 [B, T]: place within the document's part of the row, from 0; `document_ids` int64
            [B, T]: documents counted in each row, -1 for padding; `cu_seqlens` int32 [N + 1]: bounds of the parts in
            the batch read as one row of B * T tokens, padding a part of its own, for attention of variable lengths.
            Those that were asked for.

        >>> Bounds(BOUNDARIES).of(np.array([[4, 4, 7], [7, 7, -1]]))["cu_seqlens"].tolist()
        [0, 2, 3, 5, 6]
        """
        begins_BT = np.ones(document_BT.shape, np.bool_)
        np.not_equal(document_BT[:, 1:], document_BT[:, :-1], out=begins_BT[:, 1:])
        found: dict[str, npt.NDArray[Any]] = {}
        if "position_ids" in self.names:
            place_T = np.arange(document_BT.shape[1])
            found["position_ids"] = place_T - np.maximum.accumulate(np.where(begins_BT, place_T, 0), axis=1)
        if "document_ids" in self.names:
            counted = np.cumsum(begins_BT, axis=1, dtype=np.int64) - 1
            found["document_ids"] = np.where(document_BT < 0, -1, counted)
        if "cu_seqlens" in self.names:
            found["cu_seqlens"] = np.append(np.flatnonzero(begins_BT), begins_BT.size).astype(np.int32)
        return found


def documents_in(tokens_BW: Ints, *, eot: int) -> Ints:
    """Number the documents in rows of a stream where each ends with its end-of-text token.

    Args:
        tokens_BW: int64 [B, any width].
        eot: id of the end-of-text token.

    Returns:
        int64 of the same shape, from 0 on in each row.

    >>> documents_in(np.array([[5, 9, 6, 7]]), eot=9).tolist()
    [[0, 0, 1, 1]]
    """
    is_end = tokens_BW == eot
    found: Ints = np.cumsum(is_end, axis=1, dtype=np.int64) - is_end
    return found
