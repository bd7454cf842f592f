"""The whole road with rules that read files of the user's own: evaluation sets, and functions in a module."""

import base64
import json
import re
import shutil
from pathlib import Path

import pytest
from small_corpus import topic_texts, write_corpus, write_recipe

from dataassets.cli import telling
from dataassets.compute import Executor
from dataassets.defs import pictures
from dataassets.recipe import Located, load
from dataassets.runner import PROMISES, Work

KEY = "2026-08-01|notes"
CHAIN = ("raw", "cleaned", "signals", "filtered")
EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "custom_filter.py"
ASKED = " ".join(topic_texts()[3].split()[20:60])  # stands in the first snapshot
FILTER = {
    "length": {"min": 200},
    "decontamination": {"files": ["eval/asked.jsonl"]},
    "custom": {
        "readability": {
            "function": "custom_filter:readability",
            "settings": {"ads": ["method", "object"]},
            "signals": {"flesch": {"min": 32}, "ads": {"max": 0.03}},
        }
    },
}


@pytest.fixture
def located(tmp_path: Path) -> Located:
    write_corpus(tmp_path)
    shutil.copy(EXAMPLE, tmp_path)
    (tmp_path / "eval").mkdir()
    rows = [{"question": "Too short to match"}, {"question": ASKED.upper(), "answer": 3}]
    (tmp_path / "eval" / "asked.jsonl").write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    return load(write_recipe(tmp_path, filter=FILTER))


def changed(located: Located, filters: object, **changes: object) -> Located:
    return load(write_recipe(located.file.parent, filter=filters, **changes))


def build(work: Work) -> dict[str, bool]:
    return {product: work.run(product, KEY).skipped for product in CHAIN}


def test_they_judge_like_the_others_in_processes_too(located, tmp_path_factory):
    inline = Work(located, executor=Executor("inline"))
    build(inline)
    moved = tmp_path_factory.mktemp("elsewhere") / "deeper"
    shutil.copytree(located.file.parent, moved, ignore=shutil.ignore_patterns("data"))
    with Executor("process", workers=2) as executor:
        spawned = Work(load(moved / "recipe.yaml"), executor=executor)
        build(spawned)
    for product in CHAIN:
        assert spawned.store.manifest(product, KEY) == inline.store.manifest(product, KEY)
    signals = next(inline.store.read_parts("signals", KEY))
    assert signals.column_names[-2:] == ["readability_ads", "readability_flesch"]
    done = inline.run("filtered", KEY)
    assert set(done.manifest.dropped) >= {
        "decontamination:asked", "readability:flesch_below", "readability:ads_above",
    }  # fmt: skip
    assert [check.name for check in done.checks if check.passed] == [p.name for p in PROMISES["filtered"]]
    counts = done.report.counts
    assert counts["kept_after:readability"] == done.manifest.counts["documents"]
    assert counts["kept_after:length"] > counts["kept_after:decontamination"] > counts["kept_after:readability"] > 0
    (sample, *_) = done.report.samples["decontamination:asked"]
    assert sample["value"] == "asked:2"
    assert sample["match"] in " ".join(topic_texts()[3].split())
    assert done.report.histograms["readability_flesch"].limits == (32,)
    plot = pictures.of_product(done.manifest, done.report)["plot"]
    svg = base64.b64decode(plot.partition("base64,")[2].rstrip(")")).decode()
    took = ["cleaned", "decontamination", "readability"]  # `length` drops nothing here
    assert re.findall(r"[a-z]+(?=(?:, −[\d,]+)?</text>)", svg) == took


def test_what_became_of_a_document_is_told_with_value_and_limit(located):
    work = Work(located, executor=Executor("inline"))
    build(work)
    manifest = work.store.manifest("filtered", KEY)
    told = {}
    for part in range(len(manifest.dropped_files)):
        dropped = [*work.store.read_parts("filtered", KEY, dropped=True)][part]
        signals = [*work.store.read_parts("signals", KEY)][part]
        for row in range(len(dropped)):
            own = dropped.slice(row, 1)
            measured = signals.filter([i == own["id"][0].as_py() for i in signals["id"].to_pylist()])
            told[own["reason"][0].as_py()] = telling.record(manifest, own, was_dropped=True, signals=measured)
    assert "decontamination:asked (decontamination_item asked:2)" in told["decontamination:asked"]
    assert ", limit 32)" in told["readability:flesch_below"]
    kept = next(work.store.read_parts("filtered", KEY)).slice(0, 1)
    line = telling.record(manifest, kept, was_dropped=False, signals=None)
    assert line.startswith("passed length, decontamination, readability; ")


def test_thresholds_judge_again_and_files_are_measured_again(located):
    build(Work(located, executor=Executor("inline")))
    own = FILTER["custom"]["readability"]
    looser = FILTER | {
        "decontamination": FILTER["decontamination"] | {"action": "mask"},
        "custom": {"readability": own | {"signals": {"flesch": {}, "ads": {"max": 0.5}}}},
    }
    work = Work(changed(located, looser), executor=Executor("inline"))
    assert build(work) == {"raw": True, "cleaned": True, "signals": True, "filtered": False}
    done = work.run("filtered", KEY)
    assert done.report.counts["decontamination:masked:asked"] >= 1
    texts = [text for part in work.store.read_parts("filtered", KEY) for text in part["text"].to_pylist()]
    assert sum("[…]" in text for text in texts) == done.report.counts["decontamination:masked:asked"]
    assert not any(ASKED in " ".join(text.split()) for text in texts)
    module = located.file.parent / "custom_filter.py"
    module.write_text(module.read_text() + "\n# another line\n")
    assert build(work) == {"raw": True, "cleaned": True, "signals": False, "filtered": True}  # equal signals
    (located.file.parent / "eval" / "asked.jsonl").write_text(json.dumps({"question": ASKED}))
    assert build(work) == {"raw": True, "cleaned": True, "signals": False, "filtered": False}
