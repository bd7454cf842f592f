"""Laws of the order: a bijection, the same anywhere it is asked, and no pattern that a simple test could see."""

import itertools
import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loader.errors import SettingError
from loader.order import BLOCK, ROUNDS, SMALL_N, SMALL_ROUNDS, Order, permute, round_keys

uint64 = st.integers(0, 2**64 - 1)


@given(st.integers(0, 3_000), uint64, uint64)
def test_every_row_once(num_rows, seed, epoch):
    rows = Order(num_rows=num_rows, seed=seed, epoch=epoch).between(0, num_rows)
    assert rows.dtype == np.int64
    assert sorted(rows.tolist()) == list(range(num_rows))


@pytest.mark.parametrize("num_rows", [SMALL_N - 1, SMALL_N, 2**16 - 1, 2**16, 2**16 + 1, 3 * BLOCK + 5])
def test_every_row_once_at_the_bounds(num_rows):
    rows = Order(num_rows=num_rows, seed=3, epoch=2).between(0, num_rows)
    assert np.array_equal(np.sort(rows), np.arange(num_rows))


@given(st.integers(1, 10**15), uint64, st.data())
def test_a_position_asked_alone_gives_what_the_slice_gives(num_rows, seed, data):
    start = data.draw(st.integers(0, num_rows - 1))
    stop = min(num_rows, start + data.draw(st.integers(1, 50)))
    order = Order(num_rows=num_rows, seed=seed, epoch=1)
    rows = order.between(start, stop)
    assert rows.tolist() == [int(order.at(np.array([p]))[0]) for p in range(start, stop)]
    assert 0 <= rows.min() <= rows.max() < num_rows
    assert len(set(rows.tolist())) == stop - start


def test_any_shape_of_positions():
    order = Order(num_rows=100, seed=1, epoch=0)
    assert np.array_equal(order.at(np.arange(100).reshape(4, 25)).ravel(), order.between(0, 100))
    assert order.at(np.zeros((0, 3), np.int64)).shape == (0, 3)


@pytest.mark.parametrize(
    ("num_rows", "seed", "epoch", "start", "expected"),
    [
        (4, 1, 0, 0, [2, 0, 3, 1]),
        (10, 1, 0, 0, [7, 6, 9, 5, 2, 4, 0, 1, 3, 8]),
        (1000, 1, 0, 0, [855, 593, 238, 542, 182, 890]),
        (1000, 1, 1, 0, [386, 729, 869, 570, 762, 945]),
        (1000000000, 42, 7, 500000000, [851111226, 633868706, 394211838, 247981227]),
        (1099511627777, 2**64 - 1, 3, 1099511627774, [1032790802741, 857569096894, 598739745436]),
    ],
)
def test_golden_values(num_rows, seed, epoch, start, expected):
    # a change of these is another order: every saved state would go on elsewhere
    order = Order(num_rows=num_rows, seed=seed, epoch=epoch)
    assert order.between(start, start + len(expected)).tolist() == expected


def test_no_shuffle_keeps_the_rows_as_they_lie():
    assert Order(num_rows=7, seed=1, epoch=5, shuffle=None).between(2, 7).tolist() == [2, 3, 4, 5, 6]


def test_seeds_and_epochs_have_orders_of_their_own():
    keys = itertools.product(range(9), repeat=2)
    orders = {tuple(Order(num_rows=50, seed=s, epoch=e).between(0, 50).tolist()) for s, e in keys}
    assert len(orders) == 81


def correlation(a, b):
    return float(np.corrcoef(a, b)[0, 1])


