"""Laws of the rule `toxicity`: datatrove's bad words where it counts alike, lists by language, spared documents."""

import re

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataassets import models
from dataassets.recipe import Filter, RecipeError, Toxicity
from dataassets.recipe.base import FilePath
from dataassets.stages.filter import judge, language, measure, measured_by, schema, toxic
from dataassets.stages.text import utf8_buffers

COLUMNS = ["toxic_matches", "toxic_distinct", "toxic_ratio"]


@pytest.fixture(autouse=True)
def _language_stands_first(monkeypatch):
    """The first word of a text names its language."""

    def identify(texts):
        labels = [text.partition(" ")[0] for text in texts.to_pylist()]
        return labels, np.ones(len(labels), np.float32)

    monkeypatch.setattr(language, "identify", identify)


@pytest.fixture
def files(tmp_path):
    """Writes a list and gives its path."""

    def write(name, *lines):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        return FilePath(str(tmp_path / name))

    return write


def judged(texts, toxicity, documents_of):
    documents, settings = documents_of(texts), Filter(toxicity=toxicity)
    signals, _ = measure(documents, settings=settings)
    found, _ = judge(documents, signals, settings=settings)
    return found["reason"].to_pylist(), signals


def test_signals_are_places_different_entries_and_places_per_word(files, documents_of):
    own = Toxicity(words=(files("list", "# a remark", "#tag", "darn", "holy cow", "", "  heck "),))
    texts = ["en darn Darn HECK", "en holy\ncow darned", "en #tag tag", "en fine", ""]
    _, signals = judged(texts, own, documents_of)
    assert signals.schema.names[-3:] == COLUMNS
    assert [tuple(row.values()) for row in signals.select(COLUMNS).to_pylist()] == [
        (3, 2, 3 / 4),
        (1, 1, 1 / 4),
        (1, 1, 1 / 4),  # words are the filter's: # and tag are two
        (0, 0, 0.0),
        (0, 0, None),
    ]


def test_limits_read_the_columns_and_any_match_drops_by_default(files, documents_of):
    words = (files("list", "darn", "heck"),)
    texts = ["en darn a b c d e f", "en darn darn darn", "en heck darn", "en"]
    limits = {
        "words": Toxicity(words=words),
        "distinct": Toxicity(words=words, max_matches=None, max_distinct=1),
        "ratio": Toxicity(words=words, max_matches=None, max_ratio=0.5),
    }
    assert len({str(measured_by(Filter(toxicity=own))) for own in limits.values()}) == 1
    found = {name: judged(texts, own, documents_of)[0] for name, own in limits.items()}
    assert found == {
        "words": ["toxicity:words"] * 3 + [""],
        "distinct": ["", "", "toxicity:distinct", ""],
        "ratio": ["", "toxicity:ratio", "toxicity:ratio", ""],
    }


def test_lists_are_for_their_languages_and_words_for_all(files, documents_of):
    own = Toxicity(
        words=(files("all", "darn"),),
        lists={"de": files("de", "mist"), "ja": files("ja", "悪い", "darn"), "th": files("th", "xx")},
    )
    texts = [
        "de mist",
        "en mist",
        "de darn",
        "ja とても悪いです",
        "zh とても悪いです",
        "ja darned",
        "en darned",
        "th axxb",
    ]
    found, _ = judged(texts, own, documents_of)
    assert found == [
        f"toxicity:{name}" if name else "" for name in ("words", "", "words", "words", "", "words", "", "words")
    ]


def test_a_language_may_have_a_rule_of_its_own(files, documents_of):
    own = {"toxicity": {"words": [files("de", "mist")], "max_matches": 1}}
    settings = Filter.model_validate({"toxicity": {"words": [files("all", "darn")]}, "languages": {"de": own}})
    documents = documents_of(["de mist mist darn", "en darn mist", "de darn", "de mist"])
    signals, _ = measure(documents, settings=settings)
    assert signals["toxic_matches"].to_pylist() == [2, 1, 0, 1]
    found, _ = judge(documents, signals, settings=settings)
    assert found["reason"].to_pylist() == ["toxicity:words", "toxicity:words", "", ""]


def test_no_list_for_a_language_is_no_signal(files, documents_of):
    found, signals = judged(["de mist", "en mist"], Toxicity(lists={"de": files("de", "mist")}), documents_of)
    assert found == ["toxicity:words", ""]
    assert [signals[name][1].as_py() for name in COLUMNS] == [None] * 3


