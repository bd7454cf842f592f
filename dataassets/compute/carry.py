"""Work and units go to another process as bytes, results and errors come back as bytes: the same for every executor."""

import os
import pickle
import socket
import traceback
from collections.abc import Callable
from typing import Any

from dataassets.compute.errors import ComputeError

Name = Callable[[Any], str]  # tells a unit for people


def packed(thing: object) -> bytes:
    """Work or a unit as bytes.

    Raises:
        Exception: pickle cannot carry it.
    """
    return pickle.dumps(thing, protocol=pickle.HIGHEST_PROTOCOL)


def loaded(data: bytes) -> Any:  # noqa: ANN401 - whatever was packed
    """The inverse of `packed`; for bytes of our own other processes only."""
    return pickle.loads(data)  # noqa: S301 - written by `packed`, in a process of this very job


def done(work: Callable[[], Callable[[Any], Any]], unit: bytes) -> bytes:
    """Do one unit and pack what it gave or raised.

    Args:
        work: gives the work; an error in it (a module that is not there) counts as the unit's.
        unit: packed.

    >>> came_back(done(lambda: abs, packed(-2)))
    2
    """
    try:
        return packed((True, work()(loaded(unit))))
    except Exception as error:  # noqa: BLE001 - travels, and is raised over there
        return packed((False, _fit_to_travel(error)))


def came_back(reply: bytes) -> Any:  # noqa: ANN401 - whatever the unit gave
    """What a unit gave.

    Raises:
        Exception: what the unit raised, with the traceback over there as a note.
    """
    succeeded, value = loaded(reply)
    if succeeded:
        return value
    raise value


def one_thread() -> None:
    """Workers share the cores among themselves: no library in them starts threads of its own."""
    for name in ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "RAYON_NUM_THREADS", "TOKENIZERS_PARALLELISM"):
        os.environ[name] = "1"

    import pyarrow as pa

    pa.set_cpu_count(1)
    pa.set_io_thread_count(2)


def told(index: int, units: int, what: str | None) -> str:
    """A unit by what it is, where that is known, and its number.

    >>> told(3, 8, "filtered 2026-10-01|web part 3"), told(3, 8, None)
    ('filtered 2026-10-01|web part 3 (unit 3 of 8)', 'unit 3 of 8')
    """
    number = f"unit {index} of {units}"
    return f"{what} ({number})" if what else number


def _fit_to_travel(error: Exception) -> Exception:
    """The error, or its text where pickle cannot build it again; the way here as a note."""
    here = f"in process {os.getpid()} of {socket.gethostname()}:\n{traceback.format_exc()}"
    try:
        loaded(packed(error))
    except Exception:  # noqa: BLE001 - whatever its constructor does
        error = ComputeError(f"{type(error).__qualname__}: {error}")
    error.add_note(here)
    return error
