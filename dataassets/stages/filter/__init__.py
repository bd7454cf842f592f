"""Filter: which documents stay. `measure` reads the text once, `judge` applies thresholds to what was measured.

The door is lazy: numba and fastText are loaded by the first call that needs them, not by the import.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataassets.stages.filter.decisions import judge
    from dataassets.stages.filter.rules import RULES
    from dataassets.stages.filter.signals import measure, measured_by, schema, warm_up
    from dataassets.stages.filter.verdict import Verdict, decide

__all__ = ["RULES", "Verdict", "decide", "judge", "measure", "measured_by", "schema", "warm_up"]

_HOMES = {
    "RULES": "rules",
    "Verdict": "verdict",
    "decide": "verdict",
    "judge": "decisions",
    "measure": "signals",
    "measured_by": "signals",
    "schema": "signals",
    "warm_up": "signals",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
