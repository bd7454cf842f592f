"""Laws of blending: shares hold at every step, each source gives its rows in order, any place is found alone."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loader.blend import FRAME, Blend, ramp
from loader.errors import SettingError

WEIGHT = st.sampled_from([0.0, 1e-6, 0.001, 0.1, 0.3, 1.0, 7.0])
POINTS = st.integers(1, 5).flatmap(
    lambda s: st.lists(
        st.tuples(st.integers(1, 20_000), st.lists(WEIGHT, min_size=s, max_size=s).filter(any)), min_size=1, max_size=4
    )
)


def schedule(parts):
    rows, points = 0, []
    for length, weights in parts:
        points.append((rows, tuple(weights)))
        rows += length
    return tuple(points)


@settings(max_examples=60, deadline=None)
@given(POINTS)
def test_shares_hold_at_every_step(parts):
    points = schedule(parts)
    num = points[-1][0] + 2 * FRAME
    source, nth = Blend(points).at(np.arange(num))
    wanted = np.zeros((num, len(points[0][1])))
    for (start, weights), stop in zip(points, [*(row for row, _ in points[1:]), num], strict=True):
        wanted[start:stop] = np.array(weights) / sum(weights)
    given_ = source[:, None] == np.arange(wanted.shape[1])
    off = np.abs(np.cumsum(given_, axis=0) - np.cumsum(wanted, axis=0)).max()
    assert off <= wanted.shape[1] * (1 + len(points))
    for s in range(wanted.shape[1]):
        assert nth[source == s].tolist() == list(range(int(given_[:, s].sum())))


@settings(max_examples=60, deadline=None)
@given(POINTS, st.integers(0, 10**12), st.data())
def test_a_place_is_found_alone_and_counts_agree(parts, far, data):
    blend = Blend(schedule(parts))
    start = data.draw(st.sampled_from([0, FRAME - 3, far]))
    positions = np.arange(start, start + 20)
    source, nth = blend.at(positions)
    for position, s, n in zip(positions.tolist(), source.tolist(), nth.tolist(), strict=True):
        alone = blend.at(np.array([position]))
        assert (int(alone[0][0]), int(alone[1][0])) == (s, n)
        before, after = blend.counts(position), blend.counts(position + 1)
        assert before[s] == n
        assert [b - a for a, b in zip(before, after, strict=True)] == [int(k == s) for k in range(len(before))]
    assert sum(blend.counts(far)) == far


def test_a_ramp_moves_evenly():
    points = ramp(((0, (1.0, 0.0)), (64_000, (0.0, 1.0))))
    assert len(points) == 65
    counts = Blend(points).counts(64_000)
    assert abs(counts[0] - 32_000) < 64
    assert Blend(points).counts(16_000)[1] == pytest.approx(64_000 / 32, abs=64)


def test_golden_values():
    # a change of these is another order: every saved state would go on elsewhere
    source, nth = Blend(((0, (0.6, 0.3, 0.1)), (10_000, (0.1, 0.1, 0.8)))).at(
        np.array([0, 1, 2, 3, 9_999, 10_000, 10**9])
    )
    assert source.tolist() == GOLDEN[0]
    assert nth.tolist() == GOLDEN[1]


GOLDEN = ([0, 1, 0, 0, 0, 2, 2], [0, 0, 1, 2, 5999, 1000, 799993000])


@pytest.mark.parametrize(
    "points",
    [
        (),
        ((1, (1.0,)),),
        ((0, (1.0,)), (0, (1.0,))),
        ((0, (0.0, 0.0)),),
        ((0, (-1.0, 2.0)),),
        ((0, (1.0,)), (5, (1.0, 1.0))),
    ],
)
def test_what_is_no_schedule_is_refused(points):
    with pytest.raises(SettingError, match="weights"):
        Blend(points)
