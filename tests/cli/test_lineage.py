"""Lineage to the token: what `explain` names is what the bytes hold, and every document can be followed."""

import json
import re
from collections import Counter

import numpy as np
import pyarrow.compute as pc
import pytest

from dataassets.cli import lineage
from dataassets.recipe import load
from dataassets.stages.tokenize.vocabulary import encoding
from dataassets.store import Store, partition_key, split_key
from loader import BatchStream, TokenDataset

T, B = 96, 3
LINE = re.compile(r"tokens (\d+)-(\d+) +(\w+)  ([0-9a-f]{32})  (no url|\S+)")
PLACE = re.compile(r" +document ([\d,]+) of (\S+?)\.bin(?: from its token ([\d,]+) on)?")


@pytest.fixture(scope="module")
def store(built):
    return Store.at(load(built / "recipe.yaml").root)


@pytest.fixture(scope="module")
def texts(store):
    """Text and url of each deduplicated document, by id."""
    found = {}
    for manifest in manifests(store, "deduped"):
        for table in store.read_parts("deduped", manifest.partition):
            source = split_key(manifest.partition)[1]
            found |= {r["id"].hex(): (r["text"], r["url"] or "no url", source) for r in table.to_pylist()}
    return found


def manifests(store, product):
    keys = [partition_key(s, x) for s in ("2026-08-01", "2026-09-01") for x in ("notes", "books")]
    return [store.manifest(product, key) for key in keys]


@pytest.fixture(scope="module")
def trained(built, tmp_path_factory):
    """Batches of two ranks and the state after them, as a training would save it."""
    data = TokenDataset(built / "data/mixed/pretrain", split="train", seq_len=T)
    batches = {}
    for rank in (0, 1):
        stream = BatchStream(data, batch_size=B, seed=5, rank=rank, world_size=2)
        for step, batch in zip(range(7), stream, strict=False):
            batches[step, rank] = np.array(batch["input_ids"])
        state = stream.state_dict()
    file = tmp_path_factory.mktemp("trained") / "state.json"
    file.write_text(json.dumps(state))
    return file, batches


def explained(run, built, file, *options):
    result = run("explain", built / "data/mixed/pretrain", "--state", file, *options)
    assert result.exit_code == 0, result.output
    return result.stdout


# ---- rows


def test_the_documents_named_for_a_row_hold_its_tokens(run, built, trained, texts):
    file, batches = trained
    gpt2 = encoding()
    for (step, rank), ids_BT in batches.items():
        for row in (0, B - 1):
            told = explained(run, built, file, "--step", step, "--rank", rank, "--row", row)
            named, at = LINE.findall(told), PLACE.findall(told)
            assert len(named) == len(at)
            assert int(named[-1][1]) == T - 1
            tokens = []
            for (first, last, source, doc, url), (_, _, offset) in zip(named, at, strict=True):
                text, true_url, true_source = texts[doc]
                assert (url, source) == (true_url, true_source)
                start = int(offset.replace(",", "") or 0)
                whole = [*gpt2.encode_ordinary(text), gpt2.eot_token]
                assert int(first) == len(tokens)
                tokens += whole[start : start + int(last) - int(first) + 1]
            assert tokens == ids_BT[row].tolist()


def test_the_default_step_is_the_last_one_delivered(run, built, trained):
    file, _ = trained
    last = explained(run, built, file)
    assert LINE.findall(last) == LINE.findall(explained(run, built, file, "--step", 6))
    assert "rank 0, row 0: 96 tokens in input_ids" in last
    assert f"--doc {LINE.findall(last)[0][3]}" in last


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--step", 10**6], "step = 1000000 of epoch 0, wanted 0 to"),
        (["--rank", 2], "rank = 2, wanted 0 to world_size - 1 = 1"),
        (["--row", B], f"row = {B}, wanted 0 to batch_size - 1 = {B - 1}"),
        (["--step", -1], "-1 is not in the range"),
    ],
)
def test_a_place_that_is_not_there_is_refused_with_the_range(run, built, trained, options, said):
    result = run("explain", built / "data/mixed/pretrain", "--state", trained[0], *options)
    assert (result.exit_code, said in result.stderr) == (2, True), result.output


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "is no JSON"),
        ("[1]", "holds a list, no loader state"),
        ('{"model": 1}', "holds an object with keys ['model'], no loader state"),
        (b"\x80\x02PK", "is no JSON"),
        (None, "No such file"),
    ],
)
def test_a_file_that_is_no_state_is_refused_with_what_it_is(run, built, tmp_path, content, said):
    file = tmp_path / "state.json"
    if content is not None:
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
    result = run("explain", built / "data/mixed/pretrain", "--state", file)
    assert result.exit_code == 2
    assert f"{file}: {said}" in result.stderr
    assert "json.dumps(loader.state_dict())" in result.stderr


