"""Laws of language identification: fastText's own answer on the whole text, line feeds as spaces."""

from pathlib import Path
from typing import Any

import fasttext
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataassets import models
from dataassets.recipe import Filter
from dataassets.stages.filter import ftz, language, measure
from dataassets.stages.filter.language import identify

DEV = Path(__file__).parents[4] / "shared" / "data" / "lid_dev.parquet"


PIECES = [
    "a",
    "Haus",
    "maison",
    "дом",
    "家",
    "e\u0301",
    "\U0001f600",
    "</s>",
    "__label__en",
    "__label__",
    "x" * 70,
    "\0",
    " ",
    "\t",
    "\r\n",
    ".",
]


def array(texts: list[str]) -> pa.Array:
    return pa.array(texts, pa.large_string())


@pytest.fixture(scope="module")
def model() -> Any:
    return fasttext.load_model(str(models.find("lid.176.ftz")))


def agrees(model: Any, texts: list[str]) -> None:
    labels, scores = identify(array(texts))
    for text, label, score in zip(texts, labels, scores, strict=True):
        found, values = model.predict(text.replace("\n", " "), k=2)
        names = [name.removeprefix("__label__") for name in found]
        assert score == pytest.approx(min(values[0], 1), abs=2e-4)
        # Sums are taken in another order: only where the first two are equal to five digits may the second be named.
        assert label == names[0] or (label == names[1] and values[0] - values[1] < 1e-5)


def test_labels_are_those_of_fasttext_and_scores_to_the_last_bits(model, real_texts):
    agrees(model, real_texts)


@given(
    st.lists(st.lists(st.sampled_from(PIECES) | st.text(max_size=8), max_size=12).map(" ".join), min_size=1, max_size=6)
)
def test_any_text_is_judged_as_by_fasttext(model, texts):
    agrees(model, texts)


def test_what_was_seen_before_changes_no_bit(real_texts):
    first = identify(array(real_texts))
    language._seen.forget()
    again = identify(array(real_texts[::-1]))
    assert again[0][::-1] == first[0]
    assert np.array_equal(again[1][::-1], first[1])


def test_a_full_table_changes_no_bit(real_texts, monkeypatch):
    first = identify(array(real_texts))
    monkeypatch.setattr(language, "SLOTS", 1 << 14)
    language._seen.forget()
    try:
        again = identify(array(real_texts))
    finally:
        language._seen.forget()
    assert again[0] == first[0]
    assert np.array_equal(again[1], first[1])


def test_no_text_breaks_it():
    labels, scores = identify(array(["", "\0", "\n", " \x85\u2028", "\ufeff", "a\0b", "\U0010ffff"]))
    assert all(labels)
    assert ((scores >= 0) & (scores <= 1)).all()


def test_another_kind_of_file_is_refused(tmp_path):
    (tmp_path / "x.ftz").write_bytes(b"no model at all, but long enough to hold a header of one")
    with pytest.raises(ValueError, match=r"x\.ftz: begins with .* a fastText model with \(793712314, 12\)"):
        ftz.read(tmp_path / "x.ftz")


def test_signals_carry_language_and_score(documents_of):
    table, _ = measure(
        documents_of(["Das ist ein ganz gewöhnlicher deutscher Satz.", "Plainly an English one."]), settings=Filter()
    )
    assert table["language"].to_pylist() == ["de", "en"]
    assert min(table["language_score"].to_pylist()) > 0.5


@pytest.mark.skipif(not DEV.exists(), reason="wants ../shared/data")
def test_accuracy_on_known_sentences_is_the_published_one():
    table = pq.read_table(DEV)
    labels, _ = identify(array(table["text"].to_pylist()))
    right = sum(a == b or (a, b) == ("no", "nb") for a, b in zip(labels, table["lang"].to_pylist(), strict=True))
    assert right / len(labels) == pytest.approx(0.796, abs=0.001)  # ../shared/data/README.md
