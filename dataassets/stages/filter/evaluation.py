"""Evaluation sets: the items of a file, each with its row and its text.

Formats, by the file's ending: jsonl, parquet, csv, and txt with one item a line; all but parquet may be gzipped (.gz).
"""

import csv
import gzip
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, TextIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from dataassets.recipe import RecipeError
from dataassets.stages.filter.overlap import Index, index_of
from dataassets.stages.text import utf8_buffers

FORMATS = ("jsonl", "parquet", "csv", "txt")


class Sets(NamedTuple):
    """The items of all evaluation sets.

    Args:
        grams: of all of them.
        names: by number of the item, `<set>:<row>`.
    """

    grams: Index
    names: list[str]


class Source(NamedTuple):
    """One evaluation set: its name, its file, and the sha256 of that, which keys what is read of it."""

    name: str
    path: str
    sha256: str


@lru_cache(maxsize=2)
def read_sets(sources: tuple[Source, ...], fields: tuple[str, ...], ngram: int, min_words: int) -> Sets:
    """Read evaluation sets and enter their n-grams; kept for the process.

    Args:
        sources: in the order in which an n-gram that several items share is looked for.
        fields: columns that make up the text of an item; () for all that hold text.
        ngram: words in an n-gram.
        min_words: an item with fewer than n words, but this many, is one n-gram.

    Raises:
        RecipeError: a file is of no known format, broken, lacks all fields, or none of its items is long enough.
    """
    texts, names = [], []
    for source in sources:
        for row, text in items(source.path, key=f"filter.decontamination.files.{source.name}", fields=fields):
            texts.append(text)
            names.append(f"{source.name}:{row}")
    index = index_of(*utf8_buffers(pa.array(texts, pa.large_string())), ngram=ngram, min_words=min_words)
    shortest, longest = min(ngram, min_words), dict.fromkeys((source.name for source in sources), 0)
    for name, num_words in zip(names, np.diff(index.words.first).tolist(), strict=True):
        longest[name.rpartition(":")[0]] = max(longest[name.rpartition(":")[0]], num_words)
    for source in sources:
        if longest[source.name] < shortest:
            raise RecipeError(
                f"filter.decontamination.files.{source.name} = {source.path!r}: no item has {shortest} words, "
                "so nothing can match; name other fields, or lower min_words"
            )
    return Sets(index, names)


def format_of(path: str) -> str:
    """The ending that says how a file is read, such as jsonl.gz; "" where it is none of FORMATS.

    >>> format_of("a/b.c.JSONL.gz"), format_of("notes.md")
    ('jsonl.gz', '')
    """
    endings = [ending.lower() for ending in Path(path).suffixes]
    packed = endings[-1:] == [".gz"]
    kind = (endings[:-1] if packed else endings)[-1:]
    name = {"ndjson": "jsonl"}.get(kind[0][1:], kind[0][1:]) if kind else ""
    return (name + ".gz" * packed) if name in FORMATS and not (packed and name == "parquet") else ""


def items(path: str, *, key: str, fields: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Row, counted from 1 (the line of a text file), and text of each item that has some.

    Args:
        path: of the file.
        key: where the recipe names it, for errors.
        fields: columns that make up the text, in this order; () for all that hold text. A txt file has none.

    Raises:
        RecipeError: no known format, a broken file, or a file without any of the fields.
    """
    kind = format_of(path)
    if not kind:
        raise RecipeError(f"{key} = {path!r} ends in none of {', '.join(FORMATS)} (or .gz after it); rename the file")
    try:
        yield from _texts(_records(path, kind.removesuffix(".gz")), where=f"{key} = {path!r}", fields=fields)
    except (OSError, EOFError, UnicodeDecodeError, csv.Error, pa.ArrowInvalid) as error:
        raise RecipeError(f"{key} = {path!r} cannot be read as {kind}: {error}; mend the file") from error


def _texts(records: Iterable[tuple[int, Any]], *, where: str, fields: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Text of each record; of a record that is no mapping, all of it."""
    known: dict[str, None] = {}
    met = not fields
    for row, record in records:
        if isinstance(record, Exception):
            raise RecipeError(f"{where}, line {row}: no JSON ({record}); mend the line")
        if isinstance(record, dict):
            known |= dict.fromkeys(record)
            met = met or any(name in record for name in fields)
            record = [record.get(name) for name in fields] if fields else list(record.values())
        else:
            met = True
        if text := "\n".join(_strings(record)).strip():
            yield row, text
    if known and not met:
        raise RecipeError(f"{where} has none of the fields {list(fields)}; take some of {list(known)}")


def _strings(value: object) -> Iterator[str]:
    """All text in a value, in order: of lists and mappings, that of their values."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for own in value.values() if isinstance(value, dict) else value:
            yield from _strings(own)


def _records(path: str, kind: str) -> Iterator[tuple[int, Any]]:
    if kind == "parquet":
        row = 0
        for batch in pq.ParquetFile(path).iter_batches():
            for record in batch.to_pylist():
                row += 1
                yield row, record
        return
    with _opened(path) as file:
        if kind == "csv":
            yield from enumerate(csv.DictReader(file), 1)
        elif kind == "txt":
            yield from enumerate(file, 1)
        else:
            yield from ((row, _parsed(line)) for row, line in enumerate(file, 1) if line.strip())


def _parsed(line: str) -> object:
    try:
        return json.loads(line)
    except ValueError as error:
        return error


@contextmanager
def _opened(path: str) -> Iterator[TextIO]:
    """A text file in UTF-8, with or without a byte order mark, gzipped where its name says so."""
    opened = gzip.open if path.lower().endswith(".gz") else open
    with opened(path, "rb") as raw, io.TextIOWrapper(raw, encoding="utf-8-sig", newline="") as file:
        yield file
