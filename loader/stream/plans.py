"""The rows of a packing of documents: made once from the documents' lengths, kept in a cache, read again by later runs.

The cache is $LOADER_CACHE, else ~/.cache/loader: the folder of the data may be read-only and holds committed files
alone. A plan that is not there, or cannot be kept, is made anew: about 1.5 s and 40 bytes for a million documents.
"""

import hashlib
import json
import os
import uuid
import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from loader.format import read_index
from loader.pack import Pieces, best_fit, by_document
from loader.stream.source import ShardFiles

CACHE_ENV = "LOADER_CACHE"
VERSION = 1  # raised when a packing makes other rows
_FIELDS = ("starts", "stops", "ends", "first")


def pieces_of(shards: Sequence[ShardFiles], *, packing: str, seq_len: int, digest: str, split: str | None) -> Pieces:
    """The rows of a split, packed.

    Args:
        shards: of the split, in order.
        packing: "document" or "best_fit".
        seq_len: T.
        digest: of the manifest; with the other arguments it names the plan.
        split: of the data set.

    Raises:
        ShardError: an index that is damaged.
    """
    if packing == "document":
        return by_document(_offsets(shards), seq_len=seq_len)
    file = _file(json.dumps([VERSION, packing, seq_len, digest, split]))
    kept = _read(file, seq_len)
    if kept is None:
        kept = best_fit(_offsets(shards), seq_len=seq_len)
        _keep(file, kept)
    return kept


def _offsets(shards: Sequence[ShardFiles]) -> npt.NDArray[np.int64]:
    """First token of each document in the stream of all shards, and the end: int64 [D + 1]."""
    lengths = [read_index(f"{shard.stem}.idx", bin_bytes=shard.num_bytes).lengths for shard in shards]
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(np.concatenate([np.zeros(0, np.int64), *lengths]))])


def _file(name: str) -> Path:
    given = os.environ.get(CACHE_ENV)
    folder = Path(given).expanduser() if given else Path.home() / ".cache" / "loader"
    return folder / f"plan-{hashlib.sha256(name.encode()).hexdigest()[:24]}.npz"


def _read(file: Path, seq_len: int) -> Pieces | None:
    """A kept plan; None where there is none that can be read."""
    try:
        with file.open("rb") as data, np.load(data, allow_pickle=False) as found:
            return Pieces(**{name: found[name] for name in _FIELDS}, seq_len=seq_len)
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return None


def _keep(file: Path, plan: Pieces) -> None:
    """Keep a plan, whole or not at all; a cache that cannot be written is no error."""
    draft = file.with_name(f"{file.name}.{uuid.uuid4().hex[:8]}.draft")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with draft.open("wb") as out:
            np.savez(out, **{name: getattr(plan, name) for name in _FIELDS})
        draft.replace(file)
    except OSError:
        draft.unlink(missing_ok=True)
