"""Laws of the plots: valid XML, whatever the labels; bars as long as their numbers; a threshold inside its axis."""

import base64
import re
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataassets.defs.plots import WIDTH, bars, data_uri, funnel, histogram, human, paired_bars, small_multiples
from dataassets.report import Histogram

SVG = "{http://www.w3.org/2000/svg}"
labels = st.text(max_size=60)
counts = st.integers(0, 10**12)


def drawn(svg):
    root = ElementTree.fromstring(svg)
    assert root.tag == f"{SVG}svg"
    assert float(root.get("width")) == WIDTH
    assert len(svg) < 20_000
    return root


def texts(root):
    return [t.text or "" for t in root.iter(f"{SVG}text")]


def bar_widths(root, fill):
    return [float(r.get("width")) for r in root.iter(f"{SVG}rect") if r.get("fill") == fill]


BAR = "#4c6fd6"
PALE = "#b9c7ee"


@given(st.lists(st.tuples(labels, counts), max_size=12), labels, labels)
def test_a_funnel_is_valid_and_its_bars_are_as_long_as_their_counts(steps, title, unit):
    root = drawn(funnel(steps, title=title, unit=unit))
    widths, shown = bar_widths(root, BAR), [count for _, count in steps if count]
    assert len(widths) == len(shown)
    for width, count in zip(widths, shown, strict=True):
        assert width == pytest.approx(max(1, max(widths) * count / max(shown)), abs=0.02)


def test_a_funnel_tells_shares_of_the_first_and_of_the_previous_step():
    said = texts(drawn(funnel([("raw", 200), ("filtered", 50), ("deduped", 40)], title="web")))
    assert said[4:] == ["raw", "200", "100 %", "filtered", "50", "25 %", "25 %", "deduped", "40", "20 %", "80 %"]


@given(st.lists(st.tuples(labels, st.floats(0, 1e12)), max_size=60), labels)
def test_bars_beyond_twenty_are_added_up(items, unit):
    root = drawn(bars(items, title="dropped", unit=unit))
    if any(x for _, x in items):
        assert len(bar_widths(root, BAR)) <= 21
        assert (f"{len(items) - 20} more" in texts(root)) == (len(items) > 20)


@given(st.lists(st.tuples(labels, st.floats(0, 1e12), st.floats(0, 1e12)), max_size=10))
def test_paired_bars_share_one_scale(items):
    root = drawn(paired_bars(items, title="mix", unit="tokens"))
    longest = max((max(a, b) for _, a, b in items), default=0)
    expected = [x / longest for _, *pair in items for x in pair if x / longest] if longest else []
    widths = [float(r.get("width")) for r in root.iter(f"{SVG}rect") if r.get("fill") in (PALE, BAR)][2:]  # legend
    assert len(widths) == len(expected)
    for width, part in zip(widths, expected, strict=True):
        assert width == pytest.approx(max(1, max(widths) * part), abs=0.02)


edges = st.lists(st.floats(-1e6, 1e6, width=32), min_size=2, max_size=200, unique=True).map(sorted)


@st.composite
def histograms(draw):
    found = draw(edges)
    n = len(found) - 1
    limits = draw(st.lists(st.floats(-1e7, 1e7), max_size=3, unique=True))
    return Histogram(
        tuple(found), tuple(draw(st.lists(st.integers(0, 10**9), min_size=n, max_size=n))), tuple(sorted(limits))
    )


def lines(root):
    """x of each threshold line."""
    found = [p.get("d") for p in root.iter(f"{SVG}path") if p.get("class") == "limit"]
    return [float(x) for d in found for x in re.findall(r"M([\d.]+) ", d)]


@given(histograms(), labels)
def test_a_threshold_lies_inside_its_axis(h, unit):
    root = drawn(histogram(h, title="words", unit=unit))
    if not any(h.counts):
        assert "no documents" in texts(root)
        return
    assert len(lines(root)) == len(h.limits)
    assert all(16 <= x <= WIDTH - 16 for x in lines(root))
    if h.limits:
        first, *_, last = map(human, (*h.limits, h.limits[-1]))
        labels = {1: f"limit {first}", 2: f"limits {first} and {last}", 3: f"3 limits, {first} to {last}"}
        assert labels[len(h.limits)] in texts(root)


def test_a_threshold_stands_where_its_value_lies_between_the_edges():
    h = Histogram((0, 1, 10, 100), (5, 1, 1), limits=(55,))  # half way through the last of three equally wide bins
    (x,) = lines(drawn(histogram(h, title="words", unit="words")))
    assert x == pytest.approx(16 + (WIDTH - 32) * (2 + 0.5) / 3, abs=0.1)


def test_heights_of_bins_are_as_their_counts():
    h = Histogram((0, 1, 2, 3, 4), (4, 0, 2, 1))
    root = drawn(histogram(h, title="words", unit="words"))
    (outline,) = [p.get("d") for p in root.iter(f"{SVG}path") if p.get("class") == "bars"]
    ups = [float(y) for y in re.findall(r"v(-?[\d.]+)", outline)]
    heights = [-sum(ups[: i + 1]) / -ups[0] for i in range(4)]
    assert heights == pytest.approx([1, 0, 0.5, 0.25], abs=0.001)


def test_thirty_small_multiples_fit_in_twenty_kilobytes():
    hard = Histogram(tuple(i / 100 for i in range(101)), tuple(i * i % 97 for i in range(100)), limits=(0.3,))
    root = drawn(small_multiples({f"quantity_{i}": hard for i in range(30)}, title="signals"))
    assert len(lines(root)) == 30


@given(st.dictionaries(labels, histograms(), max_size=4))
def test_small_multiples_draw_each_that_has_documents(found):
    root = drawn(small_multiples(found, title="signals"))
    empty = sum(not any(h.counts) for h in found.values())
    assert texts(root).count("no quantities") == (not found) + ("no quantities" in found)
    assert texts(root).count("no documents") == empty + ("no documents" in found)  # hypothesis names one so
    assert len(lines(root)) == sum(len(h.limits) for h in found.values() if any(h.counts))


def test_labels_are_escaped_and_lose_what_xml_cannot_hold():
    svg = funnel([("<b>&\"'\x00\ud800", 1)], title="]]><script>")
    root = drawn(svg)
    assert "<b>&\"'" in texts(root)
    assert "]]><script>" in texts(root)
    assert "<script" not in svg


@pytest.mark.parametrize(
    "svg",
    [
        funnel([], title="web"),
        funnel([("raw", 0)], title="web"),
        bars([], title="dropped", unit="documents"),
        histogram(Histogram((0, 1), (0,)), title="score", unit="score"),
    ],
)
def test_nothing_to_draw_says_so(svg):
    assert texts(drawn(svg))[1:] == ["no documents"]


def test_a_data_uri_holds_the_drawing():
    svg = bars([("é", 1.0)], title="x", unit="y")
    head, _, tail = data_uri(svg).partition(",")
    assert head == "data:image/svg+xml;base64"
    assert base64.b64decode(tail).decode() == svg


@given(st.floats(0, 1e15) | st.integers(0, 10**15))
def test_human_numbers_are_short_and_near(x):
    number, _, unit = human(x).partition(" ")
    value = float(number.replace(",", "")) * 1000 ** " kMGT".index(unit or " ")
    assert value == pytest.approx(x, rel=0.0051)
    assert len(human(x)) <= 9
