"""Filters of the user's own: their signals, thresholds, reasons and histograms are as those of built-in rules."""

import importlib.util
import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dataassets.recipe import Custom, Filter, Length, RecipeError
from dataassets.report import Report
from dataassets.stages.filter import judge, language, measure, measured_by, schema
from dataassets.stages.filter.plugin import CustomFilterError
from dataassets.stages.filter.rule import Texts
from dataassets.stages.filter.rules import custom, judging

EXAMPLES = Path(__file__).parents[3] / "docs" / "examples"

SHAPES = """
    import numpy as np
    import pyarrow as pa

    def shape(documents, *, mark="!", scale=1):
        texts = documents.column("text").to_pylist()
        return {
            "length": np.array([len(text) for text in texts], np.int32),
            "marks": pa.array([scale * text.count(mark) / len(text) if text else None for text in texts]),
            "loud": [text.isupper() for text in texts],
            "first": [text[:1] or None for text in texts],
        }
"""
SIGNALS = {
    "length": {"type": "int"},
    "marks": {"type": "float"},
    "loud": {"type": "bool"},
    "first": {"type": "text"},
}


@pytest.fixture(autouse=True)
def _no_model(monkeypatch):
    def german(texts):
        return ["de"] * len(texts), np.full(len(texts), 0.5, np.float32)

    monkeypatch.setattr(language, "identify", german)


@pytest.fixture(autouse=True)
def _path_as_it_was(monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))


def module(folder, code, name="own_filters.py"):
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(textwrap.dedent(code), encoding="utf-8")
    return file


def filters(folder, signals, **knobs):
    body = {"function": "own_filters:shape", "signals": signals, "folder": str(folder)} | knobs
    return Filter(custom={"shape": Custom.model_validate(body)})


def columns_of(documents, chosen):
    return custom.measure(Texts(documents), settings=chosen)


TEXTS = ["Hello!", "", "STOP!!", "a quiet line"]


def test_columns_of_any_kind_become_signals(tmp_path, documents_of):
    module(tmp_path, SHAPES)
    chosen, documents = filters(tmp_path, SIGNALS, settings={"scale": 2}), documents_of(TEXTS)
    table, report = measure(documents, settings=chosen)
    assert table.schema == schema(chosen)
    assert table.schema.names[-4:] == ["shape_first", "shape_length", "shape_loud", "shape_marks"]
    assert table["shape_length"].to_pylist() == [6, 0, 6, 12]
    assert table["shape_marks"].to_pylist() == [2 / 6, None, 4 / 6, 0.0]
    assert table["shape_loud"].to_pylist() == [False, False, True, False]
    assert table["shape_first"].to_pylist() == ["H", None, "S", "a"]
    assert {"shape_length", "shape_marks"} == {name for name in report.histograms if name.startswith("shape_")}
    assert sum(report.histograms["shape_length"].counts) == 4


def limited(kind, **limits):
    return st.fixed_dictionaries({"type": st.just(kind)}, optional=limits)


FEW, PARTS = st.integers(0, 13), st.sampled_from([0.0, 1 / 6, 0.2])
LIMITS = {
    "length": limited("int", min=FEW, max=FEW),
    "marks": limited("float", min=PARTS, max=PARTS),
    "loud": limited("bool", keep=st.sampled_from([[True], [False]]), drop=st.just([True])),
    "first": limited("text", keep=st.sampled_from([["H"], ["S", "a"]]), drop=st.just(["a"])),
}


def reason_of(values, signals):
    """The first limit that a document fails, by a chain of ifs."""
    for name, own in sorted(signals.items()):
        value = values[name]
        if value is None:
            continue
        if "min" in own and value < own["min"]:
            return f"shape:{name}_below"
        if "max" in own and value > own["max"]:
            return f"shape:{name}_above"
        if "keep" in own and value not in own["keep"]:
            return f"shape:{name}_other"
        if "drop" in own and value in own["drop"]:
            return f"shape:{name}_dropped"
    return ""


@pytest.fixture(scope="module")
def shapes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shapes")
    module(folder, SHAPES)
    return folder


