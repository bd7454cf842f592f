"""The quality classifier: our kernel against fastText, training against itself, measures against plain counts."""

from pathlib import Path

import fasttext
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataassets.recipe import HIGH, Filter, Quality, QualityModel, RecipeError
from dataassets.stages.filter import choose, cuts, judge, measure, measured_by, ranked, train_quality
from dataassets.stages.filter.linear import probabilities
from dataassets.stages.filter.standing import cut
from dataassets.stages.filter.training import LOW, auc, measured, one_line

SMALL = {"dim": 6, "bucket": 500, "epoch": 5, "seed": 3, "thread": 1, "verbose": 0, "loss": "softmax"}
KINDS = {
    "words": {"wordNgrams": 1},
    "bigrams": {"wordNgrams": 2},
    "fourgrams": {"wordNgrams": 4},
    "characters": {"wordNgrams": 1, "minn": 1, "maxn": 3},
    "both": {"wordNgrams": 3, "minn": 2, "maxn": 4},
}


def array(texts):
    return pa.chunked_array([pa.array(texts, pa.large_string())])


@pytest.fixture(scope="session")
def lines(tmp_path_factory, real_texts):
    """A training file: prose about Python against its halves read backwards."""
    file = tmp_path_factory.mktemp("lines") / "train.txt"
    rows = []
    for text in one_line(array(real_texts)).to_pylist():
        rows += [f"{HIGH} {text}", f"{LOW} {' '.join(text.split()[::-1])}"]
    file.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return file


@pytest.fixture(scope="session")
def models(tmp_path_factory, lines):
    """By kind, fastText's model and its file; and two of them quantized."""
    folder, found = tmp_path_factory.mktemp("models"), {}
    for kind, knobs in KINDS.items():
        model = fasttext.train_supervised(str(lines), **SMALL, **knobs)
        found[kind] = (model, folder / f"{kind}.bin")
        model.save_model(str(found[kind][1]))
    for kind, knobs in {"quantized": {}, "pruned": {"cutoff": 400, "retrain": False}}.items():
        model = fasttext.train_supervised(str(lines), **SMALL, wordNgrams=2)
        model.quantize(input=str(lines), dsub=2, **knobs)
        found[kind] = (model, folder / f"{kind}.ftz")
        model.save_model(str(found[kind][1]))
    return found


def by_fasttext(model, texts, label):
    """fastText's own probability: it adds 1e-5 before a logarithm, and never takes it away."""
    return [dict(zip(*model.predict(text.replace("\n", " "), k=-1), strict=True))[label] - 1e-5 for text in texts]


@pytest.mark.parametrize("kind", [*KINDS, "quantized", "pruned"])
def test_scores_are_those_of_fasttext_on_real_texts(models, real_texts, kind):
    model, path = models[kind]
    for label in (HIGH, LOW):
        found = probabilities(array(real_texts), model=path, label=label, key="label")
        assert found == pytest.approx(by_fasttext(model, real_texts, label), abs=2e-6)


@pytest.mark.parametrize("kind", ["both", "pruned"])
def test_scores_are_those_of_fasttext_on_nasty_texts(models, nasty_texts, kind):
    model, path = models[kind]

    @given(nasty_texts)
    def law(texts):
        texts = [*texts, *(f"a {mark} {text}" for text in texts for mark in ("</s>", "__label__hq", "__label__x"))]
        found = probabilities(array(texts), model=path, label=HIGH, key="label")
        assert found == pytest.approx(by_fasttext(model, texts, HIGH), abs=2e-6)

    law()


def test_a_label_that_the_model_lacks_is_named_with_those_it_has(models):
    with pytest.raises(RecipeError, match=r"filter\.quality\.label = '__label__x': .*take one of \['__label__"):
        probabilities(array(["a"]), model=models["words"][1], label="__label__x", key="filter.quality.label")


