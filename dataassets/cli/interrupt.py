"""Ctrl-C, heard for certain: Dagster replaces the handler of SIGINT for much of a run and may forget what it caught."""

import signal
import socket
import threading
from contextlib import suppress
from types import TracebackType
from typing import Self


class Interrupts:
    """Hears each SIGINT and SIGTERM while it is entered, whichever handler Python has at the time.

    Python writes the number of every signal to a wakeup descriptor before it calls any handler.
    """

    def __init__(self) -> None:
        self._heard = False

    def __enter__(self) -> Self:
        self._ear, self._mouth = socket.socketpair()
        self._ear.setblocking(False)
        self._mouth.setblocking(False)
        self._is_main = threading.current_thread() is threading.main_thread()
        if self._is_main:
            self._before = signal.set_wakeup_fd(self._mouth.fileno(), warn_on_full_buffer=False)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._is_main:
            signal.set_wakeup_fd(self._before)
        self._ear.close()
        self._mouth.close()

    @property
    def heard(self) -> bool:
        """Whether a signal to stop has come since the beginning."""
        with suppress(BlockingIOError):
            self._heard |= bool({signal.SIGINT, signal.SIGTERM} & set(self._ear.recv(4096)))
        return self._heard