@settings(max_examples=60)
@given(signals=st.fixed_dictionaries(LIMITS), least=st.integers(0, 13))
def test_reasons_are_those_of_a_chain_of_ifs_after_the_built_in_rules(shapes, documents_of, signals, least):
    documents, bare = documents_of(TEXTS), filters(shapes, SIGNALS)
    chosen = filters(shapes, signals).model_copy(update={"length": Length(min=least)})
    assert measured_by(chosen) == measured_by(bare)
    measured, _ = measure(documents, settings=bare)
    table, report = judge(documents, measured, settings=chosen)
    rows = measured.select([f"shape_{name}" for name in SIGNALS]).rename_columns(list(SIGNALS)).to_pylist()
    expected = [
        "length:short" if len(text) < least else reason_of(row, signals) for text, row in zip(TEXTS, rows, strict=True)
    ]
    assert table["reason"].to_pylist() == expected
    assert report.counts["kept_after:shape"] == expected.count("")
    assert set(report.samples) == set(expected) - {""}
    assert json.loads(json.dumps(report.to_json())) == report.to_json()
    parts = [judge(documents.slice(*at), measured.slice(*at), settings=chosen)[1] for at in ((0, 2), (2, 2))]
    assert (Report() + parts[0] + parts[1]).to_json() == report.to_json()


def test_custom_filters_judge_last_and_in_the_order_of_names(shapes):
    own = filters(shapes, {"loud": {"type": "bool"}}).custom["shape"]
    chosen = Filter.model_validate({"custom": {"z": own, "a": own}, "length": {}})
    assert [*judging(chosen)] == ["length", "a", "z"]


def test_a_language_may_have_filters_of_its_own(tmp_path, documents_of):
    module(tmp_path, "def shape(documents): return {'x': [len(t) for t in documents.column('text').to_pylist()]}")
    own = {"function": "own_filters:shape", "folder": str(tmp_path), "signals": {"x": {"type": "int", "min": 6}}}
    documents = documents_of(TEXTS)
    for body, columns, reasons in (
        ({"languages": {"de": {"custom": {"a": own}}}}, ["a_x"], ["", "a:x_below", "", ""]),
        ({"custom": {"b": own}, "languages": {"de": {"custom": None}}}, ["b_x"], [""] * 4),
        (
            {"custom": {"b": own}, "languages": {"fr": {"custom": {"a": own}}}},
            ["a_x", "b_x"],
            ["", "b:x_below", "", ""],
        ),
    ):
        chosen = Filter.model_validate(body)
        assert Filter.model_validate_json(chosen.model_dump_json()) == chosen
        measured, _ = measure(documents, settings=chosen)
        assert sorted(measured.schema.names[-len(columns) :]) == columns
        table, report = judge(documents, measured, settings=chosen)
        assert table["reason"].to_pylist() == reasons
        assert [f"kept_after:{name[0]}" in report.counts for name in columns] == [True] * len(columns)
        assert report.counts[f"kept_after:{columns[-1][0]}"] == reasons.count("")


def test_judging_runs_none_of_the_users_code(tmp_path, documents_of):
    file = module(tmp_path, SHAPES)
    chosen = filters(tmp_path, SIGNALS | {"length": {"type": "int", "min": 6}})
    documents = documents_of(TEXTS)
    measured, _ = measure(documents, settings=chosen)
    file.unlink()
    table, report = judge(documents, measured, settings=chosen)
    assert table["reason"].to_pylist() == ["", "shape:length_below", "", ""]
    assert report.samples["shape:length_below"][0]["limit"] == 6
    assert report.histograms["shape_length"].limits == (6,)


def test_the_language_that_was_measured_is_given_to_the_function(tmp_path, documents_of):
    module(tmp_path, "def shape(documents): return {'x': documents.column('language')}")
    table, _ = measure(documents_of(TEXTS), settings=filters(tmp_path, {"x": {"type": "text"}}))
    assert table["shape_x"].to_pylist() == ["de"] * 4


def test_an_edited_function_is_measured_anew_by_its_new_code(tmp_path, documents_of):
    documents, code = documents_of(["a"]), "def shape(documents): return {'x': [%d.0] * len(documents)}"
    chosen = filters(tmp_path, {"x": {}})
    module(tmp_path, code % 1)
    before = measured_by(chosen)
    assert columns_of(documents, chosen)["shape_x"].to_pylist() == [1]
    file = module(tmp_path, code % 2)
    os.utime(file, ns=(1, 1))  # another time, where the clock is too coarse
    assert measured_by(chosen) != before
    assert columns_of(documents, chosen)["shape_x"].to_pylist() == [2]


