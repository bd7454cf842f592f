"""Reports add up: any grouping of units gives the same whole, and JSON carries all of it."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dataassets.report import SAMPLES_PER_REASON, Check, Histogram, Report, merge

EDGES = {"words": (0.0, 1.0, 10.0), "share": (0.0, 0.5, 1.0)}
FLOATS = st.floats(-5, 20) | st.just(float("nan"))
COUNTS = st.dictionaries(st.sampled_from(["a", "b", "pii:email"]), st.integers(0, 9))
SAMPLES = st.dictionaries(
    st.sampled_from(["length:short", "c4:policy"]),
    st.lists(
        st.fixed_dictionaries({"id": st.text("0123456789abcdef", max_size=4), "value": st.integers()}), max_size=3
    ),
)


def histograms(values: dict[str, list[float]]) -> dict[str, Histogram]:
    return {name: Histogram.of(found, edges=EDGES[name], limits=[0.5, 0.2]) for name, found in values.items()}


VALUES = st.dictionaries(st.sampled_from(list(EDGES)), st.lists(FLOATS, max_size=5))
REPORTS = st.builds(Report, COUNTS, VALUES.map(histograms), SAMPLES)


@given(REPORTS, REPORTS, REPORTS)
def test_addition_is_associative(a, b, c):
    assert ((a + b) + c).to_json() == (a + (b + c)).to_json()
    assert (a + Report()).to_json() == (Report() + a).to_json() == a.to_json()


@given(st.lists(REPORTS, max_size=5), st.integers(0, 5))
def test_any_cut_of_the_units_gives_the_same_whole(reports, at):
    assert merge([merge(reports[:at]), merge(reports[at:])]).to_json() == merge(reports).to_json()


@given(st.lists(REPORTS, max_size=4))
def test_counts_are_sums_and_samples_the_first_ones(reports):
    whole = merge(reports)
    for name in {n for r in reports for n in r.counts}:
        assert whole.counts[name] == sum(r.counts.get(name, 0) for r in reports)
    for reason in {n for r in reports for n in r.samples}:
        rows = [row for r in reports for row in r.samples.get(reason, [])]
        assert whole.samples[reason] == rows[:SAMPLES_PER_REASON]


@given(REPORTS)
def test_json_carries_a_report(report):
    assert Report.from_json(json.loads(json.dumps(report.to_json()))) == report


@pytest.mark.parametrize(("limit", "limits"), [(None, ()), (0.5, (0.5,))])
def test_a_report_with_one_limit_as_earlier_manifests_have_it_is_read(limit, limits):
    told = {"counts": {}, "histograms": {"words": {"edges": [0, 1], "counts": [3], "limit": limit}}, "samples": {}}
    assert Report.from_json(told).histograms["words"] == Histogram((0, 1), (3,), limits)


@given(st.booleans(), st.booleans(), st.dictionaries(st.text(max_size=3), st.integers(0, 9)), st.text(max_size=5))
def test_json_carries_a_check_with_its_numbers_as_floats(passed, blocking, numbers, note):
    check = Check("rate", passed, blocking=blocking, numbers=numbers, note=note)
    found = json.loads(json.dumps(check.to_json()))
    assert Check.from_json(found) == check
    assert all(isinstance(x, float) for x in found["numbers"].values())


@settings(max_examples=60)
@given(st.lists(FLOATS, max_size=30), st.integers(0, 30))
def test_a_histogram_counts_each_number_once_wherever_it_lies(values, at):
    edges = (0.0, 0.25, 1.0, 9.0)
    found = Histogram.of(values, edges=edges)
    numbers = [v for v in values if not np.isnan(v)]
    bins = [0 if v < 0.25 else 1 if v < 1 else 2 for v in numbers]  # outside: the first or the last
    assert found.counts == tuple(bins.count(i) for i in range(3))
    assert Histogram.of(values[:at], edges=edges) + Histogram.of(values[at:], edges=edges) == found


def test_histograms_of_other_edges_do_not_add_up():
    with pytest.raises(AssertionError, match="one set of edges"):
        Histogram.of([1], edges=(0, 1)) + Histogram.of([1], edges=(0, 2))
