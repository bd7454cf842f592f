"""`tune` tells what a build with other thresholds then counts, to the document, and writes nothing."""

import gzip
import json
import shutil
import tempfile
from collections import Counter
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from small_corpus import SNAPSHOTS, write_corpus, write_recipe

from dataassets.cli.tune import CHARS_PER_TOKEN, compared, tried
from dataassets.compute import Executor
from dataassets.recipe import Change, changed, load
from dataassets.runner import Work
from dataassets.runner.trying import Tuner
from dataassets.store import split_key

RULES = {
    "length": {"min": 200, "max": 20000},
    "language": {"keep": ["en"], "min_score": 0.3},
    "gopher_repetition": {},
    "gopher_quality": {"min_alpha_words": 0.6},
    "c4": {"terminal_punct": False, "curly_bracket": False},
    "fineweb": {"line_punct_ratio": 0.05, "short_line_ratio": 0.9, "char_dup_ratio": 0.3},
    "line_filter": {"min_kept": 0.2},
    "code": {"max_ratio": 0.9},
}
REFUSED = (
    ["short."] * 3 + ["again and again the same line\n" * 40] * 2 + ["Der braune Fuchs springt und läuft davon. " * 20]
)
KEYS = [f"{snapshot}|{source}" for snapshot in SNAPSHOTS[:2] for source in ("notes", "books")]
CHANGES = {
    "filter.length.min": st.integers(0, 5000),
    "filter.length": st.fixed_dictionaries({"max": st.integers(100, 9000)}),
    "filter.language.keep": st.lists(st.sampled_from(["en", "de", "fr"]), min_size=1),
    "filter.language.min_score": st.floats(0, 1),
    "filter.gopher_quality.min_words": st.integers(1, 900),
    "filter.gopher_quality.max_symbol_ratio": st.none() | st.floats(0, 0.2),
    "filter.gopher_repetition.dup_n_grams.5": st.floats(0, 0.5),
    "filter.c4.min_sentences": st.integers(0, 60),
    "filter.fineweb.line_punct_ratio": st.floats(0, 0.5),
    "filter.line_filter.min_kept": st.floats(0, 1),
    "filter.code.max_ratio": st.floats(0, 1),
    "sources.books.filter.length.min": st.integers(0, 5000),
    "sources.notes.filter.fineweb": st.just({}),
    "filter.languages.de.length.min": st.integers(0, 2000),
    "filter.languages.en": st.fixed_dictionaries({"c4": st.just({"min_sentences": 9}), "fineweb": st.none()}),
}
CHANGE = st.one_of([values.map(lambda v, key=key: Change(key, v)) for key, values in CHANGES.items()])
REMOVAL = st.sampled_from([f"filter.{rule}" for rule in RULES if rule != "c4"]).map(
    lambda key: Change(key, is_removed=True)
)


def work_of(file):
    return Work(load(file), executor=Executor("inline"))


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """The recipe of a corpus made up to `filtered`, with documents that rules refuse."""
    folder = tmp_path_factory.mktemp("measured")
    write_corpus(folder, snapshots=SNAPSHOTS[:2])
    for snapshot in SNAPSHOTS[:2]:
        rows = "\n".join(
            json.dumps({"text": text, "url": f"https://bad.example/{n}"}) for n, text in enumerate(REFUSED)
        )
        (folder / "notes" / snapshot / "part-2.jsonl.gz").write_bytes(gzip.compress(rows.encode()))
    window = {"start": SNAPSHOTS[0], "end": SNAPSHOTS[1], "cadence": "monthly"}
    file = write_recipe(folder, snapshots=window, filter=RULES)
    filtered(work_of(file), ("raw", "cleaned", "signals", "filtered"))
    return file


