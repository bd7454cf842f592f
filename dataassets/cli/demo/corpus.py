"""The demo's corpus: real text that needs no download, from what is installed anyway.

Two monthly snapshots, four sources, four formats. Equal packages give equal bytes: dates are fixed, orders sorted.
"""

from collections.abc import Callable
from pathlib import Path

from dataassets.cli.demo.doc_pages import write_docs
from dataassets.cli.demo.prose import write_prose
from dataassets.cli.demo.sources import write_code
from dataassets.cli.demo.web import write_web


def write_corpus(folder: Path, *, tick: Callable[[str, int], None] | None = None) -> dict[str, int]:
    """Write all sources of the demo's recipe.

    Args:
        folder: where; the sources are folders in it: web, docs, prose, code.
        tick: called with (source, bytes) as the work goes on.

    Returns:
        Bytes of raw content (before compression) by source.

    Raises:
        MissingPackageError: botocore, which the pages of `web` are made from, is not installed.
    """
    heard = tick or (lambda source, num_bytes: None)
    return {
        "web": write_web(folder / "web", tick=heard),
        "docs": write_docs(folder / "docs", tick=heard),
        "prose": write_prose(folder / "prose", tick=heard),
        "code": write_code(folder / "code", tick=heard),
    }
