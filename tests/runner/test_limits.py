"""Limits of the checks on `filtered`: each speaks where its number passes the recipe's, and blocks where told to."""

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from dataassets.compute import Executor
from dataassets.recipe import Checks, RecipeError, load
from dataassets.report import Report
from dataassets.runner import ChecksFailedError, Work, limits
from dataassets.store import Manifest

PRODUCTS = ("raw", "cleaned", "signals", "filtered")
KEYS = ("2026-08-01|notes", "2026-09-01|notes", "2026-10-01|notes")
EASY = {"language_drift": {"min_documents": 5}, "rule_drop": {"min_documents": 5}}
LANGUAGES = st.dictionaries(st.sampled_from("abcd"), st.integers(1, 50), min_size=1)


def manifest(*, documents_in=0, documents=0, report=None):
    body = {
        "inputs": {}, "settings": {"checks": {}, "length": {}, "gopher_quality": {}, "fineweb": {}},
        "code_version": "1", "key": "", "files": (), "dropped_files": (), "dropped": {}, "checks": [], "digest": "",
    }  # fmt: skip
    counts = {"documents_in": documents_in, "documents": documents}
    return Manifest("filtered", "s|x", counts=counts, report=Report(report or {}).to_json(), **body)


def work_of(corpus, **changes):
    corpus.file.write_text(yaml.safe_dump(yaml.safe_load(corpus.file.read_text()) | changes, sort_keys=False))
    return Work(load(corpus.file), executor=Executor("inline"))


def made(work, key, products=PRODUCTS):
    for product in products:
        done = work.run(product, key)
    return {check.name: check for check in done.checks}


@given(st.integers(0, 100), st.integers(0, 100), st.floats(0, 1), st.floats(0, 1))
def test_retention_holds_between_its_limits_and_wherever_there_is_nothing(num_in, num_out, low, high):
    num_out = min(num_in, num_out)
    checks = Checks.model_validate({"retention": {"min": low, "max": high}})
    holds, numbers, _ = limits.results(manifest(documents_in=num_in, documents=num_out), checks)["retention"]
    assert holds == (num_in == 0 or low <= num_out / num_in <= high)
    assert numbers == {"rate": num_out / num_in if num_in else 1.0, "limit": low, "max": high}


@given(st.lists(st.integers(0, 60), min_size=4, max_size=4), st.floats(0, 1), st.integers(1, 30))
def test_the_rule_that_drops_most_of_what_it_is_given_is_told(counts, most, fewest):
    start, *left = sorted(counts, reverse=True)
    rules = ["length", "gopher_quality", "fineweb"]
    report = {f"kept_after:{rule}": n for rule, n in reversed(list(zip(rules, left, strict=True)))}
    checks = Checks.model_validate({"rule_drop": {"max": most, "min_documents": fewest}})
    holds, numbers, note = limits.results(manifest(documents_in=start, report=report), checks)["no_rule_drops_all"]
    shares = {
        rule: (given - after) / given
        for rule, given, after in zip(rules, [start, *left], left, strict=False)
        if given >= fewest
    }
    worst = max(shares.values(), default=0.0)
    assert (holds, numbers) == (worst <= most, {"rate": worst, "limit": most})
    assert bool(note) == (worst > 0)
    assert not note or shares[note.split()[0]] == worst


@given(LANGUAGES, LANGUAGES, LANGUAGES)
def test_the_distance_of_languages_is_a_distance(a, b, c):
    assert limits.distance(a, {name: 7 * n for name, n in a.items()}) == pytest.approx(0)
    assert limits.distance(a, b) == limits.distance(b, a)
    assert 0 <= limits.distance(a, b) <= 1 + 1e-12
    assert limits.distance(a, c) <= limits.distance(a, b) + limits.distance(b, c) + 1e-12
    if not set(a) & set(b):
        assert limits.distance(a, b) == pytest.approx(1)


@given(LANGUAGES, LANGUAGES, st.integers(1, 60), st.floats(0, 1))
def test_drift_speaks_of_snapshots_that_are_large_enough_alone(now, then, fewest, most):
    here, before = (manifest(report={f"language:{x}": n for x, n in own.items()}) for own in (now, then))
    own = Checks.model_validate({"language_drift": {"max": most, "min_documents": fewest}}).language_drift
    check = limits.language_drift(here, before, snapshot="2026-08-01", limits=own)
    if min(sum(now.values()), sum(then.values())) < fewest:
        assert check.passed
        assert check.numbers == {"limit": most}
        assert "unknown" in check.note
    else:
        assert check.numbers == {"rate": limits.distance(now, then), "limit": most}
        assert check.passed == (limits.distance(now, then) <= most)
    assert not check.blocking
    missing = limits.language_drift(here, None, snapshot="2026-08-01", limits=own)
    assert (missing.passed, "2026-08-01 is not there" in missing.note) == (True, True)


