"""clean: every record comes out, in its order, as text or with a reason; rows do not see each other."""

import json

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataassets.hashing import document_id
from dataassets.recipe import Clean
from dataassets.records import DOCUMENTS, RAW, with_reason
from dataassets.stages.clean import clean, count_pii

MASK = Clean(pii="mask")


def raw(*rows: tuple[bytes, str]) -> pa.Table:
    columns = [
        [document_id("s", "o", i) for i in range(len(rows))],
        [content for content, _ in rows],
        [media_type for _, media_type in rows],
        [f"http://x/{i}" for i in range(len(rows))],
        ["o"] * len(rows),
        list(range(len(rows))),
        [i * 1_000_000 for i in range(len(rows))],
        ["{}"] * len(rows),
    ]
    return pa.table([pa.array(c, f.type) for c, f in zip(columns, RAW, strict=True)], schema=RAW)


def one(content: bytes, media_type: str = "text/plain", *, settings: Clean = MASK, normalize: bool = True):
    table, report = clean(raw((content, media_type)), settings=settings, normalize=normalize)
    return table["text"][0].as_py(), table["reason"][0].as_py(), report


ROWS = st.lists(
    st.tuples(
        st.binary(max_size=60) | st.text(max_size=60).map(str.encode) | st.just(b"<p>ann@example.com</p>"),
        st.sampled_from(
            [
                "text/plain; charset=utf-8",
                "text/html",
                "text/plain; charset=latin-1",
                "image/png",
                "",
                "TEXT/HTML;charset=big5",
            ]
        ),
    ),
    max_size=8,
)


@given(ROWS, st.sampled_from(["mask", "drop", "keep"]), st.booleans())
def test_every_record_comes_out_once_in_order_and_alone_it_is_the_same(rows, pii, normalize):
    records, settings = raw(*rows), Clean(pii=pii)
    table, report = clean(records, settings=settings, normalize=normalize)
    assert table.schema.equals(with_reason(DOCUMENTS))
    table.validate(full=True)
    for name in ("id", "url", "origin", "position", "timestamp", "meta"):
        assert table[name].equals(records[name])
    alone = [clean(records.slice(i, 1), settings=settings, normalize=normalize)[0] for i in range(len(rows))]
    assert table.to_pylist() == [row for t in alone for row in t.to_pylist()]
    json.dumps(report.to_json(), allow_nan=False)
    kept = table.filter(pc.equal(table["reason"], ""))
    assert sum(report.histograms["characters"].counts) == kept.num_rows
    assert not any(text == "" or text.isspace() for text in kept["text"].to_pylist())
    if pii != "keep":
        assert count_pii(kept["text"]) == 0


@pytest.mark.parametrize(
    ("content", "media_type", "reason"),
    [
        (b"", "text/plain", "clean:empty"),
        (b" \n\t\r\n", "text/plain", "clean:empty"),
        (b"<html><body></body></html>", "text/html", "clean:empty"),
        (b"GIF89a", "image/gif", "clean:media_type"),
        (b"\x89PNG\0\0\0\xff\xfe\0\1\2\3" * 9, "text/html", "clean:undecodable"),
        (b"<p" + b" a" * 20_000 + b">hello", "text/html", "clean:attributes"),
    ],
)
def test_what_has_no_text_is_dropped_with_its_reason_and_a_sample(content, media_type, reason):
    _, found, report = one(content, media_type)
    assert found == reason
    assert [sample["url"] for sample in report.samples[reason]] == ["http://x/0"]


def test_html_is_extracted_and_text_is_not():
    page = b"<html><body><main><p>caf\xe9 &amp; bar, a sentence with some words.</p></main></body></html>"
    assert one(page, "text/html; charset=iso-8859-1")[0] == "café & bar, a sentence with some words."
    assert one(page, "application/xhtml+xml; charset=iso-8859-1")[0] == "café & bar, a sentence with some words."
    assert one(page, "text/markdown; charset=iso-8859-1")[0] == page.decode("latin-1")


@given(
    st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=80).filter(
        lambda t: not t.isspace() and not t.startswith("\ufeff")
    )
)
def test_without_normalize_text_is_only_decoded(text):
    assert one(text.encode(), settings=Clean(pii="keep"), normalize=False)[:2] == (text, "")


@pytest.mark.parametrize("normalize", [True, False])
def test_pii_is_masked_dropped_or_kept_whatever_normalize_says(normalize):
    text = b"Write to ann@example.com or bob@example.com from 93.184.216.34."
    found, reason, report = one(text, settings=Clean(pii="mask"), normalize=normalize)
    assert (found, reason) == ("Write to <EMAIL> or <EMAIL> from <IP_ADDRESS>.", "")
    assert (report.counts["pii:email"], report.counts["pii:ip_address"]) == (2, 1)
    found, reason, report = one(text, settings=Clean(pii="drop"), normalize=normalize)
    assert reason == "pii:email"
    assert "example.com" not in json.dumps(report.to_json())
    assert one(text, settings=Clean(pii="keep"), normalize=normalize)[:2] == (text.decode(), "")


def test_the_report_counts_charsets_and_keeps_three_samples_a_reason():
    rows = (
        [(b"hello", "text/plain")] * 2
        + [("naïve".encode("cp1252"), "text/plain; charset=latin-1")]
        + [(b"", "text/plain")] * 9
    )
    table, report = clean(raw(*rows), settings=MASK, normalize=True)
    assert report.counts == {"charset:utf-8": 11, "charset:windows-1252": 1}
    assert len(report.samples["clean:empty"]) == 3
    assert report.samples["clean:empty"][0]["id"] == table["id"][3].as_py().hex()