def test_another_loss_and_another_kind_of_file_are_refused(tmp_path, lines):
    fasttext.train_supervised(str(lines), **SMALL | {"loss": "hs"}).save_model(str(tmp_path / "tree.bin"))
    with pytest.raises(RecipeError, match=r"tree\.bin: loss 1, but only softmax"):
        probabilities(array(["a"]), model=tmp_path / "tree.bin", label=HIGH, key="label")
    for name, data in (("empty.bin", b""), ("text.bin", b"no model, but long enough to hold a header of one")):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(RecipeError, match=rf"{name}: begins with .* a fastText model with"):
            probabilities(array(["a"]), model=tmp_path / name, label=HIGH, key="label")


# ---- training


def paragraphs(real_texts):
    return list(dict.fromkeys(p for text in real_texts for p in text.split("\n\n") if len(p) > 150))


@pytest.fixture(scope="session")
def parts(documents_of, real_texts):
    """Two parts of each class: paragraphs, and paragraphs read backwards. No id is there twice."""
    texts = paragraphs(real_texts)[:600]
    made = []
    for at in range(4):
        own = texts[at * 150 : (at + 1) * 150]
        table = documents_of(own if at % 2 else [t[::-1] for t in own])
        ids = pa.array([f"{at:08d}{row:08d}".encode() for row in range(len(table))], pa.binary(16))
        made.append((bool(at % 2), table.set_column(0, table.schema.field("id"), ids)))
    return made


SETTINGS = QualityModel(positive=("a",), negative=("b",), dim=8, bucket=2000, epoch=10, held_out=0.25)


def chosen(parts, settings=SETTINGS):
    ids = [np.array(table.column("id").to_pylist(), "S16").view("V16") for _, table in parts]
    return choose(ids, [good for good, _ in parts], settings=settings)


def examples(parts, settings=SETTINGS):
    found = chosen(parts, settings)
    rows = pa.concat_tables([own.table(table) for own, (_, table) in zip(found, parts, strict=True)])
    numbers = rows.column("bucket").to_numpy()
    return [rows.filter(pa.array(numbers == b)).drop_columns(["bucket"]) for b in range(16)]


def train(parts, folder, settings=SETTINGS):
    return train_quality(examples(parts, settings), settings=settings, folder=folder)


@pytest.fixture(scope="session")
def trained(parts, tmp_path_factory):
    return train(parts, tmp_path_factory.mktemp("trained"))


def test_training_twice_gives_the_same_bytes_whatever_the_order_of_parts(parts, trained, tmp_path):
    again = train(parts[::-1], tmp_path)
    assert again.model.read_bytes() == trained.model.read_bytes()
    assert (again.facts, again.counts, again.report) == (trained.facts, trained.counts, trained.report)


@pytest.mark.parametrize("change", [{"seed": 2}, {"lr": 0.2}, {"word_ngrams": 1}, {"per_class": 100}])
def test_each_setting_makes_another_model(parts, trained, tmp_path, change):
    other = train(parts, tmp_path, SETTINGS.model_copy(update=change))
    assert other.model.read_bytes() != trained.model.read_bytes()


def test_it_tells_prose_from_prose_read_backwards(trained):
    assert trained.facts["auc"] > 0.9
    assert sum(h.counts[0] + sum(h.counts[1:]) for h in trained.report.histograms.values()) == (
        trained.counts["held_out:good"] + trained.counts["held_out:ordinary"]
    )


@pytest.mark.parametrize("per_class", [50, 1000])
def test_the_sample_is_balanced_and_its_sides_are_apart(parts, per_class):
    found = chosen(parts, SETTINGS.model_copy(update={"per_class": per_class}))
    taken = {good: sum(len(own.rows) for own in found if own.good == good) for good in (True, False)}
    assert taken[True] == taken[False] == min(per_class, *(sum(len(t) for g, t in parts if g == k) for k in taken))
    share = np.mean(np.concatenate([own.held_out for own in found]))
    assert 0.1 < share < 0.45
    for own in found:
        assert (np.diff(own.rows) > 0).all()


