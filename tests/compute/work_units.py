"""Units of work for tests of executors, where spawned processes can import them."""

import os
import signal
import threading
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc


class TwoArgumentsError(ValueError):
    """An error that pickle cannot build again."""

    def __init__(self, what: str, where: str) -> None:
        super().__init__(f"{what} at {where}")


def slow_square(n: int) -> int:
    time.sleep(0.002 * (n % 3))
    return n * n


def process_of(_unit: int) -> int:
    time.sleep(0.01)
    return os.getpid()


def refuse_seven(n: int) -> int:
    if n == 7:
        raise KeyError(f"unit {n}")
    return n


def refuse_and_count(unit: tuple[str, int]) -> int:
    folder, n = unit
    note(folder, f"ran-{n}")
    return refuse_seven(n)


def when(_unit: int) -> tuple[float, float]:
    start = time.monotonic()
    time.sleep(0.02)
    return start, time.monotonic()


def refuse_oddly(n: int) -> int:
    if n == 1:
        raise TwoArgumentsError("refused", "unit 1")
    return n


def note(folder: str, name: str) -> None:
    """Leave a mark each time that something runs."""
    with (Path(folder) / name).open("a") as f:
        f.write("x")


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def die_once(unit: tuple[str, int]) -> int:
    """Unit 3 kills its worker the first time that it is tried."""
    folder, n = unit
    note(folder, f"ran-{n}")
    if n == 3 and (Path(folder) / "ran-3").read_text() == "x":
        die()
    time.sleep(0.02)
    return n


def die_once_and_tell_when(unit: tuple[str, int]) -> tuple[float, float]:
    start = time.monotonic()  # one clock for all processes
    die_once(unit)
    time.sleep(0.05)
    return start, time.monotonic()


def die_always(n: int) -> int:
    if n == 2:
        die()
    return n


def crash_always(n: int) -> int:
    if n == 2:
        os.kill(os.getpid(), signal.SIGSEGV)
    return n


def exit_always(n: int) -> int:
    if n == 2:
        os._exit(3)
    return n


def no_memory(n: int) -> int:
    if n == 2:
        raise MemoryError("4 TB please")
    return n


def hold_and_die(num_bytes: int) -> None:
    held = np.ones(num_bytes, np.uint8)
    assert held.any()
    die()


def die_and_count(folder: str) -> None:
    (Path(folder) / str(os.getpid())).touch()
    die()


def tell_and_wait(folder: str) -> None:
    (Path(folder) / str(os.getpid())).touch()
    time.sleep(0.5)


def give_back(unit: bytes) -> bytes:
    return unit


def a_lock(_unit: int) -> object:
    return threading.Lock()


def threads_of_libraries(_unit: int) -> tuple[int, str]:
    return pa.cpu_count(), os.environ["NUMBA_NUM_THREADS"]


ROWS = pa.schema([("bucket", pa.uint32()), ("word", pa.large_string()), ("items", pa.list_(pa.int32()))])


def as_table(rows: list[tuple[int, str | None, list[int]]]) -> pa.Table:
    """A unit that is a list of rows (bucket, word, items)."""
    columns = zip(*rows, strict=True) if rows else ([], [], [])
    return pa.Table.from_arrays([pa.array(c, f.type) for c, f in zip(columns, ROWS, strict=True)], schema=ROWS)


def noted(unit: tuple[str, int, list[tuple[int, str | None, list[int]]]]) -> pa.Table:
    """The same, leaving a mark each time that it runs."""
    folder, n, rows = unit
    note(folder, f"ran-{n}")
    return as_table(rows)


def as_rows(bucket: int, rows: pa.Table) -> tuple[int, list[dict[str, object]]]:
    return bucket, rows.to_pylist()


def many_rows(seed: int) -> pa.Table:
    """A few thousand rows over 16 buckets."""
    chance = np.random.default_rng(seed)
    bucket = chance.integers(0, 16, 3000).astype(np.uint32)
    return pa.table({"bucket": bucket, "value": chance.integers(0, 2**40, 3000)})


def checksum(bucket: int, rows: pa.Table) -> tuple[int, int, int]:
    order = pa.array(np.arange(1, len(rows) + 1) % 1009)
    return bucket, len(rows), pc.sum(pc.multiply(pc.bit_wise_and(rows.column("value"), 0xFFFF), order)).as_py()


SLOW_S = 0.4  # long enough that a node which is killed holds a unit


def take_time(folder: str, name: str) -> None:
    """Tell, while it lasts, which node holds this unit, by the process that all its workers are children of."""
    note(folder, f"ran-{name}")
    held = Path(folder) / f"holds-{name}"
    held.write_text(str(os.getppid()))
    time.sleep(SLOW_S)
    held.replace(held.with_suffix(".done"))


def slow_rows(unit: tuple[str, int]) -> pa.Table:
    folder, n = unit
    take_time(folder, f"rows-{n}")
    return many_rows(n)


class SlowChecksum:
    """A gather that takes its time."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __call__(self, bucket: int, rows: pa.Table) -> tuple[int, int, int]:
        take_time(self.folder, f"checksum-{bucket}")
        return checksum(bucket, rows)
