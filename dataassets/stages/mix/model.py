"""What a mix is given, and what its plan says.

Shapes: D documents of a part, n picks of a part.
"""

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

Split = Literal["train", "val"]


@dataclass(frozen=True)
class Available:
    """One part of `tokenized`, in document order.

    Args:
        source: name of its source.
        ids: bytes S16 or V16 [D], or uint8 [D, 16].
        lengths: int [D], tokens of each document, its end-of-text token included.
    """

    source: str
    ids: npt.NDArray[np.generic]
    lengths: npt.NDArray[np.integer]


@dataclass(frozen=True)
class Picks:
    """Which documents of one part go into which shard, and at which place; a document may be picked several times.

    Args:
        shard: uint32 [n], place in `Plan.shards`.
        ordinal: int64 [n], row in the part.
        copy: int32 [n], 0 for the first epoch.
        order: uint64 [n], the shuffle's key.
    """

    shard: npt.NDArray[np.uint32]
    ordinal: npt.NDArray[np.int64]
    copy: npt.NDArray[np.int32]
    order: npt.NDArray[np.uint64]

    def __len__(self) -> int:
        return len(self.shard)


@dataclass(frozen=True)
class ShardPlan:
    """One shard: its split, tokens and documents (copies count)."""

    split: Split
    tokens: int
    documents: int


@dataclass(frozen=True)
class SourcePlan:
    """One source of a mix, in tokens unless said otherwise.

    Args:
        source: its name.
        weight: its share, 0 to 1.
        asked: tokens of the mix times weight.
        asked_val: of these, what val asks for.
        train: planned for train, copies counted.
        val: planned for val.
        available: of all its documents.
        available_train: of those on the train side.
        documents: number of all its documents.
        train_documents: documents planned for train, copies counted.
        val_documents: documents planned for val.
        epochs: times that its train documents are read, `train / available_train`.
        longest: its longest document.
    """

    source: str
    weight: float
    asked: int
    asked_val: int
    train: int
    val: int
    available: int
    available_train: int
    documents: int
    train_documents: int
    val_documents: int
    epochs: float
    longest: int

    @property
    def achieved(self) -> int:
        """Tokens planned in all."""
        return self.train + self.val


@dataclass(frozen=True)
class Plan:
    """A mix, planned exactly: shards (train first), sources, and the picks of each part.

    Args:
        shards: in order of their number.
        sources: in order of the recipe's weights.
        parts: picks of each part given to `plan`.
    """

    shards: tuple[ShardPlan, ...]
    sources: tuple[SourcePlan, ...]
    parts: tuple[Picks, ...] = field(repr=False)

    def picks(self, part_index: int) -> Picks:
        """What is picked from one part."""
        return self.parts[part_index]