def test_a_document_keeps_its_side_and_its_place_when_others_come(parts):
    few, many = chosen(parts[:2]), chosen(parts)
    for own, same in zip(few, many[:2], strict=True):  # all are taken: there are fewer than per_class
        assert own.rows.tolist() == same.rows.tolist()
        assert own.held_out.tolist() == same.held_out.tolist()
        assert own.order.tolist() == same.order.tolist()


def test_no_text_that_was_learnt_is_measured(documents_of, tmp_path):
    tables = []
    for at, word in enumerate(("good", "plain")):
        table = documents_of([f"{word} text number {row % 40}" for row in range(200)])
        ids = pa.array([f"{at:08d}{row:08d}".encode() for row in range(200)], pa.binary(16))
        tables.append((not at, table.set_column(0, table.schema.field("id"), ids)))
    taken = examples(tables)
    done = train_quality(taken, settings=SETTINGS, folder=tmp_path)
    rows = pa.concat_tables(taken).to_pylist()
    learnt = {row["text"] for row in rows if not row["held_out"]}
    left = [row for row in rows if row["held_out"] and row["text"] not in learnt]
    assert done.counts["held_out:good"] + done.counts["held_out:ordinary"] == len(left) < 100
    assert done.counts["train:good"] + done.counts["train:ordinary"] == sum(not row["held_out"] for row in rows)


def test_too_few_examples_make_no_model(parts, tmp_path):
    done = train([(good, table.slice(0, 4)) for good, table in parts], tmp_path)
    assert done.model is None
    assert done.counts["train:good"] < 10


def test_a_word_that_looks_like_a_label_teaches_nothing(parts, tmp_path):
    poisoned = [
        (good, table.set_column(1, "text", array([f"{LOW} {t}" for t in table.column("text").to_pylist()])))
        for good, table in parts
    ]
    assert train(poisoned, tmp_path).facts["auc"] > 0.9


# ---- what scores are worth

scores_and_truth = st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=2, max_size=30).filter(
    lambda rows: len({good for _, good in rows}) == 2
)


@given(scores_and_truth)
def test_auc_is_the_share_of_pairs_in_the_right_order(rows):
    scores, good = np.array([s for s, _ in rows], np.float32) / 5, np.array([g for _, g in rows])
    pairs = [(a > b) + (a == b) / 2 for a in scores[good] for b in scores[~good]]
    assert auc(scores, good) == pytest.approx(np.mean(pairs))


@given(scores_and_truth)
def test_precision_and_recall_are_plain_counts(rows):
    scores, good = np.array([s for s, _ in rows], np.float32) / 5, np.array([g for _, g in rows])
    for row in measured(scores, good)["thresholds"]:
        above = [g for s, g in zip(scores, good, strict=True) if s >= row["threshold"]]
        assert row["share"] == pytest.approx(len(above) / len(rows))
        assert row["recall"] == pytest.approx(sum(above) / sum(good))
        assert row["precision"] == (pytest.approx(sum(above) / len(above)) if above else None)


# ---- the rule


def signals_of(scores, ids):
    return pa.table({"id": pa.array(ids, pa.binary(16)), "quality_score": pa.array(scores, pa.float32())})


