"""Buffers that go round: each is used again only after everything that looks into it is gone."""

import weakref
from collections import deque

import numpy as np
import numpy.typing as npt


class BufferPool:
    """Int64 buffers of one shape, each used again only after everything that looks into it is gone.

    A fresh large array costs as much in page faults as the gathering itself; so memory goes round. What `take` hands
    out anchors all arrays and tensors made from it: when the last of them is freed, the memory comes back.

    Args:
        shape: of every buffer.
        keep: free buffers kept; further ones are returned to the system.
    """

    def __init__(self, shape: tuple[int, ...], *, keep: int) -> None:
        self._shape = shape
        self._free: deque[npt.NDArray[np.int64]] = deque(maxlen=keep)

    def take(self) -> npt.NDArray[np.int64]:
        """Give a buffer that nobody holds, its content undefined."""
        try:
            memory = self._free.pop()
        except IndexError:
            memory = np.empty(self._shape, np.int64)
        # numpy passes the base of a view on to the views of it, but only through arrays: the buffer stops it here
        anchor = np.frombuffer(memory.data, np.int64).reshape(self._shape)
        assert isinstance(anchor.base, np.ndarray)
        weakref.finalize(anchor.base, self._free.append, memory).atexit = False
        return anchor