def test_a_share_is_spared_by_the_id_alone(files, documents_of):
    words = (files("list", "darn"),)
    texts = ["en darn"] * 3000
    documents, settings = documents_of(texts), Filter(toxicity=Toxicity(words=words, keep_fraction=0.3))
    signals, _ = measure(documents, settings=settings)
    kept = np.array(judge(documents, signals, settings=settings)[0]["reason"].to_pylist()) == ""
    assert 0.25 < kept.mean() < 0.35
    order = np.random.default_rng(1).permutation(len(texts))
    again, _ = judge(documents.take(order), signals.take(order), settings=settings)
    assert (np.array(again["reason"].to_pylist()) == "").tolist() == kept[order].tolist()
    for fraction, expected in ((0, 0), (1, 3000)):
        own = Filter(toxicity=Toxicity(words=words, keep_fraction=fraction))
        assert judge(documents, signals, settings=own)[0]["reason"].to_pylist().count("") == expected


ENTRY = st.text("ab-'$", min_size=1, max_size=3)


@given(
    texts=st.lists(st.text("abAB-'$_ \n.1", max_size=25), min_size=1),
    entries=st.sets(ENTRY, min_size=1),
    data=st.data(),
)
def test_a_text_has_a_match_where_datatrove_has_one(texts, entries, data, tmp_path_factory):
    """Its expression: of lower-case text, entries between characters of no word or ends; ja, th, zh anywhere."""
    unspaced = data.draw(st.booleans())
    path = tmp_path_factory.mktemp("lists") / "list"
    path.write_text("\n".join(entries) + "\n")
    alternation = "|".join(map(re.escape, entries))
    search = re.compile(alternation if unspaced else rf"(?:\W|^)({alternation})(?:\W|$)").search
    files = [("k", str(path))]
    found = toxic.load([] if unspaced else files, unspaced=files if unspaced else [])
    buffer, offsets = utf8_buffers(pa.array(texts, pa.large_string()))
    counts = toxic.count_listed(buffer, offsets, rows=np.arange(len(texts)), found=found)
    assert (counts[:, 0] > 0).tolist() == [search(text.lower()) is not None for text in texts]


@given(rows=st.permutations(range(6)).map(lambda rows: rows[:4]))
def test_a_text_is_counted_alike_beside_any_others(rows, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "words"
    path.write_text("a\nb\nc d\n")
    texts = ["a b", "c d c d a", "", "x", "a a a", "B  é C\nD"]
    buffer, offsets = utf8_buffers(pa.array(texts, pa.large_string()))
    found = toxic.load([("k", str(path))])
    expected = np.array([[2, 2], [3, 2], [0, 0], [0, 0], [3, 1], [2, 2]])
    assert (toxic.count_listed(buffer, offsets, rows=np.array(rows), found=found) == expected[rows]).all()


def test_packaged_lists_come_from_the_package(tmp_path, monkeypatch, documents_of):
    folder = tmp_path / "badwords" / "resource" / "words"
    folder.mkdir(parents=True)
    (folder / "en.txt").write_text("darn\n")
    (tmp_path / "badwords" / "__init__.py").write_text("raise AssertionError('is not imported')")
    monkeypatch.syspath_prepend(tmp_path)
    assert judged(["en darn", "de darn"], Toxicity(packaged=("en",)), documents_of)[0] == ["toxicity:words", ""]
    with pytest.raises(RecipeError, match=r"packaged: badwords-py has no list for 'vo'; take of \['en'\]"):
        measured_by(Filter(toxicity=Toxicity(packaged=("vo",))))


def test_a_package_that_is_not_there_is_told(monkeypatch):
    monkeypatch.setattr(models, "_folders", lambda _: [])
    with pytest.raises(RecipeError, match=r"not installed: pip install .*badwords-py.*a file of your own"):
        measured_by(Filter(toxicity=Toxicity(packaged=("en",))))


def test_what_is_no_list_is_told(files, tmp_path, documents_of):
    with pytest.raises(RecipeError, match=r"filter\.toxicity\.lists\.de = .*: no such file"):
        measured_by(Filter(toxicity=Toxicity(lists={"de": FilePath(str(tmp_path / "none"))})))
    with pytest.raises(RecipeError, match=r"filter\.toxicity\.words = .*: holds no entry"):
        judged(["en"], Toxicity(words=(files("empty", "# remark"),)), documents_of)


def test_no_rule_no_columns():
    assert not set(COLUMNS) & set(schema(Filter()).names)
