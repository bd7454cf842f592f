"""Contract 2: the bytes of shards and manifests, written and read in one room (specified in docs/format.md)."""

from loader.errors import ManifestError, ShardError
from loader.format.manifest import FileEntry, Manifest, canonical_json
from loader.format.shard import DOCS_COLUMNS, ShardIndex, read_index, write_shard

__all__ = [
    "DOCS_COLUMNS",
    "FileEntry",
    "Manifest",
    "ManifestError",
    "ShardError",
    "ShardIndex",
    "canonical_json",
    "read_index",
    "write_shard",
]
