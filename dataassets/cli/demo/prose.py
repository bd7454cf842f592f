"""The demo's prose: what packages say of themselves, as JSON lines - plain, gzip and Zstandard.

Four kinds: pydoc's topics (the language reference), docstrings, and long descriptions and licences of the installed
packages.
Docstrings are read from sources by `ast`: nothing is imported for them.
"""

import ast
import gzip
import importlib.metadata
import importlib.util
import json
import re
import warnings
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import zstandard

from dataassets.cli.demo.sources import STDLIB, stdlib_files

Record = dict[str, Any]

_SHORTEST = 400  # characters; most docstrings are one line, and no document
_LEAST_SHARE = 0.15  # of such docstrings in a file: half of the bytes that bear nine tenths; parsing takes the time
_STDLIB = "the standard library"
# Packages whose docstrings each snapshot dumps; all of them come with dataassets. An absent one is left out.
_PACKAGES = {
    "2026-09-01": (_STDLIB, "dagster", "pydantic", "click"),
    "2026-10-01": ("sqlalchemy", "alembic", "fsspec", "rich", "jinja2"),
}
_LICENSE = re.compile("licen[cs]e|copying|notice", re.IGNORECASE)


def write_prose(folder: Path, *, tick: Callable[[str, int], None]) -> int:
    """Write topics.jsonl, docstrings.jsonl.gz and packages.jsonl.zst to `<folder>/<snapshot>/`.

    The last line of the second snapshot's topics is cut in its middle, as dumps that broke off are: one record that
    cannot be read, to be met in the quarantine.

    Args:
        folder: where; it is made.
        tick: called with ("prose", bytes of JSON) for each file.

    Returns:
        Bytes of JSON in all.
    """
    chapters, packages, total = list(_topics()), list(_packages()), 0
    for at, (snapshot, names) in enumerate(_PACKAGES.items()):
        here = folder / snapshot
        here.mkdir(parents=True, exist_ok=True)
        files = {
            "topics.jsonl": _lines(chapters[at::2], snapshot, day=3),
            "docstrings.jsonl.gz": _lines((r for name in names for r in _docstrings(name)), snapshot, day=8),
            "packages.jsonl.zst": _lines(packages[at::2], snapshot, day=13, epoch=True),
        }
        for name, found in files.items():
            lines = list(found)
            if (name, at) == ("topics.jsonl", 1):
                lines[-1] = lines[-1][:-200]
            (here / name).write_bytes(_PACK[name.rpartition(".")[2]](b"".join(lines)))
            for line in lines:
                tick("prose", len(line))
                total += len(line)
    return total


_PACK: dict[str, Callable[[bytes], bytes]] = {
    "jsonl": lambda lines: lines,
    "gz": lambda lines: gzip.compress(lines, compresslevel=6, mtime=0),
    "zst": lambda lines: zstandard.ZstdCompressor(level=6).compress(lines),
}


def _lines(records: Iterable[Record], snapshot: str, *, day: int, epoch: bool = False) -> Iterator[bytes]:
    """JSON lines, one record every 10 seconds from a day of the snapshot on."""
    time = datetime.fromisoformat(snapshot).replace(tzinfo=UTC) + timedelta(days=day)
    for record in records:
        time += timedelta(seconds=10)
        told = int(time.timestamp()) if epoch else time.isoformat()
        yield (json.dumps({**record, "timestamp": told}, ensure_ascii=False, sort_keys=True) + "\n").encode()


def topics() -> list[tuple[str, str]]:
    """Names and texts of pydoc's topics: chapters of the language reference, in order of name."""
    from pydoc_data.topics import topics as found

    return sorted(found.items())


def distributions() -> list[tuple[str, importlib.metadata.Distribution]]:
    """Names and distributions that are installed and bear a long description, each once, in order of name."""
    found: dict[str, importlib.metadata.Distribution] = {}
    for distribution in importlib.metadata.distributions():
        meta = distribution.metadata.json
        if len(str(meta.get("description", ""))) >= _SHORTEST and meta["name"] != "dataassets":
            found.setdefault(str(meta["name"]).lower(), distribution)
    return sorted(found.items())


def _topics() -> Iterator[Record]:
    for name, text in topics():
        yield {"text": text, "url": f"https://pydoc.example.org/topics/{name}", "kind": "topic", "name": name}


def _packages() -> Iterator[Record]:
    """Descriptions and licences. The latter are the same few texts with other names and years, again and again."""
    for name, distribution in distributions():
        meta, url = distribution.metadata.json, f"https://pypi.org/project/{name}/"
        about = {"name": name, "version": meta["version"]}
        yield {"text": meta["description"], "url": url, "kind": "description", **about}
        for file in sorted(distribution.files or (), key=str):
            path = Path(str(file.locate()))
            if ".dist-info/" in file.as_posix() and _LICENSE.match(file.name) and path.is_file():
                text = path.read_text("utf-8", "replace")
                if len(text) >= _SHORTEST:
                    yield {"text": text, "url": f"{url}#{file.name}", "kind": "license", **about}


def _docstrings(package: str) -> Iterator[Record]:
    for file, module in _modules(package):
        source = file.read_bytes()
        if sum(n for n in map(len, source.split(b'"""')[1::2]) if n >= _SHORTEST) < _LEAST_SHARE * len(source):
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of backslashes in other people's strings
            try:
                tree = ast.parse(source)
            except SyntaxError:
                continue  # templates and files for another Python
        for name, text in _told(tree, module):
            if len(text) >= _SHORTEST:
                url = f"https://pydoc.example.org/{package if package != _STDLIB else 'python'}/{name}"
                yield {"text": text, "url": url, "kind": "docstring", "name": name, "package": package}


def _told(node: ast.AST, name: str) -> Iterator[tuple[str, str]]:
    """Names and docstrings of a module, its classes and functions, in the order of the file."""
    if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        if text := ast.get_docstring(node):
            yield name, text
        for child in node.body:
            if isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                yield from _told(child, f"{name}.{child.name}")


def _modules(package: str) -> Iterator[tuple[Path, str]]:
    """Source files of a package and their modules' names, sorted, without its tests."""
    if package == _STDLIB:
        files, base = stdlib_files(), STDLIB
    elif spec := importlib.util.find_spec(package):
        folder = Path(str(spec.origin)).parent
        files, base = list(folder.rglob("*.py")), folder.parent
    else:
        return
    for file in sorted(files):
        parts = file.relative_to(base).with_suffix("").parts
        if not {"tests", "test", "conftest"}.intersection(parts):
            yield file, ".".join(parts).removesuffix(".__init__")
