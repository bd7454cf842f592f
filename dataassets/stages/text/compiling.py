"""How kernels are compiled and kept: a change in any file with kernels makes all of them anew.

numba keeps a compiled function as long as the function's own file is unchanged, but what it calls in other files is
part of it. So what is kept bears a digest of all those files beside numba's own stamp. It lies in `__pycache__` beside
each file, or in the user's cache folder where that may not be written (or in NUMBA_CACHE_DIR); where nothing may be
written, kernels are compiled in each process.
"""

import hashlib
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba.extending import register_jitable

_F = TypeVar("_F", bound=Callable[..., Any])
_OPTIONS: Any = {"nogil": True, "no_cfunc_wrapper": True}


def bare(function: _F) -> _F:
    """As `compiled`, of a kernel that makes no array: nothing in it counts references.

    numba counts them, atomically, wherever an array is taken out of a tuple or handed on: a third of the time of some
    kernels, and more where threads share an array, whose count then wanders from core to core.
    """
    return _kept(function, _OPTIONS | {"_nrt": False})


def compiled(function: _F) -> _F:
    """A kernel that Python calls: compiled at its first call without the interpreter's lock, and kept on disk."""
    return _kept(function, _OPTIONS)


def _kept(function: _F, options: Any) -> _F:  # noqa: ANN401 (of numba)
    try:
        kernel = numba.njit(cache=True, **options)(function)
    except RuntimeError:  # numba found no folder that may be written
        return cast(_F, numba.njit(**options)(function))
    kept = kernel._cache._cache_file  # noqa: SLF001 (numba has no other way to add to the stamp)
    kept._source_stamp = (kept._source_stamp, sources())  # noqa: SLF001
    return cast(_F, kernel)


def inner(function: _F) -> _F:
    """A part of kernels: compiled into each that calls it, plain Python where Python does. Cheaper than `compiled`."""
    return register_jitable(nogil=True)(function)


@lru_cache(maxsize=1)
def sources(folder: Path = Path(__file__).parents[1]) -> str:
    """Digest of the files below a folder that hold kernels or parts of them.

    Args:
        folder: `stages`.
    """
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        data = path.read_bytes()
        if any(mark in data for mark in (b"@compiled", b"@bare", b"@inner", b"@intrinsic")):
            digest.update(data)
    return digest.hexdigest()
