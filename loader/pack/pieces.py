"""Rows made of pieces: a piece is a range of tokens of one document; what pieces leave of a row is padding.

Shapes: D documents, P pieces of all rows, R rows, T tokens a row.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Pieces:
    """The pieces of all rows.

    Args:
        starts: int64 [P], first token of each piece in the stream of all documents.
        stops: int64 [P], the token after each.
        ends: int64 [P], the end of each piece's document.
        first: int64 [R + 1]; row r is made of the pieces from first[r] up to first[r + 1].
        seq_len: T.
    """

    starts: Ints
    stops: Ints
    ends: Ints
    first: Ints
    seq_len: int

    def __len__(self) -> int:
        """Number of rows."""
        return len(self.first) - 1

    @property
    def num_tokens(self) -> int:
        """Tokens in all rows."""
        return int((self.stops - self.starts).sum())

    @property
    def num_padding(self) -> int:
        """Places of all rows that hold no token."""
        return len(self) * self.seq_len - self.num_tokens

    @property
    def num_cut(self) -> int:
        """Documents that are cut: pieces that end before their document does."""
        return int((self.stops < self.ends).sum())


def by_document(offsets: Ints, *, seq_len: int) -> Pieces:
    """One document a row; one that is longer goes on in the next rows.

    Args:
        offsets: int64 [D + 1]; document d is tokens offsets[d] to offsets[d + 1] of the stream.
        seq_len: T.

    Returns:
        Pieces in the order of the stream, each token in exactly one; empty documents have no row.

    >>> rows = by_document(np.array([0, 3, 3, 8]), seq_len=4)
    >>> rows.starts.tolist(), rows.stops.tolist(), rows.num_padding, rows.num_cut
    ([0, 3, 7], [3, 7, 8], 4, 1)
    """
    starts, stops, ends = chopped(offsets, seq_len=seq_len)
    return Pieces(starts, stops, ends, np.arange(len(starts) + 1), seq_len)


def chopped(offsets: Ints, *, seq_len: int) -> tuple[Ints, Ints, Ints]:
    """Starts, stops and document ends [P] of documents cut into pieces of at most T tokens."""
    lengths_D = np.diff(offsets)
    num_D = -(-lengths_D // seq_len)
    document_P = np.repeat(np.arange(len(lengths_D)), num_D)
    place_P = np.arange(len(document_P)) - np.repeat(np.cumsum(num_D) - num_D, num_D)
    starts, ends = offsets[document_P] + place_P * seq_len, offsets[document_P + 1]
    return starts, np.minimum(starts + seq_len, ends), ends
