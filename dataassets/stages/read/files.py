"""Which files a source has, what each is called for ever, and how one is opened."""

import glob
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

import fsspec
import xxhash

from dataassets.recipe import RecipeError

SNAPSHOT = "{snapshot}"
UNOPENED = (FileNotFoundError, PermissionError, IsADirectoryError, NotADirectoryError)  # other errors are the machine's
_BLOCK_BYTES = 1 << 20


@dataclass(frozen=True)
class InputFile:
    """One file of a source.

    Args:
        path: absolute path, or fsspec URL.
        origin: its lasting name: the path relative to the fixed prefix of its pattern.
        bytes: its size as stored.
    """

    path: str
    origin: str
    bytes: int


def list_files(patterns: Sequence[str], *, snapshot: str) -> list[InputFile]:
    """The files that the patterns match, in the order in which they are read.

    Hidden files (a name or folder that starts with a dot, below the fixed prefix) are left out, as a shell does;
    links to files are files. `**` matches any number of folders.

    Args:
        patterns: absolute paths or fsspec URLs; may hold `{snapshot}` and the glob characters `*`, `**`, `?`, `[..]`.
        snapshot: name of the snapshot, put in the place of `{snapshot}`.

    Returns:
        Files sorted by origin (code points); empty where nothing matches. The origin is relative to the part of the
        pattern before its first glob character or `{snapshot}`, cut back to a folder; the name of a plain file.

    Raises:
        RecipeError: two files have one origin, one file has two, or a name is not UTF-8.

    >>> list_files(["/nowhere/{snapshot}/*.txt"], snapshot="2026-10-01")
    []
    """
    by_origin: dict[str, InputFile] = {}
    by_path: dict[str, InputFile] = {}
    for pattern in patterns:
        for file in _expand(pattern, snapshot=snapshot):
            for known in (by_origin.get(file.origin), by_path.get(file.path)):
                if known is not None and known != file:
                    raise RecipeError(_clash(known, file))
            by_origin[file.origin] = by_path[file.path] = file
    return [by_origin[origin] for origin in sorted(by_origin)]


def fingerprint(file: InputFile) -> str:
    """The xxh3-128 of a file's bytes as stored, read in blocks.

    A file that cannot be opened has a fingerprint too (of its error's name), since it becomes one bad record.

    Returns:
        32 hex digits.
    """
    digest = xxhash.xxh3_128()
    try:
        stream = open_file(file.path)
    except UNOPENED as error:
        return xxhash.xxh3_128_hexdigest(f"unopened\0{type(error).__name__}".encode())
    with stream:
        while block := stream.read(_BLOCK_BYTES):
            digest.update(block)
    return digest.hexdigest()


def open_file(path: str) -> IO[bytes]:
    """Open a local path or an fsspec URL for reading bytes as stored."""
    if "://" not in path:
        return Path(path).open("rb")
    return cast("IO[bytes]", fsspec.open(path, "rb").open())


def _clash(known: InputFile, file: InputFile) -> str:
    if known.path == file.path:
        return (
            f"{file.path} is matched twice, as {known.origin} and as {file.origin}: it would be read twice; "
            "make the patterns of this source not overlap"
        )
    return (
        f"{known.path} and {file.path} have one origin, {file.origin}: their documents would share ids; "
        "name both by one pattern that starts at a folder above them, or make them two sources"
    )


def _prefix(pattern: str) -> str:
    """The fixed folder of a pattern, with its last slash."""
    places = [at for sign in (SNAPSHOT, "*", "?", "[") if (at := pattern.find(sign)) >= 0]
    fixed = pattern[: min(places)] if places else pattern
    return fixed[: fixed.rfind("/") + 1]


def _expand(pattern: str, *, snapshot: str) -> list[InputFile]:
    if pattern.startswith("file://"):
        pattern = pattern.removeprefix("file://")
    prefix = _prefix(pattern)
    named = pattern.replace(SNAPSHOT, snapshot)
    found = _remote(named) if "://" in named else _local(named)
    files = []
    for path, size in found:
        origin = path.removeprefix(prefix)
        try:
            origin.encode()
        except UnicodeEncodeError:
            raise RecipeError(
                f"the name of {path!r} is not UTF-8, so no document can bear it; rename the file"
            ) from None
        if not _hidden(origin, pattern=pattern.removeprefix(prefix)):
            files.append(InputFile(path, origin, size))
    return files


def _hidden(origin: str, *, pattern: str) -> bool:
    """Whether a dot file or folder was met, where the pattern asks for none."""
    return ("/." in "/" + origin) and ("/." not in "/" + pattern)


def _local(pattern: str) -> list[tuple[str, int]]:
    magic = glob.has_magic(pattern) and not Path(pattern).is_file()
    paths = glob.glob(pattern, recursive=True, include_hidden=True) if magic else [pattern]  # noqa: PTH207 (absolute)
    return [(path, os.stat(path).st_size) for path in set(paths) if Path(path).is_file()]  # noqa: PTH116


def _remote(pattern: str) -> list[tuple[str, int]]:
    fs, path = fsspec.url_to_fs(pattern)
    scheme = pattern[: pattern.index("://") + 3]
    if glob.has_magic(path):
        infos = list(fs.glob(path, detail=True).values())
    else:
        infos = [fs.info(path)] if fs.exists(path) else []
    files = [info for info in infos if info["type"] == "file"]
    return [(scheme + info["name"].removeprefix(scheme).lstrip("/"), int(info["size"])) for info in files]