def test_drift_is_told_beside_whatever_is_there_and_no_byte_depends_on_the_order(corpus):
    work = work_of(corpus, checks=EASY)
    for key in KEYS:
        made(work, key, PRODUCTS[:3])
    late = made(work, KEYS[1], ("filtered",))["language_drift"]
    assert "unknown: filtered of 2026-08-01 is not there" in late.note
    first = work.store.manifest("filtered", KEYS[1])
    assert "nothing to compare" in made(work, KEYS[0], ("filtered",))["language_drift"].note
    done = work.run("filtered", KEYS[1])
    assert done.skipped
    [drift] = [check for check in done.checks if check.name == "language_drift"]
    now, then = (limits.languages(work.store.manifest("filtered", key)) for key in (KEYS[1], KEYS[0]))
    assert drift.numbers == {"rate": limits.distance(now, then), "limit": 0.2}
    assert "since 2026-08-01" in drift.note
    assert done.manifest == first
    assert "language_drift" not in {check["name"] for check in done.manifest.checks}


def test_a_snapshot_without_documents_is_passed_over(corpus):
    for file in (corpus.file.parent / "notes" / "2026-09-01").iterdir():
        file.unlink()
    work = work_of(corpus, checks=EASY)
    for key in KEYS[:2]:
        made(work, key)
    drift = made(work, KEYS[2])["language_drift"]
    assert "since 2026-08-01" in drift.note


def test_a_changed_limit_is_checked_anew_and_what_comes_after_stays(corpus):
    work = work_of(corpus)
    made(work, KEYS[0], (*PRODUCTS, "signatures"))
    before = work.store.manifest("filtered", KEYS[0])
    work = work_of(corpus, checks={"retention": {"min": 0.995}})
    check = made(work, KEYS[0])["retention"]
    after = work.store.manifest("filtered", KEYS[0])
    rate = after.counts["documents"] / after.counts["documents_in"]
    assert (check.passed, check.blocking, check.numbers) == (
        rate >= 0.995,
        False,
        {"rate": rate, "limit": 0.995, "max": 1},
    )
    assert (before.key != after.key, before.digest == after.digest) == (True, True)
    assert work.run("signatures", KEYS[0]).skipped
    work = work_of(corpus, checks={"language_drift": {"max": 0.5}, "retention": {"min": 0.995}})
    assert work.run("filtered", KEYS[0]).skipped


@pytest.mark.parametrize("name", ["retention", "rule_drop"])
def test_a_source_may_block_where_the_recipe_warns(corpus, name):
    sources = yaml.safe_load(corpus.file.read_text())["sources"]
    sources["notes"]["checks"] = {
        name: {"max": 0.5, "block": True} | ({"min_documents": 1} if name == "rule_drop" else {})
    }
    rules = {} if name == "retention" else {"length": {"min": 20000}}
    work = work_of(corpus, sources=sources, filter=rules)
    promise = {"retention": "retention", "rule_drop": "no_rule_drops_all"}[name]
    with pytest.raises(ChecksFailedError, match=f"blocking check {promise} failed"):
        made(work, KEYS[0])
    assert work.store.manifest("filtered", KEYS[0]) is None
    assert made(work_of(corpus, checks={}), "2026-08-01|books")[promise].blocking is False


@pytest.mark.parametrize(
    ("checks", "said"),
    [
        ({"retention": {"min": 0.9, "max": 0.1}}, "checks.retention.min = 0.9 is above max = 0.1, so nothing holds"),
        ({"rule_drop": {"max": 1.5}}, "checks.rule_drop.max = 1.5: take a value less than or equal to 1"),
        ({"language_drift": {"block": True}}, "checks.language_drift.block = true: no such key"),
    ],
)
def test_limits_that_cannot_be_are_refused_with_the_mend(corpus, checks, said):
    with pytest.raises(RecipeError, match=said.replace(".", r"\.")):
        work_of(corpus, checks=checks)
