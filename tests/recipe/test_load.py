"""A wrong recipe is refused with file, key path, value met, value wanted and mend; a right one tells all."""

import copy
import os
from pathlib import Path

import pytest
import yaml

from dataassets.recipe import Clean, Filter, Located, RecipeError, Tokenize, demo_text, find_or_demo, load, parse
from dataassets.recipe.base import FilePath, with_paths

MIX = {"tokens": 1000, "weights": {"web": 0.5, "books": 0.5}}
BASE = {
    "root": "./data",
    "snapshots": {"start": "2026-08-01", "end": "2026-10-01", "cadence": "monthly"},
    "sources": {
        "web": {"format": "warc", "paths": ["crawl/{snapshot}/*.warc.gz"]},
        "books": {"format": "text", "paths": ["books/*.txt"]},
    },
    "dedup": {"exact": True, "minhash": {"num_perm": 112, "bands": 14}},
    "mixes": {"pretrain": MIX},
}
NOTHING = object()


def changed(*changes):
    """BASE with values at key paths replaced, added or (NOTHING) taken out."""
    data = copy.deepcopy(BASE)
    for path, value in changes:
        here = data
        *parents, last = path.split(".")
        for key in parents:
            here = here.setdefault(key, {})
        if value is NOTHING:
            del here[last]
        else:
            here[last] = value
    return data


def error_of(data):
    with pytest.raises(RecipeError) as told:
        parse(data, where="/x/recipe.yaml")
    return str(told.value)


def test_the_base_of_these_tests_is_right():
    parse(BASE, where="recipe.yaml")


