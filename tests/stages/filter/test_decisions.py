"""Laws of judging: the columns give the decision, the reason and the text that a chain of ifs gives."""

import json
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dataassets.recipe import C4, Filter, FineWeb, GopherQuality, GopherRepetition, Language, Length
from dataassets.records import DOCUMENTS, with_reason
from dataassets.report import SAMPLE_CHARS, SAMPLES_PER_REASON, Report
from dataassets.stages.filter import RULES, edits, judge, language, measure

SHARES = st.sampled_from([None, 0, 0.05, 0.1, 0.2, 0.25, 1 / 3, 0.5, 0.6, 0.75, 1])
COUNTS = st.sampled_from([None, 0, 1, 2, 3, 5, 10, 20])
FILTERS = st.builds(
    Filter,
    length=st.none()
    | st.builds(
        Length,
        min=COUNTS,
        max=st.sampled_from([None, 0, 50, 100]),
        min_words=COUNTS,
        max_words=COUNTS,
        min_lines=COUNTS,
        max_lines=COUNTS,
    ),
    language=st.none()
    | st.builds(
        Language,
        keep=st.sampled_from([("en",), ("de", "en"), ("fr",)]),
        min_score=SHARES.filter(lambda x: x is not None),
    ),
    gopher_repetition=st.none()
    | st.builds(
        GopherRepetition,
        dup_para_frac=SHARES,
        dup_para_char_frac=SHARES,
        dup_line_frac=SHARES,
        dup_line_char_frac=SHARES,
        top_n_grams=st.dictionaries(st.integers(1, 6), SHARES.filter(lambda x: x is not None)),
        dup_n_grams=st.dictionaries(st.integers(3, 12), SHARES.filter(lambda x: x is not None)),
        ngram_separator=st.booleans(),
    ),
    gopher_quality=st.none()
    | st.builds(
        GopherQuality,
        min_words=COUNTS,
        max_words=COUNTS.map(lambda n: n and n * 10),
        min_avg_word_length=st.sampled_from([None, 0, 1, 2, 3]),
        max_avg_word_length=st.sampled_from([None, 0, 3, 5, 10]),
        max_symbol_ratio=SHARES,
        max_bullet_lines=SHARES,
        max_ellipsis_lines=SHARES,
        min_alpha_words=SHARES,
        min_stop_words=st.sampled_from([None, 0, 1, 2]),
    ),
    c4=st.none()
    | st.builds(
        C4,
        split_paragraph=st.booleans(),
        terminal_punct=st.booleans(),
        min_sentences=st.integers(0, 3),
        curly_bracket=st.booleans(),
    ),
    fineweb=st.none()
    | st.builds(
        FineWeb,
        line_punct_ratio=SHARES,
        line_punct_exclude_zero=st.booleans(),
        stop_chars=st.sampled_from([None, (".", "you.")]),
        short_line_ratio=SHARES,
        char_dup_ratio=SHARES,
        new_line_ratio=SHARES,
    ),
)
LABELS = [("en", 0.9), ("en", 0.5), ("de", 1.0), ("en", 0.25), ("fr", 0.75)]


def fake_identify(texts):
    """A language that is known beforehand from the length of the text."""
    found = [LABELS[len(text) % len(LABELS)] for text in texts]
    return [label for label, _ in found], np.array([score for _, score in found], np.float32)


@pytest.fixture(autouse=True)
def _no_model(monkeypatch):
    monkeypatch.setattr(language, "identify", lambda texts: fake_identify(texts.to_pylist()))


def judged(documents, chosen):
    measured, _ = measure(documents, settings=chosen)
    return judge(documents, measured, settings=chosen)


