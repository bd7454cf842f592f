"""Laws of languages: a document is measured and judged as if it were alone, by the settings of its language."""

from collections import Counter
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from dataassets.recipe import C4, Filter, FineWeb, GopherQuality, GopherRepetition, Length
from dataassets.recipe.rules.labels import LABELS
from dataassets.stages.filter import judge, language, measure, measured_by, rules, schema, signals
from dataassets.stages.text import sentence_ends, unicode_word_spans, utf8_buffers

CODES = ["en", "de", "zh", "fr"]
RULES = {
    "length": st.builds(Length, min=st.sampled_from([None, 5, 20])),
    "gopher_repetition": st.builds(GopherRepetition, dup_line_frac=st.sampled_from([None, 0.1, 0.3])),
    "gopher_quality": st.builds(
        GopherQuality,
        min_words=st.sampled_from([0, 2, 5]),
        min_stop_words=st.sampled_from([0, 1]),
        stop_words=st.sampled_from([("the", "be"), ("日",), ("x", "12", "e\u0301")]),
    ),
    "c4": st.builds(
        C4, terminal_punct=st.booleans(), min_sentences=st.integers(0, 2), citations=st.booleans(), policy=st.booleans()
    ),
    "fineweb": st.builds(FineWeb, line_punct_ratio=st.sampled_from([None, 0.1, 0.5])),
}
WORDS = st.sampled_from(["english", "unicode"])
ONE = st.fixed_dictionaries({"words": WORDS}, optional=RULES).map(lambda own: Filter(**own))
FILTERS = st.builds(
    lambda base, own: base.model_copy(update={"languages": own}),
    ONE,
    st.dictionaries(st.sampled_from(CODES[1:]), ONE, max_size=3),
)


def label_of(text):
    return CODES[len(text) % len(CODES)]


@pytest.fixture
def fake_language(monkeypatch):
    """A language that is known beforehand from the length of the text."""

    def identify(texts):
        labels = [label_of(text) for text in texts.to_pylist()]
        return labels, np.ones(len(labels), np.float32)

    monkeypatch.setattr(language, "identify", identify)


def judged(documents, chosen):
    measured, _ = measure(documents, settings=chosen)
    return (measured, *judge(documents, measured, settings=chosen))


@pytest.mark.usefixtures("fake_language")
@settings(max_examples=60)
@given(data=st.data(), chosen=FILTERS, slice_bytes=st.sampled_from([1, 100, 8_000_000]))
def test_documents_together_are_measured_and_judged_as_each_alone(data, chosen, slice_bytes, nasty_texts, documents_of):
    documents = documents_of(data.draw(nasty_texts))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(signals, "SLICE_BYTES", slice_bytes)
        measured, table, report = judged(documents, chosen)
    assert measured.schema == schema(chosen)
    for row, text in enumerate(documents["text"].to_pylist()):
        alone = documents.slice(row, 1)
        own_measured, own_table, _ = judged(alone, chosen.of(label_of(text)).model_copy(update={"languages": {}}))
        assert measured.slice(row, 1).equals(own_measured)
        assert table.slice(row, 1).equals(own_table)
    gone = pc.sum(pc.not_equal(table["reason"], "")).as_py() or 0
    afters = [n for name, n in report.counts.items() if name.startswith("kept_after:")]
    assert all(a >= b for a, b in pairwise([len(table), *afters]))
    assert not afters or afters[-1] == len(table) - gone
    removed = Counter(reason for reason in table["reason"].to_pylist() if reason)
    assert {name: len(rows) for name, rows in report.samples.items()} == {n: min(c, 3) for n, c in removed.items()}


