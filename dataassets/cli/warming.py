"""`dataassets warm-up`: every kernel compiled, or loaded, before the first document waits for it."""

import time
from collections.abc import Callable

import click


def groups() -> dict[str, Callable[[], None]]:
    """What is compiled, by the stage that uses it first."""
    from dataassets.stages import dedup, filter, text

    return {"text": text.warm_up, "filter": filter.warm_up, "dedup": dedup.warm_up}


@click.command(name="warm-up", short_help="Compile all kernels, once for each machine and version.")
def warm_up() -> None:
    """Compile every kernel, or load what is compiled, and say how long each group took.

    Nothing needs it: the first `build` does the same, some twenty seconds. It is for images and installations, whose
    first run shall not wait. What is compiled is kept beside the installed files, or in the user's cache folder where
    these may not be written, or in NUMBA_CACHE_DIR; a new version, processor or numba compiles anew.
    """
    began = time.perf_counter()
    for name, warm in groups().items():
        start = time.perf_counter()
        click.echo(f"{name:8}", nl=False)
        warm()
        click.echo(f"{time.perf_counter() - start:6.1f} s")
    click.echo(f"{'all':8}{time.perf_counter() - began:6.1f} s")
