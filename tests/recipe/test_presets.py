"""Presets and languages are settings like written ones: seen, changed knob by knob, and the same to every product."""

import datetime as dt
import json

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from dataassets.recipe import C4, Filter, FineWeb, GopherQuality, GopherRepetition, Language, Located, as_yaml, parse
from dataassets.recipe.rules.presets import presets
from dataassets.runner.corpus import Corpus

BASE = {
    "root": "./data",
    "snapshots": {"start": "2026-08-01", "end": "2026-08-01", "cadence": "monthly"},
    "sources": {"web": {"format": "text", "paths": ["*.txt"]}},
}
ENGLISH = {"language": Language(), "gopher_repetition": GopherRepetition(), "gopher_quality": GopherQuality()}
RULES = {
    "length": st.fixed_dictionaries({}, optional={"min": st.integers(0, 9), "max": st.integers(10, 99)}),
    "gopher_repetition": st.fixed_dictionaries({}, optional={
        "dup_line_frac": st.none() | st.sampled_from([0, 0.5, 1]),
        "top_n_grams": st.dictionaries(st.integers(1, 20), st.sampled_from([0.1, 0.2])),
        "ngram_separator": st.booleans(),
    }),
    "gopher_quality": st.fixed_dictionaries({}, optional={
        "min_avg_word_length": st.none() | st.integers(0, 3), "stop_words": st.lists(st.sampled_from(["a", "и", "的"])),
    }),
    "c4": st.fixed_dictionaries({}, optional={"min_sentences": st.integers(0, 9), "citations": st.booleans()}),
}  # fmt: skip
# Rules that no preset has, since they name files
FILES = {
    "decontamination": st.fixed_dictionaries(
        {"files": st.dictionaries(st.sampled_from("ab"), st.sampled_from(["c.txt", "d.csv"]), min_size=1)},
        optional={"ngram": st.integers(8, 13), "action": st.sampled_from(["drop", "mask"])},
    ),
    "custom": st.dictionaries(st.sampled_from(["z", "y"]), st.fixed_dictionaries({
        "function": st.sampled_from(["a:b", "c.d:e"]),
        "signals": st.dictionaries(
            st.sampled_from("vw"), st.sampled_from([{}, {"min": 1}, {"type": "text", "keep": ["a"]}]), min_size=1
        ),
    })),
}  # fmt: skip
LANGUAGE = st.fixed_dictionaries(
    {},
    optional={
        "words": st.sampled_from(["english", "unicode"]),
        **{name: st.none() | own for name, own in (RULES | FILES).items()},
    },
)
FILTERS = st.fixed_dictionaries(
    {}, optional={**RULES, **FILES, "languages": st.dictionaries(st.sampled_from(["de", "zh", "ru"]), LANGUAGE)}
)


def recipe_of(chosen):
    return parse(BASE | {"filter": chosen}, where="recipe.yaml")


def dependencies(recipe, tmp_path):
    """What keys of products are made of, to the byte."""
    corpus = Corpus(Located(recipe, tmp_path / "recipe.yaml"), dt.date(2026, 10, 1))
    return [
        json.dumps(corpus.settings(product, "2026-08-01|web"), sort_keys=True) for product in ("signals", "filtered")
    ]


@given(FILTERS)
def test_a_recipe_that_is_shown_reads_as_the_same_recipe(chosen):
    recipe = recipe_of(chosen)
    again = parse(yaml.safe_load(as_yaml(recipe)), where="shown")
    assert again == recipe
    assert again.model_dump_json() == recipe.model_dump_json()
    assert Filter.model_validate_json(recipe.filter.model_dump_json()) == recipe.filter


@pytest.mark.parametrize("name", presets())
def test_a_preset_and_the_same_written_out_make_the_same_products(name, tmp_path):
    recipe = recipe_of({"preset": name})
    shown = as_yaml(recipe)
    assert "preset" not in shown
    again = parse(yaml.safe_load(shown), where="shown")
    assert again == recipe
    assert dependencies(again, tmp_path) == dependencies(recipe, tmp_path)
    assert "preset" not in recipe.filter.model_dump()


def test_the_published_chains_are_those_of_their_papers():
    assert Filter(preset="none") == Filter()
    assert Filter(preset="gopher") == Filter(gopher_repetition=GopherRepetition(), gopher_quality=GopherQuality())
    assert Filter(preset="c4") == Filter(c4=C4())
    assert Filter(preset="fineweb") == Filter(**ENGLISH, c4=C4(terminal_punct=False), fineweb=FineWeb())
    assert Filter(preset="dclm") == Filter(words="unicode", **ENGLISH)


@given(
    st.sampled_from(sorted(presets())),
    st.fixed_dictionaries({}, optional={name: own for name, own in RULES.items() if name != "length"}),
)
def test_what_stands_beside_a_preset_changes_these_knobs_alone(name, own):
    theirs, found = Filter(preset=name), recipe_of({"preset": name, **own}).filter
    assert {rule for rule, value in found if value != getattr(theirs, rule)} <= set(own) | {"languages"}
    for rule, knobs in own.items():
        value, before = getattr(found, rule), getattr(theirs, rule) or type(getattr(found, rule))()
        written = type(value)(**knobs)
        for knob, number in value:
            assert number == getattr(written if knob in knobs else before, knob)


def test_null_beside_a_preset_takes_a_rule_or_a_language_away():
    chosen = {"preset": "multilingual", "fineweb": None, "languages": {"de": None, "fr": {"gopher_quality": None}}}
    found = recipe_of(chosen).filter
    assert found.fineweb is None
    assert set(Filter(preset="multilingual").languages) - set(found.languages) == {"de"}
    assert found.languages["fr"].gopher_quality is None
    assert found.languages["fr"].gopher_repetition == Filter(preset="multilingual").languages["fr"].gopher_repetition


@given(FILTERS)
def test_a_language_has_the_settings_of_all_others_but_for_what_it_names(chosen):
    found = recipe_of(chosen).filter
    for code, own in chosen.get("languages", {}).items():
        for rule in ("words", *RULES):
            base, value = getattr(found, rule), getattr(found.languages[code], rule)
            if rule not in own:
                assert value == base
            elif own[rule] is None or rule == "words":
                assert value == own[rule]
            else:
                kept = {} if base is None else dict(base)
                assert value == type(value)(**{**kept, **own[rule]})
    assert found.of("de") == found.languages.get("de", found)
    assert found.of("xx") is found.of(None) is found


def test_a_language_may_start_from_a_preset():
    found = Filter(length={"min": 1}, languages={"en": {"preset": "fineweb", "c4": None}})
    assert found.languages["en"] == Filter(**ENGLISH, fineweb=FineWeb())


def test_every_language_of_the_multilingual_preset_is_kept_and_judged_as_its_own():
    found = Filter(preset="multilingual")
    assert set(found.language.keep) == set(found.languages)
    assert len({own.gopher_quality.stop_words for own in found.languages.values()}) == len(found.languages)
    assert {code for code, own in found.languages.items() if own.words == "english"} == {"en"}
    for own in found.languages.values():
        assert own.language.keep == (("en",) if own.words == "english" else found.language.keep)
