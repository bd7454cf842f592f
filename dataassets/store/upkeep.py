"""Verify that what manifests promise is there byte for byte; collect what no manifest names."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from dataassets.store import layout
from dataassets.store.files import Files
from loader.format import FileEntry, Manifest, ManifestError


@dataclass(frozen=True)
class Finding:
    """One thing that `verify` met.

    Args:
        kind: ok, damaged, or stray (a file that no manifest names; no damage).
        name: file relative to the folder verified.
        note: what was met and what was wanted.
    """

    kind: str
    name: str
    note: str = ""


def verify(folder: str, *, tick: Callable[[int], None] | None = None) -> Iterator[Finding]:
    """Check every manifest below a folder and every byte that it names.

    Args:
        folder: a root, one product, or one partition: an absolute path or URL.
        tick: told the bytes of each file read.

    Yields:
        One finding for each file and manifest; strays last.

    Raises:
        ManifestError: there is no manifest below the folder.
    """
    files = Files(folder)
    names = files.walk()
    manifests = [name for name in names if name.rsplit("/", 1)[-1] == layout.MANIFEST]
    if not manifests:
        raise ManifestError(f"{folder}: holds no manifest.json; name the recipe's root, a product or a partition")
    named = set(manifests)
    for name in manifests:
        base = name.rpartition("/")[0]
        try:
            manifest = Manifest.from_bytes(files.read(name), where=name)
        except ManifestError as error:
            yield Finding("damaged", name, str(error))
            continue
        yield Finding("ok", name)
        for entry in (*manifest.files, *manifest.dropped_files):
            found = os.path.normpath(f"{base}/{entry.name}" if base else entry.name).replace(os.sep, "/")
            named.add(found)
            yield _verify_file(files, found, entry, tick)
    yield from _latest(files, names, named)
    for name in names:
        if name not in named and layout.WORK not in name.split("/") and name.split("/")[0] != layout.FAILED:
            yield Finding("stray", name, "no manifest names it")


def _verify_file(files: Files, name: str, entry: FileEntry, tick: Callable[[int], None] | None) -> Finding:
    size = files.size(name)
    if size < 0:
        return Finding("damaged", name, f"missing; {entry.bytes} bytes wanted")
    if size != entry.bytes:
        return Finding("damaged", name, f"{size} bytes, wanted {entry.bytes}")
    found = files.sha256(name)
    if tick:
        tick(size)
    if found != entry.sha256:
        return Finding("damaged", name, f"sha256 {found[:16]}…, wanted {entry.sha256[:16]}…")
    return Finding("ok", name)


def _latest(files: Files, names: list[str], named: set[str]) -> Iterator[Finding]:
    """Each `latest` must name a folder that holds a manifest."""
    for name in names:
        if name.rsplit("/", 1)[-1] != layout.LATEST:
            continue
        named.add(name)
        base = name.rpartition("/")[0]
        key8 = files.read(name).decode(errors="replace").strip()
        target = f"{base}/{key8}/{layout.MANIFEST}".lstrip("/")
        if target in named:
            yield Finding("ok", name)
        else:
            yield Finding("damaged", name, f"names {key8!r}, where no manifest lies")


def garbage(root: str, *, keep: set[str]) -> list[str]:
    """Files of the store that no manifest names and no finished run needs, and mixes that are not the latest.

    What lies under the root and is none of the store's, such as a recipe and its input, is never listed; nor are the
    reports under `failed/`.

    Args:
        root: absolute folder or URL.
        keep: `product/partition` places (as layout.folder gives them) that the recipe still has.

    Returns:
        Names relative to the root, sorted.
    """
    files = Files(root)
    names = [name for name in files.walk() if layout.is_own(name)]
    named: set[str] = set()
    latest = {name for name in names if name.rsplit("/", 1)[-1] == layout.LATEST}
    live_mixes = {f"{n.rpartition('/')[0]}/{files.read(n).decode(errors='replace').strip()}" for n in latest}
    for name in names:
        base, _, last = name.rpartition("/")
        if last != layout.MANIFEST or not _is_live(base, live_mixes, keep):
            continue
        manifest = Manifest.from_bytes(files.read(name), where=files.path(name))
        named.add(name)
        named |= {os.path.normpath(f"{base}/{e.name}") for e in (*manifest.files, *manifest.dropped_files)}
    named |= {name for name in latest if name.rpartition("/")[0] in keep}
    return [name for name in names if name not in named]


def _is_live(base: str, live_mixes: set[str], keep: set[str]) -> bool:
    if base.startswith("mixed/"):
        return base in live_mixes and base.rpartition("/")[0] in keep
    return base in keep