def filtered(work, products=("filtered",)):
    """Ids to reasons of all documents by source, as a build makes them: "" where one is kept."""
    found = {}
    for key in KEYS:
        for product in products:
            work.run(product, key)
        own = found.setdefault(split_key(key)[1], {})
        for dropped in (False, True):
            for table in work.store.read_parts("filtered", key, dropped=dropped):
                reasons = table["reason"].to_pylist() if dropped else [""] * len(table)
                own.update(zip([i.hex() for i in table["id"].to_pylist()], reasons, strict=True))
    return found


def tree(folder):
    return sorted((str(p), p.stat().st_mtime_ns) for p in folder.rglob("*"))


@settings(max_examples=10)
@given(changes=st.lists(CHANGE, min_size=1, max_size=3, unique_by=lambda c: c.key) | REMOVAL.map(lambda c: [c]))
def test_what_tune_tells_is_what_a_build_counts_by_source_and_reason(measured, changes):
    now, located = filtered(work_of(measured)), load(measured)
    answer = tried(located, changes, num_samples=10**6)
    with tempfile.TemporaryDirectory() as folder:
        variant = Path(shutil.copytree(measured.parent, folder, dirs_exist_ok=True)) / measured.name
        variant.write_text(yaml.safe_dump(dict(changed(located, changes).data)))
        then = filtered(work_of(variant), ("signals", "filtered"))
    for row in answer["sources"]:
        before, after = now[row["source"]], then[row["source"]]
        assert row["documents"] == len(before) == len(after)
        assert row["kept_now"] == list(before.values()).count("")
        assert row["kept_then"] == list(after.values()).count("")
        assert row["newly_dropped"] == sum(not before[i] and bool(after[i]) for i in before)
        assert row["newly_kept"] == sum(bool(before[i]) and not after[i] for i in before)
    for when, built in (("now", now), ("then", then)):
        counts = Counter(reason for own in built.values() for reason in own.values() if reason)
        assert {row["reason"]: row[when] for row in answer["reasons"] if row[when]} == counts
    moved = {
        (source, i, before[i] or "kept", then[source][i] or "kept")
        for source, before in now.items()
        for i in before
        if (before[i] == "") != (then[source][i] == "")
    }
    assert {(row["source"], row["id"], row["now"], row["then"]) for row in answer["samples"]} == moved
    assert len(answer["samples"]) == len(moved)


def test_samples_are_few_of_all_sources_and_tell_value_limit_and_text(measured):
    answer = tried(load(measured), [Change("filter.gopher_quality.min_words", 500)], num_samples=2)
    assert {row["source"] for row in answer["samples"]} == {"notes", "books"}
    assert len(answer["samples"]) == 2
    for row in answer["samples"]:
        assert (row["now"], row["then"]) == ("kept", "gopher_quality:gopher_short_doc")
        assert (row["signal"], row["limit"]) == ("num_nonsymbol_words", 500)
        assert row["value"] < 500
        assert len(row["text"]) > 50


def test_a_sweep_keeps_what_each_value_keeps_alone(measured):
    located, values = load(measured), [0, 300, 500, 10**6]
    answer = compared(located, [], key="filter.gopher_quality.min_words", values=values)
    told = [row["kept"] for row in answer["values"]]
    alone = [tried(located, [Change("filter.gopher_quality.min_words", v)])["total"]["kept_then"] for v in values]
    assert told[1:] == alone
    assert told[0] == tried(located, [Change("filter.length.min", 200)])["total"]["kept_now"]
    assert sorted(alone, reverse=True) == alone
    assert alone[0] > alone[-1] == 0


def test_tokens_are_by_what_is_tokenized_else_by_a_mean(measured, run, built):
    [notes, books] = tried(load(measured), [Change("filter.length.min", 300)])["sources"]
    assert notes["tokens_by"] == books["tokens_by"] == f"{CHARS_PER_TOKEN} characters a token"
    located, tuner = load(built / "recipe.yaml"), Tuner(load(built / "recipe.yaml"))
    answer = tried(located, [Change("filter.length.min", 0)])
    for row in answer["sources"]:
        keys = [k for k in tuner.corpus.partitions("tokenized") if split_key(k)[1] == row["source"]]
        filtered_, tokenized = (
            sum(tuner.store.manifest(p, k).counts[name] for k in keys)
            for p, name in (("filtered", "documents"), ("tokenized", "documents"))
        )
        tokens = sum(tuner.store.manifest("tokenized", k).counts["tokens"] for k in keys)
        assert row["tokens_by"] == "tokenized"
        assert tokens <= row["tokens_now"] * 1.02
        if filtered_ == tokenized:  # nothing was a duplicate: the mean is that of the very documents
            assert row["tokens_now"] == pytest.approx(tokens, rel=0.02)