@settings(deadline=None, max_examples=150)
@given(data=st.data(), chosen=FILTERS, batch_rows=st.sampled_from([2, 4096]))
def test_reasons_and_texts_are_those_of_a_chain_of_ifs(data, chosen, batch_rows, nasty_texts, reference, documents_of):
    texts = data.draw(nasty_texts)
    documents = documents_of(texts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(edits, "BATCH_ROWS", batch_rows)
        table, report = judged(documents, chosen)
    assert table.schema == with_reason(DOCUMENTS)
    languages, scores = fake_identify(texts)
    expected = [
        reference.judge(text, chosen, language=language, score=float(score))
        for text, language, score in zip(texts, languages, scores, strict=True)
    ]
    assert [*zip(table["reason"].to_pylist(), table["text"].to_pylist(), strict=True)] == expected
    assert table["language"].to_pylist() == languages
    untouched = ["id", "url", "origin", "position", "timestamp", "meta"]
    assert table.select(untouched).equals(documents.select(untouched))
    assert json.loads(json.dumps(report.to_json())) == report.to_json()


@settings(deadline=None, max_examples=40)
@given(data=st.data(), chosen=FILTERS)
def test_the_report_accounts_for_every_document(data, chosen, nasty_texts, documents_of):
    documents = documents_of(data.draw(nasty_texts))
    table, report = judged(documents, chosen)
    reasons = table["reason"].to_pylist()
    on = [rule for rule in RULES if getattr(chosen, rule) is not None]
    assert [name for name in report.counts if name.startswith("kept_after:")] == [f"kept_after:{rule}" for rule in on]
    for i, rule in enumerate(on):
        gone = sum(reason.split(":")[0] in on[: i + 1] for reason in reasons)
        assert report.counts[f"kept_after:{rule}"] == len(reasons) - gone
    assert sum(n for name, n in report.counts.items() if name.startswith("language:")) == len(reasons)
    assert set(report.samples) == set(reasons) - {""}
    ids = [i.hex() for i in table["id"].to_pylist()]
    for reason, rows in report.samples.items():
        assert [row["id"] for row in rows] == [i for i, r in zip(ids, reasons, strict=True) if r == reason][
            :SAMPLES_PER_REASON
        ]
        assert all(len(row["snippet"]) <= SAMPLE_CHARS for row in rows)


@settings(deadline=None, max_examples=20)
@given(data=st.data(), cut=st.integers(0, 8))
def test_reports_of_parts_add_up_to_the_report_of_the_whole(data, cut, nasty_texts, documents_of):
    chosen = Filter(gopher_repetition=GopherRepetition(), c4=C4(min_sentences=1), fineweb=FineWeb())
    documents = documents_of(data.draw(nasty_texts))
    whole, told = judged(documents, chosen)
    parts = [judged(part, chosen) for part in (documents.slice(0, cut), documents.slice(cut))]
    assert pa.concat_tables([table for table, _ in parts]).equals(whole)
    assert (Report() + parts[0][1] + parts[1][1]).to_json() == told.to_json()


def test_rules_judge_in_the_order_of_the_recipe_model():
    assert tuple(name for name in Filter.model_fields if name in RULES) == RULES


def test_a_filter_without_rules_keeps_all(documents_of):
    documents = documents_of(["", " ", "a\n{"])
    table, report = judged(documents, Filter())
    assert pc.all(pc.equal(table["reason"], "")).as_py()
    assert table["text"].equals(documents["text"])
    assert not report.samples


def test_a_sample_tells_the_value_and_the_limit(documents_of):
    _, report = judged(documents_of(["12345"]), Filter(length=Length(min=6)))
    [row] = report.samples["length:short"]
    assert (row["value"], row["limit"], row["url"], row["snippet"]) == (5, 6, "https://a.example/0", "12345")
    assert report.histograms["num_chars"].limits == (6,)


def test_signals_of_other_documents_are_refused(documents_of):
    measured, _ = measure(documents_of(["a", "b"]), settings=Filter())
    with pytest.raises(AssertionError, match="belong"):
        judge(documents_of(["a", "b"]).take([1, 0]), measured, settings=Filter())


@pytest.mark.parametrize("limits", [{"top_n_grams": {0: 0.1}}, {"dup_n_grams": {21: 0.1}}])
def test_an_order_that_is_not_measured_is_refused(limits):
    with pytest.raises(ValueError, match="take n from"):
        GopherRepetition(**limits)


def test_judging_without_c4_loads_neither_numba_nor_fasttext():
    code = (
        "import sys, dataassets.stages.filter as f; f.judge, f.measured_by, f.RULES;"
        "sys.exit(bool({'numba', 'fasttext'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
