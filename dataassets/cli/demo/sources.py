"""The demo's code: the standard library's own sources, as Parquet."""

import sysconfig
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

STDLIB = Path(sysconfig.get_paths()["stdlib"])
# Beside the modules at the top. The rest is tests, tables, generated code, or goes with Python's next version.
_PACKAGES = (
    "asyncio collections concurrent email html http importlib json logging multiprocessing unittest urllib wsgiref xml "
    "xmlrpc zoneinfo"
)
_ROWS_PER_FILE = 300
_SCHEMA = pa.schema([("content", pa.string()), ("path", pa.string()), ("license", pa.string())])


def stdlib_files() -> list[Path]:
    """Source files of the standard library that the demo reads, sorted."""
    inner = [f for package in _PACKAGES.split() for f in (STDLIB / package).rglob("*.py")]
    return sorted([*STDLIB.glob("*.py"), *(f for f in inner if "test" not in f.relative_to(STDLIB).parts)])


def write_code(folder: Path, *, tick: Callable[[str, int], None]) -> int:
    """Write `<folder>/stdlib-<n>.parquet` with columns content, path and license, a row for each file.

    Args:
        folder: where; it is made.
        tick: called with ("code", bytes of source) for each file.

    Returns:
        Bytes of source in all.
    """
    folder.mkdir(parents=True, exist_ok=True)
    rows: list[dict[str, str]] = []
    total = 0
    for file in stdlib_files():
        try:
            text = file.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue  # a few declare another encoding
        if text:
            rows.append({"content": text, "path": file.relative_to(STDLIB).as_posix(), "license": "PSF-2.0"})
            total += file.stat().st_size
            tick("code", file.stat().st_size)
    for at in range(0, len(rows), _ROWS_PER_FILE):
        table = pa.Table.from_pylist(rows[at : at + _ROWS_PER_FILE], schema=_SCHEMA)
        pq.write_table(table, folder / f"stdlib-{at // _ROWS_PER_FILE}.parquet", compression="zstd", row_group_size=100)
    return total
