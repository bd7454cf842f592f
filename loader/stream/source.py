"""From a path to the shards of a split: the manifest names the files, the disk must agree with it."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from loader.errors import DatasetError
from loader.format import FileEntry, Manifest
from loader.format.shard import WRITTEN_DTYPES

Field = TypeVar("Field", str, int)
MANIFEST = "manifest.json"
LATEST = "latest"
_MEND = "restore the folder from a copy, or materialize its partition again"


@dataclass(frozen=True)
class ShardFiles:
    """The three files of one shard.

    Attributes:
        name: of the `.bin`, as the manifest has it.
        stem: full path without suffix.
        num_documents: documents in it.
        num_bytes: bytes of the `.bin`.
    """

    name: str
    stem: str
    num_documents: int
    num_bytes: int


def find_manifest(path: str | os.PathLike[str]) -> tuple[Path, Manifest]:
    """Find the manifest of a product's folder.

    Args:
        path: a folder with `manifest.json`, or one whose file `latest` names such a folder inside it.

    Returns:
        The folder that holds the manifest, and the manifest.

    Raises:
        DatasetError: neither is there.
        ManifestError: the manifest is damaged.
    """
    folder = Path(path)
    if not folder.is_dir():
        raise DatasetError(f"{folder}: no such folder; give mixed/<mix>, its key folder, or a tokenized partition")
    if not (folder / MANIFEST).is_file() and (folder / LATEST).is_file():
        named = (folder / LATEST).read_text(encoding="utf-8").strip()
        if not named or named != Path(named).name or named in (".", ".."):
            raise DatasetError(f"{folder / LATEST}: names {named!r}, wanted the name of a folder beside it; {_MEND}")
        folder = folder / named
    file = folder / MANIFEST
    if not file.is_file():
        above = f"; its parent holds one: give {folder.parent}" if (folder.parent / MANIFEST).is_file() else ""
        raise DatasetError(f"{folder}: holds neither {MANIFEST} nor {LATEST}, so nothing was committed here{above}")
    return folder, Manifest.from_bytes(file.read_bytes(), where=str(file))


def shards_of(folder: Path, manifest: Manifest, *, split: str | None) -> list[ShardFiles]:
    """List the shards of a split, in the manifest's order, and check their sizes on disk.

    Args:
        folder: the manifest's.
        manifest: it.
        split: "train", "val", ...; None for a product without splits.

    Returns:
        One entry for each shard.

    Raises:
        DatasetError: not a product of shards, no such split, or a file missing or of another size.
    """
    itemsize = _itemsize(folder, manifest)
    entries = {entry.name: entry for entry in manifest.files}
    bins = [entry for entry in manifest.files if entry.name.endswith(".bin")]
    found = [entry for entry in bins if _split_of(entry.name) == split]
    if not found and (bins or split is not None):
        splits = sorted({str(_split_of(entry.name)) for entry in bins})
        raise DatasetError(f"{folder}: has no split {split!r}, it has [{', '.join(splits)}]; pass split= one of these")
    shards = []
    for entry in found:
        stem = entry.name.removesuffix(".bin")
        for name in (entry.name, f"{stem}.idx", f"{stem}.docs.parquet"):
            if name not in entries:
                raise DatasetError(f"{folder}: the manifest names {entry.name} but not {name}; {_MEND}")
            _check_size(folder, entries[name])
        if entry.bytes % itemsize:
            raise DatasetError(f"{folder / entry.name}: {entry.bytes} bytes, not a multiple of {itemsize}; {_MEND}")
        shards.append(ShardFiles(entry.name, str(folder / stem), entry.rows, entry.bytes))
    return shards


def format_field(folder: Path, manifest: Manifest, name: str, kind: type[Field]) -> Field:
    """Read one field of the manifest's `format`, of the kind str or int.

    Raises:
        DatasetError: the product has no shards, or the field is missing or mistyped.
    """
    if manifest.format is None:
        raise DatasetError(f"{folder}: {manifest.product} holds no shards; give a tokenized or mixed product")
    value = manifest.format.get(name)
    if not isinstance(value, kind) or isinstance(value, bool):
        raise DatasetError(f"{folder / MANIFEST}: format.{name} = {value!r}, wanted {kind.__name__}; {_MEND}")
    return value


def _itemsize(folder: Path, manifest: Manifest) -> int:
    dtype = format_field(folder, manifest, "dtype", str)
    if dtype not in WRITTEN_DTYPES:
        raise DatasetError(f"{folder / MANIFEST}: format.dtype = {dtype!r}, wanted one of {WRITTEN_DTYPES}; {_MEND}")
    return 2 if dtype == "uint16" else 4


def _split_of(name: str) -> str | None:
    head, slash, _ = name.rpartition("/")
    return head if slash else None


def _check_size(folder: Path, entry: FileEntry) -> None:
    path = os.path.join(folder, entry.name)  # noqa: PTH118 - three files a shard, a thousand shards
    try:
        found = os.stat(path).st_size  # noqa: PTH116
    except OSError as error:
        raise DatasetError(f"{path}: named by the manifest, but {error.strerror}; {_MEND}") from error
    if found != entry.bytes:
        raise DatasetError(f"{path}: {found} bytes, the manifest tells of {entry.bytes}; {_MEND}")