@given(st.lists(st.integers(0, 4), min_size=1, max_size=60), st.integers(1, 1000), st.randoms(), st.booleans())
def test_a_share_holds_exactly_so_many_the_best_first_whatever_the_parts(values, thousandths, random, lowest):
    ids = [bytes([random.randrange(4)]) * 8 + i.to_bytes(8, "big") for i in range(len(values))]
    random.shuffle(ids)
    table, fraction = signals_of([v / 4 for v in values], ids), thousandths / 1000
    found = cut(table, "quality_score", fraction=fraction, lowest=lowest)
    at = random.randrange(len(values) + 1)
    held = [*found.holds(table.slice(0, at), "quality_score"), *found.holds(table.slice(at), "quality_score")]
    order = sorted(range(len(values)), key=lambda i: (values[i] if lowest else -values[i], ids[i]))
    wanted = -(-thousandths * len(values) // 1000)
    assert {i for i, h in enumerate(held) if h} == set(order[:wanted])


@pytest.fixture(scope="session")
def documents(documents_of, real_texts):
    return documents_of(paragraphs(real_texts)[:80] * 2)


def test_the_score_is_a_column_and_both_limits_judge_by_it(models, documents):
    path = str(models["bigrams"][1])
    by_score = Filter(quality=Quality(model=path, min_score=0.6))
    signals, _ = measure(documents, settings=by_score)
    scores = signals.column("quality_score").to_numpy()
    assert signals.schema.field("quality_score") == pa.field("quality_score", pa.float32(), nullable=False)
    judged, report = judge(documents, signals, settings=by_score)
    assert [r == "quality:low_score" for r in judged["reason"].to_pylist()] == (scores.astype(float) < 0.6).tolist()
    assert report.histograms["quality_score"].limits == (0.6,)

    by_share = Filter(quality=Quality(model=path, keep_fraction=0.1))
    assert ranked(by_share) == ["id", "language", "quality_score"]
    found = cuts(signals, settings=by_share)
    judged, report = judge(documents, signals, settings=by_share, cuts=found)
    kept = np.array(judged["reason"].to_pylist()) == ""
    assert kept.sum() == 16
    assert scores[kept].min() >= scores[~kept].max()
    assert report.histograms["quality_score"].limits == pytest.approx((scores[kept].min(),))
    assert report.samples["quality:low_score"][0]["limit"] == pytest.approx(scores[kept].min())


def test_a_language_with_settings_of_its_own_has_a_share_of_its_own(models, documents):
    path, codes = str(models["bigrams"][1]), ["en", "de", None, "fr"]
    settings = Filter(
        quality=Quality(model=path, keep_fraction=0.1),
        languages={"de": {"quality": {"keep_fraction": 0.5}}, "fr": {"quality": None}},
    )
    signals, _ = measure(documents, settings=settings)
    labels = [codes[row % 4] for row in range(len(signals))]
    place = signals.column_names.index("language")
    signals = signals.set_column(place, "language", pa.array(labels, pa.string()))
    found = cuts(signals.select(ranked(settings)), settings=settings)
    first, rest = slice(0, 50), slice(50, None)
    kept = dict.fromkeys(codes, 0)
    for rows in (first, rest):
        own = [t.slice(rows.start, len(labels[rows])) for t in (documents, signals)]
        table, _ = judge(*own, settings=settings, cuts=found)
        for code, reason in zip(labels[rows], table["reason"].to_pylist(), strict=True):
            kept[code] += reason == ""
    assert kept["fr"] == 40
    assert kept["de"] == 20
    assert kept["en"] + kept[None] == 8


def test_a_share_without_the_partition_is_refused(models, documents):
    settings = Filter(quality=Quality(model=str(models["bigrams"][1]), keep_fraction=0.1))
    signals, _ = measure(documents, settings=settings)
    with pytest.raises(AssertionError, match="share of the partition"):
        judge(documents, signals, settings=settings)


def test_what_is_measured_knows_label_and_bytes_of_the_model_but_no_limit(models, tmp_path):
    first = measured_by(Filter(quality=Quality(model=str(models["words"][1]))))
    copied = tmp_path / "elsewhere.bin"
    copied.write_bytes(Path(models["words"][1]).read_bytes())
    assert first == measured_by(Filter(quality=Quality(model=str(copied), min_score=0.9)))
    assert first == measured_by(Filter(quality=Quality(model=str(copied), keep_fraction=0.2)))
    assert first != measured_by(Filter(quality=Quality(model=str(models["bigrams"][1]))))
    assert first != measured_by(Filter(quality=Quality(model=str(copied), label=LOW)))
    with pytest.raises(RecipeError, match=r"filter\.quality\.model = .*: no such file"):
        measured_by(Filter(quality=Quality(model="/nowhere.bin")))
