"""text and html: one file, one document."""

from collections.abc import Iterator
from typing import IO

from dataassets.stages.read.rows import Row

TEXT, HTML = "text/plain", "text/html"  # no charset is told: clean finds it


def read_whole(stream: IO[bytes], *, media_type: str) -> Iterator[Row]:
    """The bytes of a file as they are, at position 0.

    >>> import io
    >>> next(read_whole(io.BytesIO(b"hello"), media_type=TEXT)).content
    b'hello'
    """
    yield Row(0, stream.read(), media_type)
