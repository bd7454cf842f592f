"""Laws of language identification: fastText's own answer on the whole text, line feeds as spaces."""

from pathlib import Path

import fasttext
import pyarrow.parquet as pq
import pytest

from dataassets import models
from dataassets.recipe import Filter
from dataassets.stages.filter import measure
from dataassets.stages.filter.language import identify

DEV = Path(__file__).parents[4] / "shared" / "data" / "lid_dev.parquet"


def test_labels_and_scores_are_those_of_fasttext(real_texts):
    model = fasttext.load_model(str(models.find("lid.176.ftz")))
    labels, scores = identify(real_texts)
    for text, label, score in zip(real_texts, labels, scores, strict=True):
        [best], [value] = model.predict(text.replace("\n", " "))
        assert (label, score) == (best.removeprefix("__label__"), min(value, 1))


def test_no_text_breaks_it():
    labels, scores = identify(["", "\0", "\n", " \x85\u2028", "\ufeff", "a\0b", "\U0010ffff"])
    assert all(labels)
    assert ((scores >= 0) & (scores <= 1)).all()


def test_signals_carry_language_and_score(documents_of):
    table, _ = measure(
        documents_of(["Das ist ein ganz gewöhnlicher deutscher Satz.", "Plainly an English one."]), settings=Filter()
    )
    assert table["language"].to_pylist() == ["de", "en"]
    assert min(table["language_score"].to_pylist()) > 0.5


@pytest.mark.skipif(not DEV.exists(), reason="wants ../shared/data")
def test_accuracy_on_known_sentences_is_the_published_one():
    table = pq.read_table(DEV)
    labels, _ = identify(table["text"].to_pylist())
    right = sum(a == b or (a, b) == ("no", "nb") for a, b in zip(labels, table["lang"].to_pylist(), strict=True))
    assert right / len(labels) == pytest.approx(0.796, abs=0.001)  # ../shared/data/README.md