def test_a_module_beside_it_counts_where_the_recipe_names_it(tmp_path, documents_of):
    documents = documents_of(["a"])
    module(tmp_path, "from own_numbers import N\ndef shape(documents): return {'x': [N] * len(documents)}")
    numbers = module(tmp_path, "N = 1", "own_numbers.py")
    chosen = filters(tmp_path, {"x": {}}, files=[str(numbers)])
    before = measured_by(chosen)
    assert columns_of(documents, chosen)["shape_x"].to_pylist() == [1]
    module(tmp_path, "N = 20", "own_numbers.py")
    assert measured_by(chosen) != before
    assert columns_of(documents, chosen)["shape_x"].to_pylist() == [20]


def test_two_recipes_may_have_modules_of_one_name(tmp_path, documents_of):
    for number in (1, 2):
        module(tmp_path / str(number), f"def shape(documents): return {{'x': [{number}] * len(documents)}}")
    for number in (1, 2, 1):
        found = columns_of(documents_of(["a"]), filters(tmp_path / str(number), {"x": {}}))
        assert found["shape_x"].to_pylist() == [number]


def test_a_package_beside_the_recipe_and_an_installed_one(tmp_path, documents_of, monkeypatch):
    module(
        tmp_path, "from . import numbers\ndef f(documents): return {'x': [numbers.N] * len(documents)}", "pack/own.py"
    )
    module(tmp_path, "N = 3", "pack/numbers.py")
    module(tmp_path, "", "pack/__init__.py")
    chosen = filters(tmp_path, {"x": {}}, function="pack.own:f")
    assert columns_of(documents_of(["a"]), chosen)["shape_x"].to_pylist() == [3]
    module(tmp_path / "site", "def f(documents): return {'x': [4] * len(documents)}", "installed_filter.py")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    chosen = filters(tmp_path, {"x": {}}, function="installed_filter:f")
    assert columns_of(documents_of(["a"]), chosen)["shape_x"].to_pylist() == [4]


def test_keys_change_with_all_that_signals_depend_on_and_with_nothing_else(shapes):
    def knobs(signals=SIGNALS, **own):
        return measured_by(filters(shapes, signals, **own))

    base = knobs()
    assert measured_by(filters(f"{shapes}/.", SIGNALS)) == base
    for change in ({"settings": {"scale": 2}}, {"version": 2}, {"files": [str(shapes / "own_filters.py")]}):
        assert knobs(**change) != base
    assert knobs(SIGNALS | {"length": {"type": "int", "edges": [0, 1]}}) != base
    assert knobs(SIGNALS | {"length": {"type": "float"}}) != base
    assert "custom" not in measured_by(Filter())


def giving(column):
    return f"def shape(documents):\n return {{'x': {column}}}"


