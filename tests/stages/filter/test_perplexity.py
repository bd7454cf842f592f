"""Perplexity: normalization against its definition, the score against the ARPA file, buckets against plain ranks."""

import math
import re
import shutil
import unicodedata

import numpy as np
import pyarrow as pa
import pytest
import tiny_lm
from hypothesis import given
from hypothesis import strategies as st

from dataassets.recipe import Cutoffs, Filter, Perplexity, PerplexityModel, RecipeError
from dataassets.stages.filter import cuts, estimate, judge, measure, measured_by, programs, ranked, write_lines
from dataassets.stages.filter.perplexity import normalized, perplexities

pytest.importorskip("kenlm", reason="wants the extra [kenlm]")

PUNCTUATION = dict(
    zip(
        "，。、„”“«»」「《》´∶：？！（）；–．～’…━〈〉【】％►—",
        [*',.,""""""""', '"', "'", *"::?!();-", ". ", "~", "'", "...", *"-<>[]%-", " - "],
        strict=True,
    )
)


def reference(line):
    """CCNet's normalization of a line, a step at a time."""
    line = line.lower()
    line = "".join(c for c in unicodedata.normalize("NFD", line) if unicodedata.category(c) != "Mn")
    line = re.sub(r"\d", "0", line)
    line = "".join(PUNCTUATION.get(c, c) for c in line)
    return re.sub(r"[\x00-\x1f\x7f-\x9f]", "", line)


def test_normalization_is_that_of_ccnet(nasty_texts, real_texts):
    @given(nasty_texts)
    def law(texts):
        for text in texts:
            assert normalized(text).split("\n") == [reference(line) for line in text.split("\n")]

    law()
    for text in [*real_texts, "１２ ٣ ½ „Ünïcödé“ — «»…", "Σίσυφος ΟΔΟΣ"]:
        assert normalized(text).split("\n") == [reference(line) for line in text.split("\n")]


@pytest.fixture(scope="session")
def model(tmp_path_factory, real_texts):
    """An ARPA file of half the texts."""
    path = tmp_path_factory.mktemp("lm") / "model.arpa"
    lines = [line for text in real_texts[::2] for line in normalized(text).split("\n") if line.split()]
    path.write_text(tiny_lm.arpa(lines), encoding="utf-8")
    return path


def test_perplexity_is_that_of_the_arpa_file(model, real_texts):
    arpa, texts = model.read_text(encoding="utf-8"), [text[:1500] for text in real_texts[:24]]
    found = perplexities(texts, model=model, pieces=None)
    for text, value in zip(texts, found, strict=True):
        lines = [line for line in reference_lines(text) if line.split()]
        tokens = sum(len(line.split()) + 1 for line in lines)
        wanted = 10 ** (-sum(tiny_lm.score(line, arpa) for line in lines) / tokens)
        assert value == pytest.approx(wanted, rel=1e-4)


def reference_lines(text):
    return [reference(line) for line in text.split("\n")]


def test_what_the_model_knows_is_less_perplexing(model, real_texts):
    known = perplexities(real_texts[::2], model=model, pieces=None)
    backwards = perplexities([text[::-1] for text in real_texts[::2]], model=model, pieces=None)
    assert np.nanmedian(known) * 3 < np.nanmedian(backwards)


def test_a_text_without_a_word_has_none(model):
    found = perplexities(["", "\n \t\n", "\x00\x01", "word"], model=model, pieces=None)
    assert np.isnan(found).tolist() == [True, True, True, False]


def test_pieces_of_sentencepiece_make_one_line_of_a_text(tmp_path, real_texts):
    sentencepiece = pytest.importorskip("sentencepiece")
    plain = [normalized(text).replace("\n", "") for text in real_texts]
    (tmp_path / "text.txt").write_text("\n".join(plain), encoding="utf-8")
    sentencepiece.SentencePieceTrainer.train(
        input=str(tmp_path / "text.txt"), model_prefix=str(tmp_path / "sp"), vocab_size=400, minloglevel=2,
        hard_vocab_limit=False, max_sentence_length=100_000, num_threads=1,
    )  # fmt: skip
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "sp.model"))
    lines = [" ".join(pieces.encode_as_pieces(text)) for text in plain]
    (tmp_path / "lm.arpa").write_text(tiny_lm.arpa(lines[::2]), encoding="utf-8")
    arpa = (tmp_path / "lm.arpa").read_text(encoding="utf-8")
    short = [text[:600] for text in real_texts[:6]]
    found = perplexities(short, model=tmp_path / "lm.arpa", pieces=tmp_path / "sp.model")
    for text, value in zip(short, found, strict=True):
        tokens = pieces.encode_as_pieces("".join(reference_lines(text)))
        wanted = 10 ** (-tiny_lm.score(" ".join(tokens), arpa) / (len(tokens) + 1))
        assert value == pytest.approx(wanted, rel=1e-4)


def test_a_file_that_is_no_model_is_refused_by_name(tmp_path, model):
    (tmp_path / "no.arpa").write_text("no model")
    with pytest.raises(RecipeError, match=r"no\.arpa: no KenLM model"):
        perplexities(["a"], model=tmp_path / "no.arpa", pieces=None)
    with pytest.raises(RecipeError, match=r"no\.arpa: no SentencePiece model"):
        perplexities(["a"], model=model, pieces=tmp_path / "no.arpa")


# ---- the rule


