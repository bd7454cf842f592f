"""Hashes with one meaning each: document ids, content of tables, keyed orders of documents.

All are xxh3: fast, well spread, not cryptographic. Files are sealed by sha256 in the store.
"""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import xxhash


def document_id(source: str, origin: str, position: int) -> bytes:
    """The 16-byte id of a document: xxh3-128 of source, origin and position, NUL between them.

    Args:
        source: name of the source in the recipe.
        origin: file of the document, relative to the fixed prefix of its pattern.
        position: byte offset or row in that file.

    >>> document_id("web", "a.txt", 0).hex()[:8] != document_id("web", "a.txt", 1).hex()[:8]
    True
    """
    return xxhash.xxh3_128_digest(f"{source}\0{origin}\0{position}".encode())


def keyed_order(ids: Iterable[bytes], *, salt: str) -> npt.NDArray[np.uint64]:
    """A uint64 [D] for each id, uniform and independent for each salt: sort by it to shuffle, compare it to split.

    >>> keyed_order([b"a" * 16], salt="val").dtype
    dtype('uint64')
    """
    key = xxhash.xxh3_64_intdigest(salt.encode())
    return np.fromiter((xxhash.xxh3_64_intdigest(i, seed=key) for i in ids), np.uint64)


class TableDigest:
    """Digest of the logical content of a table fed batch by batch: the same for any cut into batches.

    For each column: names and types, then validity, lengths and value bytes in row order, each hashed as one stream.

    >>> a, b = TableDigest(), TableDigest()
    >>> a.update(pa.table({"x": [1, 2, 3]}))
    >>> b.update(pa.table({"x": [1]})); b.update(pa.table({"x": [2, 3]}))
    >>> a.hexdigest() == b.hexdigest()
    True
    """

    def __init__(self) -> None:
        self._streams: dict[str, xxhash.xxh3_128] = {}

    def update(self, table: pa.Table) -> None:
        """Add rows. All tables of one digest have one schema."""
        for field in table.schema:
            name = f"{field.name}:{_name(field.type)}"
            self._stream(name)
            for chunk in table.column(field.name).chunks or [pa.array([], field.type)]:
                self._feed(name, chunk)

    def hexdigest(self) -> str:
        """32 hex digits; columns count in sorted order of name and type."""
        whole = xxhash.xxh3_128()
        for name in sorted(self._streams):
            whole.update(name.encode() + b"\0" + self._streams[name].digest())
        return whole.hexdigest()

    def _stream(self, name: str) -> xxhash.xxh3_128:
        return self._streams.setdefault(name, xxhash.xxh3_128())

    def _feed(self, name: str, chunk: pa.Array) -> None:
        if isinstance(chunk, pa.DictionaryArray):
            chunk = chunk.dictionary_decode()
        self._stream(name + "/valid").update(np.asarray(chunk.is_valid()).tobytes())
        kind = chunk.type
        if chunk.null_count:
            chunk = chunk.drop_null()
        if pa.types.is_fixed_size_list(kind):
            self._feed(name + "/item", chunk.flatten())
        elif pa.types.is_list(kind) or pa.types.is_large_list(kind):
            self._lengths(name, chunk.offsets)
            self._feed(name + "/item", chunk.flatten())
        elif pa.types.is_large_string(kind) or pa.types.is_large_binary(kind):
            self._var_bytes(name, chunk)
        elif pa.types.is_string(kind) or pa.types.is_binary(kind):
            wide = pa.large_string() if pa.types.is_string(kind) else pa.large_binary()
            self._var_bytes(name, chunk.cast(wide))
        elif pa.types.is_boolean(kind):
            self._stream(name + "/value").update(np.asarray(chunk).tobytes())
        else:
            width = kind.bit_width // 8
            data = chunk.buffers()[1]
            if len(chunk):
                start = chunk.offset * width
                self._stream(name + "/value").update(memoryview(data)[start : start + len(chunk) * width])

    def _var_bytes(self, name: str, chunk: pa.Array) -> None:
        if not len(chunk):
            return
        offsets = np.frombuffer(chunk.buffers()[1], np.int64)[chunk.offset : chunk.offset + len(chunk) + 1]
        self._stream(name + "/length").update(np.diff(offsets).tobytes())
        self._stream(name + "/value").update(memoryview(chunk.buffers()[2] or b"")[offsets[0] : offsets[-1]])

    def _lengths(self, name: str, offsets: pa.Array) -> None:
        self._stream(name + "/length").update(np.diff(np.asarray(offsets)).astype(np.int64).tobytes())


def _name(kind: pa.DataType) -> str:
    """Arrow's name of a type, its items called `item`: Parquet calls them `element`, and equal types may differ so."""
    for is_kind, name in (
        (pa.types.is_list, "list"),
        (pa.types.is_large_list, "large_list"),
        (pa.types.is_fixed_size_list, "fixed_size_list"),
    ):
        if is_kind(kind):
            items = f"item: {_name(kind.value_type)}{'' if kind.value_field.nullable else ' not null'}"
            return f"{name}<{items}>" + (f"[{kind.list_size}]" if name == "fixed_size_list" else "")
    return str(kind)