WRONG = yaml.safe_load(Path(__file__).with_name("mistakes.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("wrong", WRONG.values(), ids=list(WRONG))
def test_each_mistake_is_told_with_its_place_and_its_mend(wrong):
    data = changed((wrong["key"], wrong.get("value", NOTHING)))
    assert error_of(data).splitlines() == [f"/x/recipe.yaml: {wrong['told']}"]


def test_all_mistakes_are_listed():
    mistakes = {
        "root": NOTHING,
        "zzz": 1,
        "snapshots.start": "2026-08-15",
        "snapshots.end": "2026-10-15",
        "sources.web.format": "csv",
        "mixes.pretrain.tokens": 0,
    }
    lines = error_of(changed(*mistakes.items())).splitlines()
    assert all(line.startswith("/x/recipe.yaml: ") for line in lines)
    told = [line.removeprefix("/x/recipe.yaml: ").split(" = ")[0].split(": ")[0] for line in lines]
    assert sorted(told) == sorted(mistakes)


def test_all_names_that_do_not_agree_are_listed():
    mistakes = [
        ("sources.W", BASE["sources"]["web"]),
        ("mixes.pretrain.weights", {"a": 0.5, "b": 0.5}),
        ("dedup.priority", ["c", "web", "web"]),
        ("sources.web.dedup", {"scope": "snapshot", "priority": ["web"]}),
    ]
    paths = [line.split(": ")[1] for line in error_of(changed(*mistakes)).splitlines()]
    assert paths == [
        "sources.W",
        "mixes.pretrain.weights.a",
        "mixes.pretrain.weights.b",
        "dedup.priority.0",
        "dedup.priority.2",
        "sources.web.dedup.priority",
        "sources.web.dedup.scope",
    ]


TEXTS = {
    "empty": ("", "holds nothing; a recipe is a mapping with root, snapshots and sources"),
    "a list": ("- root", "holds a list; a recipe is a mapping with root, snapshots and sources"),
    "broken": ("root: a: b", "not YAML; mend the place that is named: mapping values are not allowed here"),
    "twice": ("root: x\nroot: y", "key 'root' stands twice\n  in \"<unicode string>\", line 2"),
    "twice below": ("root: x\nclean:\n  pii: mask\n  pii: keep", "key 'pii' stands twice"),
    "a list as key": ("{[1]: 2}", "a key must be a word"),
    "two documents": ("root: x\n---\nroot: y", "expected a single document"),
    "python": ("root: !!python/name:os.system", "could not determine a constructor for the tag"),
    "no integer": ("root: !!int abc", "not YAML; mend the place that is named: invalid literal for int()"),
    "no day": ("snapshots: {start: 2026-13-45}", 'snapshots.start = 2026-13-45 is no date; write one as "2026-10-01"'),
    "Norway": ("sources: {no: {format: text, paths: [x]}}", "sources.0 = false: a key must be text"),
    "a number as key": ("1: 2", "1 = 1: a key must be text; write it in quotes"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "told"), TEXTS.values(), ids=list(TEXTS))
def test_texts_that_are_no_recipe(tmp_path, text, told):
    file = tmp_path / "recipe.yaml"
    file.write_text(text)
    with pytest.raises(RecipeError) as error:
        load(file)
    assert told in str(error.value)
    assert str(error.value).startswith(f"{file}: ")


def test_files_that_cannot_be_read(tmp_path):
    (tmp_path / "latin.yaml").write_bytes("root: é".encode("latin-1"))
    for name, told in (
        ("latin.yaml", "cannot be read as a UTF-8 file"),
        ("none.yaml", "no such recipe; write one"),
        ("", "cannot be read as a UTF-8 file"),
    ):
        with pytest.raises(RecipeError, match=told) as error:
            load(tmp_path / name)
        assert str(error.value).startswith(str(tmp_path / name))


def test_dates_and_names_of_snapshots_may_stand_without_quotes(tmp_path):
    file = tmp_path / "recipe.yaml"
    data = changed(("mixes.pretrain.snapshots", {"from": "2026-08-01", "to": "2026-09-01"}))
    quoted, plain = yaml.safe_dump(data), yaml.safe_dump(data).replace("'2026", "2026").replace("01'", "01")
    assert quoted != plain
    recipes = []
    for text in (quoted, plain):
        file.write_text(text)
        recipes.append(load(file).recipe)
    assert recipes[0] == recipes[1]
    assert recipes[0].mixes["pretrain"].snapshots.to == "2026-09-01"


def test_a_byte_order_mark_anchors_and_merged_keys_are_fine(tmp_path):
    file = tmp_path / "recipe.yaml"
    merged = yaml.safe_dump(BASE).replace("format: text", "format: text\n    clean: {<<: *shared, pii: drop}")
    file.write_text("\ufeffclean: &shared {pii: mask, extractor: default}\n" + merged, encoding="utf-8")
    recipe = load(file).recipe
    assert (recipe.clean_of("web"), recipe.clean_of("books")) == (Clean(pii="mask"), Clean(pii="drop"))


def test_paths_start_at_the_recipes_folder(tmp_path, monkeypatch):
    (tmp_path / "deep").mkdir()
    file = tmp_path / "deep" / "recipe.yaml"
    file.write_text(yaml.safe_dump(BASE))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", "/home/somebody")
    for given_as in (file, Path("deep/recipe.yaml"), Path("deep/../deep/recipe.yaml")):
        found = load(given_as)
        assert found.root == f"{tmp_path}/deep/data"
        assert found.resolve("../crawl/*.gz") == f"{tmp_path}/crawl/*.gz"
        assert found.resolve("/abs/./x") == "/abs/x"
        assert found.resolve("~/x") == "/home/somebody/x"
        assert found.resolve("s3://bucket/../x") == "s3://bucket/../x"


def test_a_source_may_have_its_own_sections_whole():
    data = changed(
        ("clean", {"pii": "mask"}),
        ("filter", {"length": {"min": 9}, "c4": {}}),
        ("sources.books.clean", {}),
        ("sources.books.filter", {"fineweb": {}}),
        ("sources.books.dedup", {"exact": False}),
    )
    recipe = parse(data, where="recipe.yaml")
    assert recipe.clean_of("web") == recipe.clean
    assert recipe.filter_of("web") == recipe.filter
    assert recipe.dedup_of("web") == recipe.dedup
    assert recipe.clean_of("books").pii == "keep"
    own = recipe.filter_of("books")
    assert (own.length, own.c4) == (None, None)
    assert own.fineweb is not None
    assert (recipe.dedup_of("books").exact, recipe.dedup_of("books").minhash) == (False, None)
    same = parse(changed(("sources.books.dedup", BASE["dedup"])), where="recipe.yaml")
    assert same.dedup_of("books").minhash == same.dedup.minhash


def test_nothing_happens_that_the_recipe_does_not_say():
    left_out = {key: BASE[key] for key in ("root", "snapshots", "sources")}
    recipe = parse(left_out, where="recipe.yaml")
    assert set(recipe.filter.model_dump(exclude={"words", "languages", "custom"}).values()) == {None}
    assert (recipe.filter.languages, recipe.filter.custom, recipe.filter.on) == ({}, {}, [])
    assert (recipe.dedup.exact, recipe.dedup.minhash, recipe.dedup.scope) == (False, None, "snapshot")
    assert recipe.clean.pii == "keep"
    assert recipe.tokenize == Tokenize(tokenizer="gpt2")
    assert recipe.mixes == {}
    assert recipe.priority == ["web", "books"]
    assert parse(changed(("dedup.priority", ["books"])), where="x").priority == ["books", "web"]
    assert [s.by_snapshot for s in recipe.sources.values()] == [True, False]


def test_in_python_none_leaves_a_rule_out():
    assert Filter(length=None, c4=None) == Filter()


def test_weights_that_nearly_sum_to_1_are_scaled():
    weights = {"web": 0.3333, "books": 0.6666}
    found = parse(changed(("mixes.pretrain.weights", weights)), where="x").mixes["pretrain"].weights
    assert sum(found.values()) == pytest.approx(1, abs=1e-12)


def test_a_recipe_cannot_be_changed_once_read():
    recipe = parse(BASE, where="x")
    with pytest.raises(ValueError, match="frozen"):
        recipe.root = "elsewhere"


def test_the_recipe_of_a_process(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DATAASSETS_RECIPE", raising=False)
    demo = find_or_demo()
    assert (demo.root, demo.recipe) == (f"{tmp_path}/demo/data", parse(yaml.safe_load(demo_text()), where="x"))
    (tmp_path / "recipe.yaml").write_text(yaml.safe_dump(BASE))
    assert sorted(find_or_demo().recipe.sources) == ["books", "web"]
    monkeypatch.setenv("DATAASSETS_RECIPE", os.fspath(tmp_path / "gone.yaml"))
    with pytest.raises(RecipeError, match=r"gone\.yaml: no such recipe"):
        find_or_demo()


def test_files_that_a_recipe_names_are_found_from_its_folder(tmp_path):
    located = Located(parse(BASE, where="x"), tmp_path / "recipe.yaml")
    kept = with_paths({"a": (FilePath("lists/a.txt"), "b")}, located.resolve)
    assert kept == {"a": (str(tmp_path / "lists/a.txt"), "b")}
