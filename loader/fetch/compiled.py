"""When the gathering loop is machine code: numba makes it in the background, numpy gathers until then and without it.

Neither an import nor a first batch waits for a compiler. LOADER_COMPILED=0 in the environment leaves it out.
"""

import importlib
import importlib.util
import os
import threading
from collections.abc import Callable

SWITCH_ENV = "LOADER_COMPILED"
PATIENCE = 64  # batches gathered by numpy before the loop is made

Loop = Callable[..., int]

_loops: dict[int, Loop] = {}  # by bytes of a token
_asked: dict[int, int] = {}
_making = threading.Lock()


def loop(itemsize: int) -> Loop | None:
    """The loop, where it is at hand; asked often enough, it is made meanwhile.

    Args:
        itemsize: bytes of a token, 2 (uint16) or 4 (int32).

    Returns:
        As `loader.fetch.loops.gather_uint16`, or None.
    """
    found = _loops.get(itemsize)
    if found is None:
        _asked[itemsize] = _asked.get(itemsize, 0) + 1
        if _asked[itemsize] == PATIENCE and os.environ.get(SWITCH_ENV) != "0" and importlib.util.find_spec("numba"):
            threading.Thread(target=make, args=(itemsize,), name="loader-compile").start()
    return found


def make(itemsize: int) -> None:
    """Make the loop now, once a process; where numba can not keep what it compiles, numpy goes on.

    Args:
        itemsize: bytes of a token.
    """
    with _making:
        if itemsize not in _loops:
            try:
                _loops[itemsize] = importlib.import_module("loader.fetch.loops").made(itemsize)
            except (RuntimeError, ImportError):
                return
