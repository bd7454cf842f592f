"""Small plots: never longer than Dagster draws in place, valid whatever the labels, as long as their numbers."""

import base64
import re
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from dataassets.defs import glance
from dataassets.report import Histogram

MARKDOWN = re.compile(r"!\[plot\]\(data:image/svg\+xml;base64,([A-Za-z0-9+/=]+)\)")
SVG = "{http://www.w3.org/2000/svg}"
# What XML can hold: names of rules and of sources, but also whatever a language code or a header says.
labels = st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=60)
counts = st.integers(0, 10**12)


def drawn(markdown):
    assert len(markdown) <= 999
    (data,) = MARKDOWN.fullmatch(markdown).groups()
    root = ElementTree.fromstring(base64.b64decode(data))
    assert root.tag == f"{SVG}svg"
    return root


def moves(root):
    (path,) = root.iter(f"{SVG}path")
    return path.get("d")


@given(st.lists(st.tuples(labels, counts), max_size=12))
def test_bars_are_short_valid_and_as_long_as_their_amounts(steps):
    markdown = glance.bars(steps)
    most = max((n for _, n in steps), default=0)
    assert (markdown == "") == (most == 0)
    if markdown:
        lengths = [int(n) for n in re.findall(r"h(\d+)", moves(drawn(markdown)))]
        assert 1 <= len(lengths) <= min(len(steps), 8)
        assert lengths == [round(n / most * 160) for _, n in steps][: len(lengths)]


def test_eight_bars_of_ordinary_names_fit_and_the_rest_is_left_out():
    steps = [(f"less gopher_quality:{i}", 10**9 - i) for i in range(12)]
    lengths = re.findall(r"h(\d+)", moves(drawn(glance.bars(steps))))
    assert 4 <= len(lengths) <= 8


@given(labels, st.lists(counts, min_size=1, max_size=24), st.lists(st.floats(0, 1), max_size=2))
def test_a_skyline_is_short_valid_and_as_high_as_its_counts(name, tops, limits):
    edges = tuple(float(i) for i in range(len(tops) + 1))
    markdown = glance.skyline(name, Histogram(edges, tuple(tops), tuple(limits)))
    if not any(tops):
        assert markdown == ""
    elif markdown:
        heights = [60 - int(v) for v in re.findall(r"V(\d+)h", moves(drawn(markdown)))]
        assert heights == [round(n / max(tops) * 60) for n in tops]


def test_every_histogram_of_the_road_fits():
    edges = (0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 1_000_000)
    full = Histogram(tuple(map(float, edges)), tuple(10**8 + i for i in range(17)), (50.0,))
    assert drawn(glance.skyline("num_nonsymbol_words", full)) is not None
    shares = Histogram(tuple(k / 20 for k in range(21)), tuple(range(1, 21)), (0.5,))
    assert drawn(glance.skyline("duplicated_5_n_grams", shares)) is not None