def test_a_state_of_other_data_is_refused(run, built, trained, tmp_path):
    state = json.loads(trained[0].read_text())
    other = tmp_path / "state.json"
    other.write_text(json.dumps(state | {"data": "0" * 64}))
    result = run("explain", built / "data/mixed/pretrain", "--state", other)
    assert result.exit_code == 2
    assert "state was saved at data = '0000" in result.stderr


# ---- documents


def products_of(output):
    return [line.split()[0] for line in output.splitlines()[1:]]


def test_every_document_of_the_mix_is_followed_from_its_file_to_each_place_it_stands(built, store):
    folder = store.folder("mixed", "pretrain")
    entries = store.manifest("mixed", "pretrain").files
    docs = [e.name for e in entries if e.name.endswith(".docs.parquet")]
    places = Counter(i.tobytes().hex() for name in docs for i in store.read_ids(f"{folder}/{name}"))
    assert len(places) > 15
    for doc in sorted(places):
        first, *lines = lineage.of_document(built / "data", doc)
        assert first == f"document {doc}"
        names = [line.split()[0] for line in lines]
        wanted = ["raw", "cleaned", "signals", "filtered", "signatures", "deduped", "tokenized"]
        assert [n for n in names if n != "mixed"] == wanted
        told = [line.rpartition(": document")[2].removeprefix("s") for line in lines if line.startswith("mixed")]
        assert sum(len(t.split(", ")) for t in told) == places[doc]


def test_a_document_dropped_by_a_rule_is_told_with_its_measure_and_the_limit(run, built, store):
    seen = 0
    for manifest in manifests(store, "filtered"):
        for table in store.read_parts("filtered", manifest.partition, dropped=True):
            for row in table.to_pylist():
                output = run("explain", built / "data", "--doc", row["id"].hex()).stdout
                assert products_of(output) == ["raw", "cleaned", "signals", "filtered"]
                (signals,) = (
                    s
                    for t in store.read_parts("signals", manifest.partition)
                    for s in t.filter(pc.equal(t["id"], row["id"])).to_pylist()
                )
                assert row["reason"] == "language:low_score"
                told = f"dropped, language:low_score (language_score {signals['language_score']:.4g}, limit 0.3)"
                assert told in output.splitlines()[-1]
                seen += 1
    assert seen


def test_a_repetition_names_the_kept_document_with_its_address(run, built, store):
    addresses = {
        r["id"]: r["url"] or r["origin"]
        for m in manifests(store, "filtered")
        for t in store.read_parts("filtered", m.partition)
        for r in t.to_pylist()
    }
    rows = [r for t in store.read_parts("duplicates", "2026-08-01") for r in t.to_pylist()]
    assert len(rows) >= 6
    for row in rows:
        output = run("explain", built / "data/mixed/pretrain", "--doc", row["id"].hex().upper()).stdout
        assert products_of(output)[-2:] == ["duplicates", "deduped"]
        where = f"repeats {row['match_id'].hex()} of {row['match_source']}, {addresses[row['match_id']]}, "
        assert where + f"similarity {row['similarity']:.3f}" in output or where + "the same text" in output
        assert f"dropped, {row['reason']}" in output.splitlines()[-1]


@pytest.mark.parametrize(
    ("place", "arguments", "said"),
    [
        ("data", ["--doc", "00"], "--doc '00' is no id; give the 32 hex digits"),
        ("data", ["--doc", "z" * 32], "is no id"),
        ("data", ["--doc", "0" * 32], "no product holds document"),
        ("notes", ["--doc", "0" * 32], "neither a root of products nor a product in one"),
        ("nope", ["--doc", "0" * 32], "no such folder"),
        ("data", [], "give either --state FILE"),
        ("data", ["--doc", "0" * 32, "--state", "s.json"], "give either --state FILE"),
        ("data", ["--doc", "0" * 32, "--row", 1], "leave them out with --doc"),
    ],
)
def test_what_cannot_be_explained_is_refused_with_what_to_give(run, built, place, arguments, said):
    result = run("explain", built / place, *arguments)
    assert (result.exit_code, said in result.stderr) == (2, True), result.output


def test_in_a_pipe_no_id_url_or_reason_is_cut(run, built, texts):
    doc, (_, url, _) = next((d, t) for d, t in texts.items() if t[1] != "no url")
    lines = run("explain", built / "data", "--doc", doc).stdout.splitlines()
    assert any(line.startswith("raw ") and line.endswith(url) for line in lines)
