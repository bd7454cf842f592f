"""Laws of the state: it survives JSON; anything else is refused, with both values and the mend."""

import json
from dataclasses import replace

import pytest

from loader.errors import StateError
from loader.state import LoaderState

STATE = LoaderState(
    data="d" * 8,
    split="train",
    seq_len=8,
    stride=8,
    shift=1,
    packing="concat",
    shuffle="global",
    seed=1,
    epoch=2,
    rows=60,
    step=7,
    batch_size=5,
    world_size=2,
    since_step=2,
    since_rows=10,
)


@pytest.mark.parametrize("change", [{}, {"split": None}, {"shuffle": None}, {"since_step": 7, "since_rows": 60}])
def test_a_state_survives_json(change):
    state = replace(STATE, **change)
    assert LoaderState.from_dict(json.loads(json.dumps(state.to_dict()))) == state


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": 2}, r"version 2, this loader reads 1"),
        ({"version": True}, r"version True"),
        ({"rows": "60"}, r"rows = '60', wanted an integer >= 0"),
        ({"rows": -1}, r"rows = -1"),
        ({"rows": True}, r"rows = True"),
        ({"rows": 61}, r"61 rows at step 7, but 10 rows at step 2 and 5 x 2 rows a step since"),
        ({"step": 1, "rows": 0}, r"0 rows at step 1"),
        ({"batch_size": 0}, r"batch_size = 0, wanted an integer >= 1"),
        ({"split": 3}, r"split = 3, wanted a string or null"),
        ({"extra": 1}, r"'extra' is unknown"),
    ],
)
def test_a_malformed_state_is_refused(change, message):
    with pytest.raises(StateError, match=message):
        LoaderState.from_dict({**STATE.to_dict(), **change})


def test_a_missing_field_and_what_is_no_dict_are_refused():
    saved = STATE.to_dict()
    del saved["rows"]
    with pytest.raises(StateError, match="'rows' is missing"):
        LoaderState.from_dict(saved)
    with pytest.raises(StateError, match="state is a list"):
        LoaderState.from_dict([saved])


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("data", "e" * 8),
        ("split", "val"),
        ("seq_len", 16),
        ("stride", 4),
        ("shift", 2),
        ("packing", "best_fit"),
        ("shuffle", None),
        ("seed", 3),
    ],
)
def test_another_place_is_refused_with_both_values(name, other):
    here = replace(STATE, **{name: other})
    with pytest.raises(StateError) as caught:
        STATE.check_continues(here, num_rows=100, where="/data/mix")
    message = str(caught.value)
    assert f"{name} = {getattr(STATE, name)!r}" in message
    assert repr(other) in message
    assert "/data/mix" in message


def test_other_ranks_and_batches_are_accepted_but_not_rows_beyond_the_epoch():
    here = replace(STATE, batch_size=1, world_size=9, epoch=0, rows=0, step=0, since_step=0, since_rows=0)
    STATE.check_continues(here, num_rows=60, where="/data/mix")
    last = 60 - STATE.batch_size * STATE.world_size  # the last step may have been filled up beyond the epoch
    STATE.check_continues(here, num_rows=last + 1, where="/data/mix")
    with pytest.raises(StateError, match=f"consumed 60 rows, but /data/mix has {last}"):
        STATE.check_continues(here, num_rows=last, where="/data/mix")