def judged(values, settings, documents_of):
    documents = documents_of([f"text {i}" for i in range(len(values))])
    rows = {"id": documents.column("id"), "perplexity": pa.array(values, pa.float32(), from_pandas=True)}
    rows |= {"language": pa.nulls(len(values), pa.string()), "language_score": pa.nulls(len(values), pa.float32())}
    signals, filters = pa.table(rows), Filter(perplexity=settings)
    found = cuts(signals, settings=filters) if ranked(filters) else None
    return judge(documents, signals, settings=filters, cuts=found)


@given(st.lists(st.one_of(st.integers(1, 8), st.none()), max_size=50), st.integers(1, 100), st.integers(0, 100))
def test_buckets_are_ranks_to_the_document(documents_of, values, head, more):
    fractions = Cutoffs(head=head / 100, tail=min(head + more, 100) / 100)
    order = sorted((v, i) for i, v in enumerate(values) if v is not None)  # ids rise with the rows
    ends = [-(-round(f * 100) * len(order) // 100) for f in (fractions.head, fractions.tail)]
    bucket = {i: "head" if at < ends[0] else "middle" if at < ends[1] else "tail" for at, (_, i) in enumerate(order)}
    for keep in (("head",), ("head", "middle"), ("tail",), ("head", "middle", "tail")):
        table, _ = judged(values, Perplexity(keep=keep, fractions=fractions), documents_of)
        wanted = ["" if b is None or b in keep else f"perplexity:{b}" for b in map(bucket.get, range(len(values)))]
        assert table.column("reason").to_pylist() == wanted


def test_limits_are_perplexities_and_max_is_one_by_itself(documents_of):
    values = [5, 10, 15, 20, 25, None]
    table, report = judged(values, Perplexity(limits=Cutoffs(head=10, tail=20), keep=("head",)), documents_of)
    assert table.column("reason").to_pylist() == ["", "", *["perplexity:middle"] * 2, "perplexity:tail", ""]
    assert report.histograms["perplexity"].limits == (10, 20)
    table, _ = judged(values, Perplexity(max=20), documents_of)
    assert table.column("reason").to_pylist() == ["", "", "", "", "perplexity:above", ""]
    table, _ = judged(values, Perplexity(), documents_of)  # of five, 2 are head and 1 is middle
    assert table.column("reason").to_pylist() == ["", "", "", "perplexity:tail", "perplexity:tail", ""]


def test_the_perplexity_is_a_column_and_no_limit_is_part_of_it(model, documents_of, real_texts, tmp_path):
    settings = Filter(perplexity=Perplexity(model=str(model)))
    signals, _ = measure(documents_of([*real_texts[:5], ""]), settings=settings)
    found = signals.column("perplexity").to_pylist()
    assert found[:5] == pytest.approx(perplexities(real_texts[:5], model=model, pieces=None).tolist())
    assert found[5] is None
    assert signals.schema.field("perplexity") == pa.field("perplexity", pa.float32())
    shutil.copy(model, tmp_path / "copied.arpa")
    other = Perplexity(model=str(tmp_path / "copied.arpa"), max=3, keep=("tail",), limits=Cutoffs(head=1, tail=2))
    assert measured_by(settings) == measured_by(Filter(perplexity=other))
    assert measured_by(settings) != measured_by(Filter())


# ---- training


def test_lines_are_those_that_are_scored(tmp_path):
    texts = pa.chunked_array([pa.array(["Éa  b\n\n \n<s> C </s>", "", "x 12"], pa.large_string())])
    assert write_lines(texts, tmp_path / "lines.txt") == (3, 7)
    assert (tmp_path / "lines.txt").read_text().split("\n") == ["ea b", "s c /s", "x 00", ""]


def test_programs_that_are_not_there_are_named_with_the_way_to_get_them(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RecipeError, match=r"lmplz and build_binary of KenLM not on PATH; .*build them from KenLM's"):
        programs()


def test_a_program_that_fails_is_quoted(monkeypatch, tmp_path):
    for name in ("lmplz", "build_binary"):
        (tmp_path / name).write_text("#!/bin/sh\necho some trouble >&2\nexit 3\n")
        (tmp_path / name).chmod(0o700)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    (tmp_path / "lines.txt").write_text("a b\n")
    with pytest.raises(RecipeError, match="lmplz ended with 3: some trouble; give it more text"):
        estimate([tmp_path / "lines.txt"], settings=PerplexityModel(sources=("a",)), folder=tmp_path)


@pytest.mark.skipif(shutil.which("lmplz") is None, reason="wants KenLM's lmplz and build_binary on PATH")
def test_kenlm_estimates_the_same_bytes_twice_and_they_are_read(tmp_path, real_texts):
    texts = pa.chunked_array([pa.array(real_texts, pa.large_string())])
    write_lines(texts, tmp_path / "lines.txt")
    made = []
    for at in ("a", "b"):
        (tmp_path / at).mkdir()
        made.append(estimate([tmp_path / "lines.txt"], settings=PerplexityModel(sources=("a",)), folder=tmp_path / at))
    assert made[0].model.read_bytes() == made[1].model.read_bytes()
    assert len(made[0].grams) == 5
    known = perplexities(real_texts, model=made[0].model, pieces=None)
    assert math.isfinite(known.max())
    assert np.nanmedian(known) * 5 < np.nanmedian(
        perplexities([t[::-1] for t in real_texts], model=made[0].model, pieces=None)
    )
