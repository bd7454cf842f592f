"""Addresses against lists: domains, whole addresses, words and parts of them. A document without one passes."""

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dataassets import models
from dataassets.recipe import Filter, RecipeError, Url
from dataassets.stages.filter.rule import Columns, Ruling, Texts, values

if TYPE_CHECKING:  # numba is loaded where addresses are read
    from dataassets.stages.filter.automaton import Automaton
    from dataassets.stages.filter.blocklists import Blocked
    from dataassets.stages.filter.entries import Entries
    from dataassets.stages.text import Bytes, Ints

HISTOGRAMS = {"url_soft_words": ((0, 1, 2, 3, 4, 5, 10, 100), "soft_words")}

_KINDS = {  # of lists, and the signals that each gives
    "domains": {"url_domain": pa.string()},
    "urls": {"url_listed": pa.large_string()},
    "banned_words": {"url_banned_word": pa.string()},
    "soft_words": {"url_soft_words": pa.int64()},
    "subwords": {"url_subword": pa.string()},
    "substrings": {"url_substring": pa.string()},
    "allow": {"url_allowed": pa.bool_()},
}
_Files = tuple[tuple[str, str, str], ...]  # key in the recipe, path, sha256


def knobs(settings: Filter) -> dict[str, Any] | None:
    """The sha256 of the files of each kind of list."""
    if settings.url is None:
        return None
    return {kind: sorted(sha256 for _, _, sha256 in files) for kind, files in _files(settings.url).items()}


def fields(settings: Filter) -> list[pa.Field]:
    """For each kind of list that there is, what it found; null: nothing, or the document has no address."""
    assert settings.url is not None
    return [pa.field(name, kind) for own in _files(settings.url) for name, kind in _KINDS[own].items()]


def measure(texts: Texts, *, settings: Filter) -> Columns:
    """Look every address up."""
    from dataassets.stages.text import utf8_buffers

    assert settings.url is not None
    urls = texts.documents.column("url").combine_chunks()
    buffer, offsets = utf8_buffers(urls.fill_null("") if urls.null_count else urls)
    files = _files(settings.url)
    columns: Columns = {}
    for own in (_listed, _words, _parts, _allowed):
        columns |= own(buffer, offsets, files)
    for name in {"url_soft_words", "url_allowed"} & columns.keys():
        columns[name] = pa.array(columns[name], mask=np.asarray(urls.is_null()))
    return columns


def tests(signals: pa.Table, *, settings: Filter) -> Iterator[Ruling]:
    """What lists found, in datatrove's order; what is allowed passes all."""
    own, stays = settings.url, np.zeros(len(signals), bool)
    assert own is not None
    if "url_allowed" in signals.column_names:
        stays = np.asarray(pc.fill_null(signals.column("url_allowed"), False))
    for name, column in (("domain", "url_domain"), ("url", "url_listed"), ("banned_word", "url_banned_word"),
                         ("soft_words", "url_soft_words"), ("subword", "url_subword"),
                         ("substring", "url_substring")):  # fmt: skip
        if column not in signals.column_names:
            continue
        if name == "soft_words":
            yield Ruling(name, column, own.min_soft_words, (values(signals, column) >= own.min_soft_words) & ~stays)
        else:
            yield Ruling(name, column, None, np.asarray(signals.column(column).is_valid()) & ~stays)


def _files(own: Url) -> dict[str, _Files]:
    """The lists of each kind that there is; a folder's files are lists of domains and of addresses."""
    named = {kind: [(f"filter.url.{kind}", str(path)) for path in getattr(own, kind)] for kind in _KINDS}
    for folder in own.folders:
        inside = {kind: _inside(Path(folder), kind) for kind in ("domains", "urls")}
        if not any(inside.values()):
            raise RecipeError(f"filter.url.folders = {str(folder)!r}: holds no file domains or urls; mend the path")
        for kind, paths in inside.items():
            named[kind] += [("filter.url.folders", path) for path in paths]
    return {
        kind: tuple((key, path, models.sha256_of(path, key=key)) for key, path in files)
        for kind, files in named.items()
        if files
    }


def _inside(folder: Path, kind: str) -> list[str]:
    """Files of a folder that bear the name of a kind and are not empty."""
    paths = (folder / name for name in (kind, f"{kind}.txt", f"{kind}.gz", f"{kind}.txt.gz"))
    return [str(path) for path in paths if path.is_file() and path.stat().st_size]


def _listed(buffer: "Bytes", offsets: "Ints", files: dict[str, _Files]) -> Columns:
    if not {"domains", "urls"} & files.keys():
        return {}
    from dataassets.stages.filter.blocklists import look_up, names_of

    blocked = _blocked(files.get("domains", ()), files.get("urls", ()), ())
    domain_D, url_D = look_up(buffer, offsets, blocked)
    found = {"domains": ("url_domain", domain_D, blocked.domains), "urls": ("url_listed", url_D, blocked.urls)}
    return {name: names_of(places, entries) for kind, (name, places, entries) in found.items() if kind in files}


def _allowed(buffer: "Bytes", offsets: "Ints", files: dict[str, _Files]) -> Columns:
    if "allow" not in files:
        return {}
    from dataassets.stages.filter.blocklists import look_up

    domain_D, url_D = look_up(buffer, offsets, _blocked((), (), files["allow"]))
    return {"url_allowed": (domain_D != 0) | (url_D != 0)}


def _words(buffer: "Bytes", offsets: "Ints", files: dict[str, _Files]) -> Columns:
    if not {"banned_words", "soft_words"} & files.keys():
        return {}
    from dataassets.stages.filter.blocklists import names_of
    from dataassets.stages.filter.url_words import find_words

    banned, soft = (_word_entries(files.get(kind, ())) for kind in ("banned_words", "soft_words"))
    place_D, num_soft_D = find_words(buffer, offsets, banned=banned, soft=soft)
    found = {"banned_words": ("url_banned_word", names_of(place_D, banned)),
             "soft_words": ("url_soft_words", num_soft_D)}  # fmt: skip
    return dict(column for kind, column in found.items() if kind in files)


def _parts(buffer: "Bytes", offsets: "Ints", files: dict[str, _Files]) -> Columns:
    from dataassets.stages.filter.url_words import find_parts

    columns = {}
    for kind, name, squeezed in (("subwords", "url_subword", True), ("substrings", "url_substring", False)):
        if kind in files:
            parts = _part_automaton(files[kind], squeezed)
            columns[name] = find_parts(buffer, offsets, parts=parts, squeezed=squeezed)
    return columns


def _pairs(files: _Files) -> list[tuple[str, str]]:
    return [(key, path) for key, path, _ in files]


@lru_cache(maxsize=4)
def _blocked(domains: _Files, urls: _Files, either: _Files) -> "Blocked":
    """Lists of domains and addresses, read once a process; the sha256 of each file is part of the key."""
    from dataassets.stages.filter.blocklists import load

    return load(domains=_pairs(domains), urls=_pairs(urls), either=_pairs(either))


@lru_cache(maxsize=8)
def _word_entries(files: _Files) -> "Entries":
    from dataassets.stages.filter.url_words import load_words

    return load_words(_pairs(files))


@lru_cache(maxsize=8)
def _part_automaton(files: _Files, squeezed: bool) -> "Automaton":
    from dataassets.stages.filter.url_words import load_parts

    return load_parts(_pairs(files), squeezed=squeezed)