@pytest.mark.parametrize("num_rows", [997, 1_000, 4_096, 60_000])
def test_neighbours_are_not_correlated(num_rows):
    for seed in range(5):
        rows = Order(num_rows=num_rows, seed=seed, epoch=0).between(0, num_rows).astype(float)
        for lag in (1, 2, 16, num_rows // 2):
            assert abs(correlation(rows[:-lag], rows[lag:])) < 5 / math.sqrt(num_rows - lag)
        assert abs(correlation(rows, np.arange(num_rows))) < 5 / math.sqrt(num_rows)


def test_epochs_are_not_correlated():
    rows = [Order(num_rows=20_000, seed=1, epoch=e).between(0, 20_000) for e in range(4)]
    for a, b in itertools.combinations(rows, 2):
        assert abs(correlation(a, b)) < 5 / math.sqrt(20_000)
        assert (a == b).sum() < 10  # one fixed point is expected


def chi_square(counts, expected):
    return sum((c - expected) ** 2 / expected for c in counts)


@pytest.mark.parametrize("num_rows", [2, 3, 5, 17])
def test_each_place_of_a_small_order_is_uniform_over_seeds(num_rows):
    num = 100 * num_rows
    orders = np.stack([Order(num_rows=num_rows, seed=s, epoch=0).between(0, num_rows) for s in range(num)])
    for place in (0, num_rows - 1):
        counts = np.bincount(orders[:, place], minlength=num_rows)
        df = num_rows - 1
        assert chi_square(counts, 100) < df + 5 * math.sqrt(2 * df) + 10


def test_all_orders_of_four_rows_are_equally_likely():
    counts = Counter(tuple(Order(num_rows=4, seed=s, epoch=0).between(0, 4).tolist()) for s in range(24 * 100))
    assert len(counts) == 24
    assert chi_square(counts.values(), 100) < 23 + 5 * math.sqrt(46)


def test_every_tenth_of_an_epoch_sees_the_whole_corpus():
    rows = Order(num_rows=100_000, seed=1, epoch=0).between(0, 100_000)
    for tenth in np.split(rows, 10):
        counts = np.bincount(tenth // 10_000, minlength=10)
        assert chi_square(counts, 1_000) < 9 + 5 * math.sqrt(18)


def worst_serial_correlation(num_rounds):
    worst = 0.0
    for seed in range(20):
        keys = round_keys(seed, 0, num_rounds=num_rounds)
        rows = permute(np.arange(4_096), num_rows=4_096, keys=keys).astype(float)
        worst = max(worst, *(abs(correlation(rows[:-lag], rows[lag:])) for lag in (1, 2, 64, 128)))
    return worst


def test_the_rounds_are_enough_and_two_would_not_be():
    assert worst_serial_correlation(ROUNDS) < 5 / math.sqrt(4_096) < worst_serial_correlation(2)
    assert SMALL_ROUNDS > ROUNDS >= 6


@pytest.mark.parametrize("change", [{"seed": -1}, {"seed": 2**64}, {"epoch": -1}, {"epoch": 1.0}, {"seed": True}])
def test_what_is_no_seed_is_refused(change):
    with pytest.raises(SettingError, match=r"wanted an integer from 0 to 2\*\*64 - 1"):
        Order(**{"num_rows": 5, "seed": 1, "epoch": 0, **change})


@pytest.mark.parametrize("shuffle", ["x", "block:0x2", "block:2", "", 1])
def test_another_shuffle_is_refused_by_name(shuffle):
    with pytest.raises(SettingError, match=f"shuffle = {shuffle!r}, wanted one of"):
        Order(num_rows=5, seed=1, epoch=0, shuffle=shuffle)


SIZES = st.builds("block:{}x{}".format, st.integers(1, 40), st.integers(1, 6))


@given(st.integers(0, 1_500), uint64, st.integers(0, 5), SIZES)
def test_by_blocks_every_row_comes_once(num_rows, seed, epoch, shuffle):
    rows = Order(num_rows=num_rows, seed=seed, epoch=epoch, shuffle=shuffle).between(0, num_rows)
    assert sorted(rows.tolist()) == list(range(num_rows))


@given(st.integers(1, 10**12), uint64, SIZES | st.just("block"), st.data())
def test_by_blocks_a_position_asked_alone_gives_what_the_slice_gives(num_rows, seed, shuffle, data):
    start = data.draw(st.integers(0, num_rows - 1))
    order = Order(num_rows=num_rows, seed=seed, epoch=1, shuffle=shuffle)
    rows = order.between(start, min(num_rows, start + 30))
    assert rows.tolist() == [int(order.at(np.array([start + k]))[0]) for k in range(len(rows))]


@given(uint64, st.integers(2, 30), st.integers(1, 5))
def test_a_buffer_holds_whole_blocks_and_no_others(seed, rows, blocks):
    num_rows = rows * blocks * 7
    order = Order(num_rows=num_rows, seed=seed, epoch=0, shuffle=f"block:{rows}x{blocks}")
    turn = int(round_keys(seed, 0, num_rounds=1, stream=2)[0]) % num_rows
    for buffer in np.split((order.between(0, num_rows) - turn) % num_rows, 7):
        assert sorted(np.bincount(buffer // rows).tolist())[-blocks:] == [rows] * blocks


def test_by_blocks_neighbours_are_not_correlated_and_blocks_are_spread():
    num_rows = 300_000
    rows = Order(num_rows=num_rows, seed=3, epoch=0, shuffle="block").between(0, num_rows).astype(float)
    for lag in (1, 2, 16):  # within a buffer of 64 blocks rows share blocks: about 1 / 64 of pairs lie near each other
        assert abs(correlation(rows[:-lag], rows[lag:])) < 0.15
    order = Order(num_rows=num_rows, seed=3, epoch=0, shuffle="block:256x64")
    assert order == Order(num_rows=num_rows, seed=3, epoch=0, shuffle="block")