FIRST, SECOND, THIRD = (f"{row:016d}".encode().hex() for row in range(3))
BAD = {
    "no module": (None, {}, "'own_filters:shape': no such module; looked in {folder} and among installed"),
    "no function": ("x = 1", {}, "has no function shape; mend the name"),
    "not importable": ("1 / 0", {}, "raised ZeroDivisionError: division by zero (line 1 of {file}); mend the module"),
    "an error on one document": (
        giving("[1 / len(text) for text in documents.column('text').to_pylist()]"),
        {},
        "own_filters:shape raised ZeroDivisionError: division by zero (line 2 of {file}) "
        f"on document {SECOND} (https://a.example/1); mend the function",
    ),
    "an error on all": (
        "def shape(documents): assert len(documents) < 2",
        {},
        f"on 4 documents together, from {FIRST} on, and on none of them alone",
    ),
    "an unknown argument": (giving("[]"), {"settings": {"a": 1}}, "got an unexpected keyword argument 'a'"),
    "nothing": ("def shape(documents): ...", {}, "gave a NoneType; a mapping of columns, or a RecordBatch, is wanted"),
    "another column": (
        "def shape(documents): return {'y': [1] * len(documents)}",
        {},
        "gave the columns ['y'], the recipe has the signals ['x']; make them one",
    ),
    "too few values": (giving("[1]"), {}, "gave 1 values of x for 4 documents; give one for each"),
    "another type": (giving("['a'] * len(documents)"), {}, "gave a column x that is no double"),
    "no column": (giving("5"), {}, "gave a column x that is no double"),
    "half a number": (
        giving("[1.5] * len(documents)"), {"signals": {"x": {"type": "int"}}}, "gave a column x that is no int64",
    ),
    "infinity": (giving("[float('inf')] * len(documents)"), {}, f"gave x = inf for document {FIRST}; give null"),
    "a mean over the batch": (
        giving("[len(documents)] * len(documents)"),
        {},
        f"gave x = 4.0 for document {THIRD} among 4, 1.0 for it alone; a signal must depend on its own document only",
    ),
    "chance": (
        "import random\n" + giving("[random.random() for _ in range(len(documents))]"), {}, "and be the same each time",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_each_mistake_in_a_function_is_told_with_its_place(tmp_path, name, documents_of):
    code, knobs, told = BAD[name]
    if code is not None:
        module(tmp_path, code)
    with pytest.raises(RecipeError) as error:
        columns_of(documents_of(TEXTS), filters(tmp_path, **({"signals": {"x": {}}} | knobs)))
    assert str(error.value).startswith("filter.custom.shape")
    assert told.format(folder=tmp_path, file=tmp_path / "own_filters.py") in str(error.value)
    assert isinstance(error.value, CustomFilterError) == (code is not None)


def test_nan_is_null_and_null_passes(tmp_path, documents_of):
    module(tmp_path, "import numpy as np\ndef shape(documents): return {'x': np.full(len(documents), np.nan)}")
    chosen, documents = filters(tmp_path, {"x": {"min": 1, "max": 2}}), documents_of(TEXTS)
    measured, _ = measure(documents, settings=chosen)
    assert measured["shape_x"].null_count == 4
    assert judge(documents, measured, settings=chosen)[0]["reason"].to_pylist() == [""] * 4


def test_two_signals_of_one_column_are_refused(shapes):
    own = {"function": "own_filters:shape", "folder": str(shapes)}
    for name, signal in (("num", "chars"), ("a", "b_c")):
        body = {name: own | {"signals": {signal: {}}}, "a_b": own | {"signals": {"c": {}}}}
        with pytest.raises(RecipeError, match=f"two signals would be the column {name}_{signal}; rename"):
            schema(Filter.model_validate({"custom": body}))


def test_a_file_beside_the_recipe_hides_no_installed_package_from_other_code(tmp_path, documents_of, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    for folder in (tmp_path, tmp_path / "site"):
        module(folder, "", "hidden_or_not.py")
    module(tmp_path, giving("[1] * len(documents)"))
    assert columns_of(documents_of(["a"]), filters(tmp_path, {"x": {}}))["shape_x"].to_pylist() == [1]
    assert str(tmp_path) in sys.path
    assert Path(importlib.util.find_spec("hidden_or_not").origin).parent == tmp_path / "site"


def test_the_example_of_the_docs_measures_and_judges(documents_of):
    signals = {"flesch": {"min": 0}, "ads": {"max": 0.05}}
    chosen = filters(EXAMPLES, signals, function="custom_filter:readability", settings={"ads": ["buy", "sale"]})
    texts = [
        "The cat sat on the mat. It was warm.",
        "Buy now! Big sale! Buy!",
        "Antidisestablishmentarianism notwithstanding.",
        "1",
    ]
    documents = documents_of(texts)
    measured, _ = measure(documents, settings=chosen)
    table, _ = judge(documents, measured, settings=chosen)
    assert table["reason"].to_pylist() == ["", "shape:ads_above", "shape:flesch_below", ""]
    assert measured["shape_flesch"][0].as_py() == pytest.approx(206.835 - 1.015 * 9 / 2 - 84.6 * 9 / 9)


def test_reading_a_recipe_and_its_keys_runs_none_of_the_users_code(tmp_path):
    module(tmp_path, "raise SystemExit('ran')")
    code = (
        "from dataassets.recipe import Custom, Filter; from dataassets.stages.filter import measured_by, schema;"
        f"own = Custom(function='own_filters:f', signals={{'x': {{}}}}, folder={str(tmp_path)!r});"
        "f = Filter(custom={'a': own});"
        "measured_by(f); schema(f); import sys; assert 'numba' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