def test_the_command_prints_tables_or_json_and_writes_nothing(measured, run):
    before = tree(measured.parent)
    arguments = ("tune", measured, "--set", "filter.gopher_quality.min_words=500")
    shown, plain = run(*arguments), run(*arguments, "--json")
    answer = json.loads(plain.stdout)
    assert answer == tried(load(measured), [Change("filter.gopher_quality.min_words", 500)])
    for number in (answer["total"]["newly_dropped"], answer["total"]["tokens_then"]):
        assert f"{number:,}" in shown.stdout
    assert "newly dropped by gopher_quality:gopher_short_doc" in shown.stdout
    assert "filter.gopher_quality: {min_alpha_words: 0.6, min_words: 500}" in shown.stdout
    swept = run("tune", measured, "--sweep", "filter.gopher_quality.min_words=0,500", "--unset", "filter.fineweb")
    assert [line.split("│")[1].strip() for line in swept.stdout.splitlines() if "│" in line] == ["now", "0", "500"]
    assert tree(measured.parent) == before


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "nothing to try"),
        (["--set", "filter.length.mn=3"], "filter.length.mn = 3: no such key; did you mean min?"),
        (["--set", "filter.length.min=many"], "filter.length.min = 'many': a whole number is wanted"),
        (["--set", "clean.pii=drop"], "take a key under filter or sources.<name>.filter"),
        (["--set", "sources.web.filter.length.min=3"], "no source 'web'; take one of ['books', 'notes']"),
        (["--set", "filter.length.min.x=3"], "filter.length.min is 200, which has no keys"),
        (["--set", "filter.length.min"], "no KEY=VALUE"),
        (["--unset", "filter.languages"], "the recipe writes no languages there"),
        (["--sweep", "filter.length.min="], "no KEY=VALUE,VALUE"),
        (["--set", "filter.length.min=3", "--partition", "x"], "signals has no partition 'x'"),
        (["--set", "filter.gopher_quality.stop_words=[a]"], "other signals (standard.stop_words, of notes)"),
        (["--set", "filter.c4.javascript=false"], "write it into a recipe and measure anew: dataassets build"),
    ],
)
def test_what_cannot_be_tried_is_refused_with_the_mend(measured, run, arguments, said):
    result = run("tune", measured, *arguments)
    assert result.exit_code == 2
    assert said in result.stderr


def test_without_signals_it_says_what_to_build_and_with_some_what_it_left_out(measured, run, tmp_path):
    copy = shutil.copytree(measured.parent, tmp_path / "copy")
    change = ("--set", "filter.length.min=300")
    shutil.rmtree(copy / "data/signals/snapshot=2026-09-01")
    some = run("tune", copy / "recipe.yaml", *change)
    assert some.exit_code == 0
    left_out = "2 partitions (2026-09-01|notes, 2026-09-01|books)"
    assert f"not counted, as their signals are not there or stale: {left_out}" in some.stdout
    one = run("tune", copy / "recipe.yaml", *change, "--partition", "2026-09-01|notes")
    assert one.exit_code == 2
    assert "--stage signals --partition '2026-09-01|notes'" in one.stderr
    shutil.rmtree(copy / "data/signals")
    none = run("tune", copy / "recipe.yaml", *change)
    assert none.exit_code == 2
    assert "signals 2026-08-01|notes are not there; measure first: dataassets build" in none.stderr
