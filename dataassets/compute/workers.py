"""Worker processes on this machine: each holds one unit at a time, so that a death names its unit and harms no other.

`ProcessPoolExecutor` ends all workers when one dies and cannot tell whose unit it was; this pool goes on.
"""

import signal
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import Any, TypeVar

from dataassets.compute import memory
from dataassets.compute.carry import Name, came_back, done, loaded, one_thread, packed, told
from dataassets.compute.errors import ComputeError

U = TypeVar("U")
R = TypeVar("R")

_SPAWN = get_context("spawn")


@dataclass
class _Map:
    """One call of `map`: what is to be done and what is done."""

    work: bytes
    units: Sequence[Any]
    on_done: Callable[[int, Any], None] | None
    results: dict[int, Any]


class Workers:
    """Spawned processes that do units; they start when needed and live until `close`.

    Args:
        number: most processes at a time.
    """

    def __init__(self, number: int) -> None:
        self.number = number
        self._all: list[_Worker] = []

    def map(
        self, work: Callable[[U], R], units: Sequence[U], *, on_done: Callable[[int, R], None] | None, name: Name | None
    ) -> list[R]:
        """Run `work` on each unit; see Executor.map.

        A unit whose worker died is tried once more at the end, alone, with the memory of all workers given back.

        Raises:
            ComputeError: it died again; all other units are done by then, but for those that died too.
            Exception: what a unit raised, as it raised it; units that wait are not begun.
        """
        job = _Map(packed(work), units, on_done, {})
        if fallen := self._run(job, range(len(units)), self.number):
            self.close()
            for i in sorted(fallen):
                for how in self._run(job, [i], 1).values():
                    self.close()
                    raise ComputeError(_why(told(i, len(units), name(units[i]) if name else None), how))
        return [job.results[i] for i in range(len(units))]

    def close(self) -> None:
        """End the processes, each after the unit that it holds."""
        for worker in self._all:
            worker.pipe.close()
        for worker in self._all:
            worker.process.join()
        self._all.clear()

    def _run(self, job: _Map, indices: Iterable[int], number: int) -> dict[int, str]:
        """Do units; which of them fell with their worker, and how."""
        todo, fallen = deque(indices), {}
        while todo or any(w.job is job for w in self._all):
            self._hand_out(job, todo, number)
            busy = [w for w in self._all if w.job is not None]
            spoke = wait([w.pipe for w in busy])
            for worker in (w for w in busy if w.pipe in spoke):
                index, own, reply = worker.index, worker.job is job, worker.reply()
                if reply is None:
                    self._all.remove(worker)
                elif own:
                    self._hand_out(job, todo, number)  # before the listener, which may take its time
                if not own:
                    continue  # left over from a map that an error ended
                how = worker.end if reply is None else self._take(job, index, reply)
                if how:
                    fallen[index] = how
            if not job.results and len(fallen) > number:  # nothing goes at all: no use in losing a worker for each unit
                fallen |= dict.fromkeys(todo, "")
                todo.clear()
        return fallen

    def _take(self, job: _Map, index: int, reply: bytes) -> str:
        """Keep a result and tell of it; memory that was not to be had counts like a death."""
        try:
            job.results[index] = came_back(reply)
        except MemoryError as error:
            return f"ended with {type(error).__name__} ({error})"
        if job.on_done:
            job.on_done(index, job.results[index])
        return ""

    def _hand_out(self, job: _Map, todo: deque[int], number: int) -> None:
        idle = [w for w in self._all if w.job is None]
        for _ in range(min(len(todo) - len(idle), number - len(self._all))):
            idle.append(_Worker())  # all start before the first is waited for, as happens where a unit fills its pipe
            self._all.append(idle[-1])
        for worker in idle[: len(todo)]:
            worker.hand(job, todo.popleft())


class _Worker:
    """One process and the pipe to it."""

    def __init__(self) -> None:
        self.pipe, theirs = _SPAWN.Pipe()
        self.process: SpawnProcess = _SPAWN.Process(target=_serve, args=(theirs,), daemon=True)
        self.process.start()
        theirs.close()  # so that the end of the process is the end of the pipe
        self.job: _Map | None = None
        self.index = 0
        self._knows: _Map | None = None

    def hand(self, job: _Map, index: int) -> None:
        message = packed((None if self._knows is job else job.work, packed(job.units[index])))
        self.job, self.index, self._knows = job, index, job
        with suppress(OSError):  # it is dead; `reply` will tell
            self.pipe.send_bytes(message)

    def reply(self) -> bytes | None:
        """What came back; None where the process is dead."""
        self.job = None
        try:
            return self.pipe.recv_bytes()
        except (EOFError, OSError):
            self.pipe.close()
            self.process.join()
            return None

    @property
    def end(self) -> str:
        code = self.process.exitcode or 0
        return f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with exit status {code}"


def _serve(pipe: Connection) -> None:
    """The life of a worker: units until the other end of the pipe closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to hear; it ends its workers
    with suppress(OSError):  # Linux: short of memory, the system takes a worker, which is survived, before the parent
        Path("/proc/self/oom_score_adj").write_text("500", encoding="ascii")
    one_thread()
    packed_work, unpacked = b"", list[Callable[[Any], Any]]()

    def work() -> Callable[[Any], Any]:
        if not unpacked:
            unpacked.append(loaded(packed_work))
        return unpacked[0]

    with suppress(EOFError, OSError):  # the parent is gone or has closed the pool
        while True:
            new, unit = loaded(pipe.recv_bytes())
            if new is not None:
                packed_work = new  # unpacked with the first unit, so that its errors travel
                unpacked.clear()
            pipe.send_bytes(done(work, unit))


def _why(unit: str, how: str) -> str:
    """What befell a unit twice, and the mend."""
    if "SIGKILL" in how or "Memory" in how:
        mend = "it needs more memory than there is: take a smaller compute.part_bytes or a machine with more"
    elif "exit status" in how:
        mend = "what it said last is above; a script that uses workers needs `if __name__ == '__main__':`"
    else:
        mend = "compiled code crashed on this unit; `--executor inline` shows where"
    return f"{unit}: its worker process {how}, tried again alone, and again; {memory.told()}; {mend}"
