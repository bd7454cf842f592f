"""What there is of memory, for errors: told in the terms in which a person can mend it."""

import resource
from contextlib import suppress
from pathlib import Path

_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
_NONE = 1 << 60  # cgroup v1 writes a number near 2**63 where there is no limit


def told() -> str:
    """Memory available now, the limits on it, and the most that an ended child process has held.

    >>> told().startswith("memory: ")
    True
    """
    parts = []
    if lines := _meminfo():
        parts.append(f"{lines['MemAvailable']:,.0f} MB available of {lines['MemTotal']:,.0f}")
    if (limit := _cgroup_limit()) is not None:
        parts.append(f"cgroup limit {limit / 1e6:,.0f} MB")
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    if soft != resource.RLIM_INFINITY:
        parts.append(f"ulimit -v {soft / 1e6:,.0f} MB")
    most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss  # kB on Linux, bytes on macOS
    parts.append(f"the largest worker so far held {most / (1e3 if _meminfo() else 1e6):,.0f} MB")
    return f"memory: {', '.join(parts)}"


def _meminfo() -> dict[str, float]:
    """MB by name; {} on other systems than Linux."""
    with suppress(OSError):
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        return {name: int(rest.split()[0]) * 1024 / 1e6 for name, _, rest in (line.partition(":") for line in lines)}
    return {}


def _cgroup_limit() -> int | None:
    for name in _LIMITS:
        with suppress(OSError):
            text = Path(name).read_text(encoding="ascii").strip()
            if text.isdigit() and int(text) < _NONE:
                return int(text)
    return None
