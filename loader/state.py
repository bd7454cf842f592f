"""The state of a loader: which rows of which order were consumed, as JSON; O(1) to save and to load.

The counter is `rows`: positions of the epoch's order that all ranks together have consumed. World size and batch size
are kept so that steps can be explained; any others may go on from it.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from loader.errors import StateError

STATE_VERSION = 1
_PLACE = ("data", "split", "seq_len", "stride", "shift", "packing", "shuffle", "seed")


@dataclass(frozen=True)
class LoaderState:
    """Where a loader stands.

    Attributes:
        data: digest of the manifest.
        split: split of the data set, None where it has none.
        seq_len: tokens of a row.
        stride: tokens from window to window.
        shift: how far labels lie ahead.
        packing: how documents become rows.
        shuffle: the order's kind.
        seed: the order's seed.
        epoch: the epoch under way.
        rows: rows consumed of it, by all ranks.
        step: global steps delivered of it.
        batch_size: rows of one rank and step.
        world_size: number of ranks.
        since_step: first step that was dealt out with this batch_size and world_size.
        since_rows: rows consumed before it.
        version: version of this layout.
    """

    data: str
    split: str | None
    seq_len: int
    stride: int
    shift: int
    packing: str
    shuffle: str | None
    seed: int
    epoch: int
    rows: int
    step: int
    batch_size: int
    world_size: int
    since_step: int = 0
    since_rows: int = 0
    version: int = STATE_VERSION

    def to_dict(self) -> dict[str, Any]:
        """Give the state as a dict that JSON carries faithfully."""
        return asdict(self)

    @classmethod
    def from_dict(cls, saved: Mapping[str, Any]) -> "LoaderState":
        """Read what `to_dict` gave.

        Args:
            saved: the dict, perhaps back from JSON.

        Returns:
            The state.

        Raises:
            StateError: another version, a field unknown, missing or mistyped, or counters that contradict each other.
        """
        if not isinstance(saved, Mapping):
            raise StateError(f"state is a {type(saved).__name__}, wanted the dict that state_dict() gave")
        version = saved.get("version")
        if type(version) is not int or version != STATE_VERSION:
            raise StateError(f"state has version {version!r}, this loader reads {STATE_VERSION}; use its own loader")
        for name in sorted(set(_RULES) ^ set(saved)):
            what = "unknown" if name in saved else "missing"
            raise StateError(f"state field {name!r} is {what}, wanted {sorted(_RULES)}; pass the dict of state_dict()")
        for name, (holds, wanted) in _RULES.items():
            if not holds(saved[name]):
                raise StateError(f"state field {name} = {saved[name]!r}, wanted {wanted}; pass state_dict()'s dict")
        state = cls(**saved)
        steps, rows = state.step - state.since_step, state.rows - state.since_rows
        if steps < 0 or rows != steps * state.batch_size * state.world_size:
            raise StateError(
                f"state tells of {state.rows} rows at step {state.step}, but {state.since_rows} rows at step "
                f"{state.since_step} and {state.batch_size} x {state.world_size} rows a step since; it was changed by "
                "hand: load one as state_dict() gave it"
            )
        return state

    def check_continues(self, here: "LoaderState", *, num_rows: int, where: str) -> None:
        """Refuse to go on over other data or in another order.

        Args:
            here: the state of the loader that is asked to go on from this one.
            num_rows: rows of its data set.
            where: its folder, for messages.

        Raises:
            StateError: the first field that differs, with both values; or rows beyond the epoch.
        """
        for name in _PLACE:
            saved, found = getattr(self, name), getattr(here, name)
            if saved != found:
                mend = (
                    f"point the loader at the data that {saved} names"
                    if name == "data"
                    else f"build the loader with {name}={saved!r}"
                )
                raise StateError(f"state was saved at {name} = {saved!r}, but {where} has {found!r}; {mend}")
        if self.rows - self.batch_size * self.world_size >= num_rows:  # the last step may have been filled up
            raise StateError(
                f"state has consumed {self.rows} rows, but {where} has {num_rows}; load the state of this data"
            )


def _is_int_from(least: int) -> tuple[Callable[[Any], bool], str]:
    return (lambda v: type(v) is int and v >= least), f"an integer >= {least}"


_TEXT: tuple[Callable[[Any], bool], str] = (lambda v: isinstance(v, str), "a string")
_TEXT_OR_NONE: tuple[Callable[[Any], bool], str] = (lambda v: v is None or isinstance(v, str), "a string or null")
_RULES: dict[str, tuple[Callable[[Any], bool], str]] = {
    "data": _TEXT,
    "split": _TEXT_OR_NONE,
    "packing": _TEXT,
    "shuffle": _TEXT_OR_NONE,
    "version": _is_int_from(1),
    **{name: _is_int_from(1) for name in ("seq_len", "stride", "batch_size", "world_size")},
    **{name: _is_int_from(0) for name in ("shift", "seed", "epoch", "rows", "step", "since_step", "since_rows")},
}
assert set(_RULES) == {f.name for f in fields(LoaderState)}