@pytest.mark.usefixtures("fake_language")
def test_samples_are_the_first_documents_each_with_the_limit_of_its_language(documents_of):
    documents = documents_of(["a" * n for n in (5, 4, 9, 8, 13, 12)])  # de, en, de, en, de, en
    chosen = Filter(length={"min": 100}, languages={"de": {"length": {"min": 50}}})
    *_, report = judged(documents, chosen)
    assert [(row["value"], row["limit"]) for row in report.samples["length:short"]] == [(5, 50), (4, 100), (9, 50)]
    assert report.histograms["num_chars"].limits == (50, 100)
    *_, report = judged(documents, Filter(length={"min": 100}, languages={"de": {"c4": {}}}))
    assert report.histograms["num_chars"].limits == (100,)


@pytest.mark.usefixtures("fake_language")
@settings(max_examples=40)
@given(data=st.data())
def test_signals_of_unicode_words_are_those_of_the_reference(data, nasty_texts, reference, documents_of):
    def words(text):
        buffer, starts, stops, _ = unicode_word_spans(*utf8_buffers(pa.array([text], pa.large_string())))
        return [bytes(buffer[a:b]).decode() for a, b in zip(starts, stops, strict=True)]

    def sentences(text):
        buffer, offsets = utf8_buffers(pa.array([text], pa.large_string()))
        ends, _ = sentence_ends(unicode_word_spans(buffer, offsets), buffer, offsets)
        return [bytes(buffer[a:b]).decode() for a, b in pairwise([0, *ends])]

    texts = data.draw(nasty_texts)
    c4 = data.draw(st.builds(C4, split_paragraph=st.booleans()))
    table, _ = measure(documents_of(texts), settings=Filter(words="unicode", c4=c4))
    knobs = {"c4_settings": c4, "stop_words": GopherQuality().stop_words, "shape": FineWeb()}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reference, "words", words)
        patch.setattr(reference, "sentences", sentences)
        expected = [reference.signals(text, **knobs)[0] for text in texts]
    assert table.drop(["id", "language", "language_score"]).to_pylist() == expected


def test_only_what_changes_the_measuring_of_a_language_is_measured_anew():
    base = Filter(gopher_quality={}, languages={"de": {"gopher_quality": {"min_words": 9}, "c4": {"min_sentences": 1}}})
    assert measured_by(base) == measured_by(Filter())
    words = Filter(languages={"de": {}, "zh": {"words": "unicode"}, "fr": {"gopher_quality": {"stop_words": ["le"]}}})
    assert set(measured_by(words)["languages"]) == {"zh", "fr"}
    assert measured_by(words)["languages"]["zh"]["standard"]["words"] == "unicode"


@pytest.mark.usefixtures("fake_language")
def test_a_signal_that_some_language_lacks_is_null_there(documents_of, monkeypatch):
    extra = SimpleNamespace(
        knobs=lambda chosen: {} if chosen.words == "unicode" else None,
        fields=lambda _chosen: [pa.field("extra", pa.int64(), nullable=False)],
        measure=lambda texts, settings: {"extra": [len(text) for text in texts.documents["text"].to_pylist()]},
    )
    known = rules.measure
    monkeypatch.setattr(rules, "MEASURES", (*rules.MEASURES, "extra"))
    monkeypatch.setattr(rules, "measure", lambda name: extra if name == "extra" else known(name))
    documents = documents_of(["a" * n for n in (4, 5, 8, 9)])
    some, _ = measure(documents, settings=Filter(languages={"de": {"words": "unicode"}}))
    assert some["extra"].to_pylist() == [None, 5, None, 9]
    assert some.schema.field("extra").nullable
    every, _ = measure(documents, settings=Filter(words="unicode", languages={"de": {"words": "unicode"}}))
    assert every["extra"].to_pylist() == [4, 5, 8, 9]
    assert not every.schema.field("extra").nullable


def test_labels_are_those_of_the_model():
    assert sorted(LABELS) == sorted(language._loaded()[0])


# l' and d' stay with their word, a dot at the end does not: of the published lists, these never match.
NO_WORDS = {"l'", "d'", "s.", "г."}


