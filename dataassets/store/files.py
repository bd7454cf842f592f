"""Files under one root, local or any fsspec URL: whole files appear at once or not at all."""

import hashlib
import os
import shutil
import tempfile
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, cast

CHUNK = 1 << 22
TRIES = 100


@dataclass(frozen=True)
class Files:
    """Reads and writes files by names relative to a root; picklable, so that workers can hold it.

    Args:
        root: absolute folder, or an fsspec URL such as s3://bucket/prefix.
    """

    root: str

    def __post_init__(self) -> None:
        protocol, mark, base = self.root.rpartition("://")
        base = base if set(base) == {"/"} else base.rstrip("/")
        object.__setattr__(self, "root", base if protocol == "file" else f"{protocol}{mark}{base}")

    @property
    def is_local(self) -> bool:
        """Whether the root is a folder of this machine."""
        return "://" not in self.root

    def path(self, name: str) -> str:
        """The full path or URL of a name, which may climb with ../."""
        if not name:
            return self.root
        protocol, _, base = self.root.rpartition("://")
        full = os.path.normpath(f"{base.rstrip('/')}/{name}" if base else name).replace(os.sep, "/")
        return f"{protocol}://{full}" if protocol else full

    def exists(self, name: str) -> bool:
        """Whether there is a file of that name."""
        return Path(self.path(name)).is_file() if self.is_local else bool(self._fs.isfile(self.path(name)))

    def size(self, name: str) -> int:
        """Bytes of a file; -1 where there is none."""
        try:
            return Path(self.path(name)).stat().st_size if self.is_local else int(self._fs.size(self.path(name)))
        except FileNotFoundError:
            return -1

    def open(self, name: str) -> BinaryIO:
        """Open a file for reading."""
        if self.is_local:
            return Path(self.path(name)).open("rb")
        return cast("BinaryIO", self._fs.open(self.path(name), "rb"))

    def read(self, name: str) -> bytes:
        """All bytes of a file."""
        with self.open(name) as f:
            return f.read()

    def read_ranges(self, name: str, starts: Sequence[int], sizes: Sequence[int]) -> list[bytes]:
        """Some ranges of a file, without the rest of it.

        Args:
            name: of the file.
            starts: first byte of each range.
            sizes: bytes of each.
        """
        if not self.is_local:
            ends = [start + size for start, size in zip(starts, sizes, strict=True)]
            return list(self._fs.cat_ranges([self.path(name)] * len(ends), list(starts), ends))
        with Path(self.path(name)).open("rb") as f:
            return [os.pread(f.fileno(), size, start) for start, size in zip(starts, sizes, strict=True)]

    @contextmanager
    def create(self, name: str) -> Iterator["Sealed"]:
        """Write a file that appears under its name, whole and on disk, when the block ends well.

        Yields:
            A binary file whose `sha256` and `size` are known at the end of the block.
        """
        if self.is_local:
            target = Path(self.path(name))
            draft = target.with_name(f".{target.name}.{uuid.uuid4().hex[:8]}.draft")
        else:
            draft = Path(tempfile.mkdtemp(prefix="dataassets-")) / "draft"
        try:
            with _opened(draft) as raw:
                yield Sealed(raw)
                raw.flush()
                os.fsync(raw.fileno())
            if self.is_local:
                draft.replace(target)
            else:
                self._fs.put_file(str(draft), self.path(name))
        finally:
            draft.unlink(missing_ok=True)
            if self.is_local:
                self._prune(target.parent)
            else:
                draft.parent.rmdir()

    def write(self, name: str, data: bytes) -> None:
        """Write a small file whole."""
        with self.create(name) as f:
            f.write(data)

    def sha256(self, name: str) -> str:
        """Hex sha256 of a file's bytes, streamed."""
        digest = hashlib.sha256()
        with self.open(name) as f:
            while block := f.read(CHUNK):
                digest.update(block)
        return digest.hexdigest()

    def walk(self, folder: str = "") -> list[str]:
        """Names of all files below a folder, sorted; [] where there is no folder."""
        if self.is_local:
            top = Path(self.path(folder))
            found = [os.path.join(d, f) for d, _, names in os.walk(top) for f in names]  # noqa: PTH118 - hot on big roots
            return sorted(os.path.relpath(f, self.root).replace(os.sep, "/") for f in found)
        base = self._fs._strip_protocol(self.root).rstrip("/")  # noqa: SLF001 - fsspec's documented idiom
        try:
            return sorted(f[len(base) + 1 :] for f in self._fs.find(self.path(folder)))
        except FileNotFoundError:
            return []

    def remove(self, name: str) -> None:
        """Remove a file, and local folders that it leaves empty; absent is fine."""
        if not self.is_local:
            if self._fs.exists(self.path(name)):
                self._fs.rm_file(self.path(name))
            return
        target = Path(self.path(name))
        target.unlink(missing_ok=True)
        self._prune(target.parent)

    def remove_folder(self, folder: str) -> None:
        """Remove a folder and all below it; absent is fine."""
        if not self.is_local:
            if self._fs.exists(self.path(folder)):
                self._fs.rm(self.path(folder), recursive=True)
            return
        target = Path(self.path(folder))
        shutil.rmtree(target, ignore_errors=True)
        self._prune(target.parent)

    def _prune(self, folder: Path) -> None:
        top = Path(self.root)
        while folder != top and top in folder.parents:
            try:
                folder.rmdir()
            except OSError:
                return
            folder = folder.parent

    @property
    def _fs(self) -> Any:  # noqa: ANN401 - fsspec has no types
        import fsspec

        # Other processes write here too, so no listing may be remembered.
        return fsspec.core.url_to_fs(self.root, use_listings_cache=False)[0]


def _opened(draft: Path) -> BinaryIO:
    """A new file, its folders made; made again where a sweep beside us took one that was still empty."""
    for _ in range(TRIES):
        try:
            draft.parent.mkdir(parents=True, exist_ok=True)
            return draft.open("wb")
        except (FileNotFoundError, FileExistsError):  # the second: it was there for mkdir, and gone for its look
            continue
    return draft.open("wb")


class Sealed:
    """A binary file being written that knows the size and sha256 of what went in."""

    def __init__(self, raw: BinaryIO) -> None:
        self._raw = raw
        self._digest = hashlib.sha256()
        self.size = 0

    def write(self, data: Any) -> int:  # noqa: ANN401 - any buffer
        """Write bytes or any contiguous buffer."""
        view = memoryview(data).cast("B")
        self._digest.update(view)
        self.size += len(view)
        self._raw.write(view)
        return len(view)

    @property
    def sha256(self) -> str:
        """Hex sha256 of what was written so far."""
        return self._digest.hexdigest()

    @property
    def closed(self) -> bool:
        """False: it lives as long as its block."""
        return False

    def tell(self) -> int:
        """Bytes written so far."""
        return self.size

    def writable(self) -> bool:
        """True."""
        return True

    def readable(self) -> bool:
        """False."""
        return False

    def seekable(self) -> bool:
        """False."""
        return False

    def flush(self) -> None:
        """Nothing is held back here."""

    def close(self) -> None:
        """Left to the block that opened it."""
