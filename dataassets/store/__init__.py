"""The only writer of products: folders, atomic commits by manifest, shards, verification."""

from dataassets.store.beside import rows_of
from dataassets.store.files import Files
from dataassets.store.layout import (
    CORPUS,
    EVERY,
    MODELS,
    PRODUCTS,
    SHARDED,
    WHOLE,
    is_beside,
    name_beside,
    partition_key,
    split_key,
)
from dataassets.store.store import Causes, Job, Store
from dataassets.store.unit import UnitRecord
from dataassets.store.upkeep import Finding, garbage, verify
from loader.format import FileEntry, Manifest, ManifestError

__all__ = [
    "CORPUS",
    "EVERY",
    "MODELS",
    "PRODUCTS",
    "SHARDED",
    "WHOLE",
    "Causes",
    "FileEntry",
    "Files",
    "Finding",
    "Job",
    "Manifest",
    "ManifestError",
    "Store",
    "UnitRecord",
    "garbage",
    "is_beside",
    "name_beside",
    "partition_key",
    "rows_of",
    "split_key",
    "verify",
]
