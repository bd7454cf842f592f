"""Each product has its plots, also where there is nothing to draw."""

import base64
import re
from xml.etree import ElementTree

import pytest

from dataassets.defs import pictures
from dataassets.report import Histogram, Report
from dataassets.store import PRODUCTS, Manifest

PLOT = re.compile(r"!\[plot\]\(data:image/svg\+xml;base64,([A-Za-z0-9+/=]+)\)")
MARK = "#c2410c"
TALL = Histogram(tuple(float(i) for i in range(21)), tuple(10**9 + i for i in range(20)), (3.0, 9.0))


def manifest_of(product, **changes):
    partition = "pretrain" if product == "mixed" else "2026-10-01|" + "a-long-name-of-a-source" * 3
    body = {
        "inputs": {}, "settings": {}, "code_version": "1", "key": "0" * 64, "files": (), "dropped_files": (),
        "counts": {"documents": 0, "documents_in": 0}, "dropped": {}, "checks": [], "digest": "",
    }  # fmt: skip
    return Manifest(product=product, partition=partition, **(body | changes))


def svgs(found):
    return {n: ElementTree.fromstring(base64.b64decode(PLOT.fullmatch(m).group(1))) for n, m in found.items()}


@pytest.mark.parametrize("product", PRODUCTS)
def test_an_empty_partition_says_that_there_is_nothing_to_draw(product):
    found = dict(pictures.of_product(manifest_of(product), Report()))
    assert found.pop("plot") == "nothing to draw"
    assert svgs(found)


@pytest.mark.parametrize("product", PRODUCTS)
def test_a_full_partition_fits_in_place_and_its_full_drawing_too(product):
    dropped = {f"gopher_repetition:duplicated_{n}_n_grams": 10**8 + n for n in range(5, 30)}
    counts = {"documents": 10**9, "documents_in": 10**9 + sum(dropped.values())}
    sources = {f"source-{i}": {"asked": 1e9, "tokens": 10**9 + i, "documents": 1, "epochs": 1.0} for i in range(12)}
    rules = ("length", "language", "gopher_repetition", "c4", "fineweb")
    settings = {rule: {} for rule in rules} if product == "filtered" else {}
    manifest = manifest_of(product, counts=counts, dropped=dropped, format={"sources": sources}, settings=settings)
    kept = {f"kept_after:{rule}": 10**9 for rule in rules}
    report = Report(counts=kept, histograms={f"a_quantity_of_the_text_{i}": TALL for i in range(6)})
    found = pictures.of_product(manifest, report)
    assert len(found["plot"]) <= 999
    assert len(svgs(found)) == (3 if product == "filtered" else 2)


def texts(svg):
    return [t.text for t in svg.iter("{http://www.w3.org/2000/svg}text")]


def test_the_funnel_marks_the_rule_that_takes_most_and_in_place_stand_those_that_take_something():
    rules = ["length", "language", "gopher_repetition", "gopher_quality", "c4", "fineweb"]
    left = dict(zip(rules, [90, 90, 30, 29, 29, 9], strict=True))
    report = Report(counts={f"kept_after:{rule}": n for rule, n in sorted(left.items())})
    manifest = manifest_of(
        "filtered", counts={"documents": 9, "documents_in": 100}, settings={rule: {} for rule in reversed(rules)}
    )
    found = svgs(pictures.of_product(manifest, report))
    marked = [
        r.get("width") for r in found["plot_full"].iter("{http://www.w3.org/2000/svg}rect") if r.get("fill") == MARK
    ]
    assert len(marked) == 1
    assert any("gopher_repetition takes most" in t for t in texts(found["plot_full"]))
    assert texts(found["plot"]) == [
        "100 cleaned", "90 length, −10", "30 gopher_repetition, −60", "29 gopher_quality, −1", "9 fineweb, −20"
    ]  # fmt: skip


def test_many_rules_are_shown_in_place_by_what_they_take_in_their_order():
    rules = [f"rule_{n:02}" for n in range(12)]
    custom = {rule: {"function": "a:b", "signals": {"x": {}}} for rule in rules}
    takes = [1, 9, 2, 8, 3, 7, 4, 6, 5, 20, 11, 10]
    left = {f"kept_after:{rule}": 100 - sum(takes[: n + 1]) for n, rule in enumerate(rules)}
    counts = {"documents": 14, "documents_in": 100}
    manifest = manifest_of("filtered", counts=counts, settings={"custom": custom})
    found = svgs(pictures.of_product(manifest, Report(counts=left)))
    shown = [t.split()[1].rstrip(",") for t in texts(found["plot"])]
    largest = sorted(range(12), key=lambda n: -takes[n])[:7]
    assert shown == ["cleaned", *(rules[n] for n in sorted(largest))]
    assert len(texts(found["plot_full"])) > 12
