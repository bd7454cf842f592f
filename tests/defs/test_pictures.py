"""Each product has its plots, also where there is nothing to draw."""

import base64
import re
from xml.etree import ElementTree

import pytest

from dataassets.defs import pictures
from dataassets.report import Histogram, Report
from dataassets.store import PRODUCTS, Manifest

PLOT = re.compile(r"!\[plot\]\(data:image/svg\+xml;base64,([A-Za-z0-9+/=]+)\)")
TALL = Histogram(tuple(float(i) for i in range(21)), tuple(10**9 + i for i in range(20)), 3.0)


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
    manifest = manifest_of(product, counts=counts, dropped=dropped, format={"sources": sources})
    kept = {f"kept_after:{rule}": 10**9 for rule in ("length", "language", "gopher_repetition", "c4", "fineweb")}
    report = Report(counts=kept, histograms={f"a_quantity_of_the_text_{i}": TALL for i in range(6)})
    found = pictures.of_product(manifest, report)
    assert len(found["plot"]) <= 999
    assert len(svgs(found)) == (3 if product == "filtered" else 2)