def test_stop_words_of_the_multilingual_preset_are_words_as_they_are_cut():
    for code, own in Filter(preset="multilingual").languages.items():
        stop_words = [word for word in own.gopher_quality.stop_words if word not in NO_WORDS]
        buffer, offsets = utf8_buffers(pa.array(stop_words, pa.large_string()))
        _, starts, stops, _ = unicode_word_spans(buffer, offsets)
        assert (starts.tolist(), stops.tolist()) == (offsets[:-1].tolist(), offsets[1:].tolist()), code


CLEAN = yaml.safe_load(Path(__file__).with_name("paragraphs.yaml").read_text(encoding="utf-8"))
MULTILINGUAL = Filter(preset="multilingual")
AS_ENGLISH = Filter(preset="fineweb", language=None)


def reasons(texts, chosen, documents_of):
    return judged(documents_of(texts), chosen)[1]["reason"].to_pylist()


def test_clean_text_of_other_languages_stays_where_english_rules_drop_it(documents_of):
    found = reasons(CLEAN.values(), MULTILINGUAL, documents_of)
    assert dict(zip(CLEAN, found, strict=True)) == dict.fromkeys(CLEAN, "")
    assert all(reasons(CLEAN.values(), AS_ENGLISH, documents_of))


def test_text_that_repeats_itself_goes_in_every_language(documents_of):
    phrases = [text[:40] for text in CLEAN.values()]
    for made in ([f"{phrase} " * 40 for phrase in phrases], [f"{phrase}\n" * 40 for phrase in phrases]):
        found = reasons(made, MULTILINGUAL, documents_of)
        assert all(reason.startswith("gopher_repetition:") for reason in found), found


def test_text_without_words_of_its_language_goes(documents_of):
    """Letters of the right script in an order of no language."""
    rng = np.random.default_rng(1)
    shuffled = ["".join(rng.permutation(list(text.replace(" ", "")))) for text in CLEAN.values()]
    spaced = [" ".join(text[k : k + 7] for k in range(0, len(text), 7)) for text in shuffled]
    found = dict(zip(CLEAN, reasons(spaced, MULTILINGUAL, documents_of), strict=True))
    assert all(found[code] for code in CLEAN if code not in ("zh", "ja")), found  # there a word is a character
    symbols = ["".join(f"{char}%# " for char in text) for text in CLEAN.values()]
    assert all(reasons(symbols, MULTILINGUAL, documents_of))


DEV = Path(__file__).parents[4] / "shared" / "data" / "lid_dev.parquet"


@pytest.mark.skipif(not DEV.exists(), reason="wants ../shared/data")
def test_most_real_text_of_each_language_stays_and_english_rules_keep_hardly_any(documents_of):
    by_language = {}
    for row in pq.read_table(DEV).to_pylist():
        by_language.setdefault({"nb": "no"}.get(row["lang"], row["lang"]), []).append(row["text"])
    texts, codes = [], []
    for code in set(MULTILINGUAL.languages) - {"en"}:
        lines = [" ".join(by_language[code][k : k + 3]) for k in range(0, 96, 3)]
        texts += ["\n".join(lines[k : k + 8]) for k in range(0, 32, 8)]
        codes += [code] * 4
    documents = documents_of(texts)
    _, table, _ = judged(documents, MULTILINGUAL)
    found = [*zip(codes, table["language"].to_pylist(), table["reason"].to_pylist(), strict=True)]
    kept = Counter(code for code, label, reason in found if label == code and not reason)
    known = Counter(code for code, label, _ in found if label == code)
    assert sum(known.values()) > 0.95 * len(texts)
    assert sum(kept.values()) > 0.8 * len(texts)
    assert all(kept[code] for code in known), {code: known[code] for code in known if not kept[code]}
    assert sum(not reason for reason in reasons(texts, AS_ENGLISH, documents_of)) < 0.05 * len(texts)
