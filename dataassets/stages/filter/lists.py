"""Files of lists that a recipe names: an entry a line, UTF-8, as they are or gzipped."""

import gzip
from collections.abc import Iterator, Sequence
from typing import IO, TypeAlias, cast

from dataassets.recipe import RecipeError

Files: TypeAlias = Sequence[tuple[str, str]]  # key in the recipe, path
BLOCK_BYTES = 1 << 20  # read at a time: bounds the memory, changes no result
_BOM = b"\xef\xbb\xbf"


def blocks(path: str, *, key: str) -> Iterator[bytes]:
    """A file in pieces of whole lines; each line ends in a line feed, the last one too.

    Args:
        path: local; `.gz` is unpacked.
        key: where the recipe names it, for the error.

    Raises:
        RecipeError: it cannot be read.
    """
    rest, head = b"", _BOM
    try:
        with _opened(path) as file:
            while block := file.read(BLOCK_BYTES):
                whole, feed, rest = (rest + block).rpartition(b"\n")
                if feed:
                    yield (whole + feed).removeprefix(head)
                    head = b""
    except (OSError, EOFError) as e:
        raise RecipeError(f"{key} = {path!r}: cannot be read ({e}); mend the file or the path") from e
    if rest:
        yield rest.removeprefix(head) + b"\n"


def words(path: str, *, key: str) -> Iterator[str]:
    """The entries of a list of words and phrases, white space around them taken off.

    Blank lines are no entries, nor are remarks: lines of a `#` alone, or one with white space behind it.

    Args:
        path: local; `.gz` is unpacked.
        key: where the recipe names it, for the error.

    Raises:
        RecipeError: it cannot be read, or is no UTF-8.
    """
    number = 0
    for block in blocks(path, key=key):
        for line in block.removesuffix(b"\n").split(b"\n"):
            number += 1
            entry = text_of(line, path=path, number=number, key=key).strip()
            if entry and entry != "#" and not (entry[0] == "#" and entry[1].isspace()):
                yield entry


def text_of(line: bytes, *, path: str, number: int, key: str) -> str:
    """A line of a list as text.

    Raises:
        RecipeError: it is no UTF-8.
    """
    try:
        return line.decode()
    except UnicodeDecodeError as e:
        raise RecipeError(f"{key}: {path}:{number}: {line[:60]!r} is no UTF-8; save the list as UTF-8") from e


def refuse_none(num_entries: int, files: Files) -> None:
    """Lists without an entry look as if they ruled.

    Args:
        num_entries: of the files together.
        files: key in the recipe and path; there may be none.

    Raises:
        RecipeError: there are files, but no entries.
    """
    if files and not num_entries:
        named = ", ".join(sorted({f"{key} = {path!r}" for key, path in files}))
        raise RecipeError(f"{named}: holds no entry; write one a line, or leave the list out")


def _opened(path: str) -> IO[bytes]:
    return cast(IO[bytes], gzip.open(path) if path.endswith(".gz") else open(path, "rb"))  # noqa: PTH123
