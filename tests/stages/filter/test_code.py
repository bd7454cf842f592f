"""Laws of the share of code: equal to the definition in plain Python; high for programs, zero for prose of any kind."""

import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dataassets.recipe import Code, Filter
from dataassets.stages.filter import judge, measure, measured_by, schema
from dataassets.stages.filter.code import KEYWORDS
from dataassets.stages.filter.rule import Texts
from dataassets.stages.filter.rules import code

DATA = Path(__file__).parents[4] / "shared" / "data" / "docs.parquet"
ON = Filter(code=Code())
NAME = "[A-Za-z0-9_]"


def marks(chunk):
    """Runs of one character, three at most, that are marks where they stand in a chunk without white space."""
    found = 0
    if "://" in chunk:
        return 0
    for run in re.finditer(r"(.)\1*", chunk, re.DOTALL):
        char, size = run[1], len(run[0])
        before, after = chunk[run.start() - 1 : run.start()], chunk[run.end() : run.end() + 1]
        named, names = bool(re.fullmatch(NAME, before)), bool(re.fullmatch(NAME, after))
        found += size <= 3 and {
            "(": named or before in (")", "]") or after in ('"', "'", ")", "]"),
            "[": named or before in (")", "]") or after in ('"', "'", ")", "]"),
            "_": named and names,
            "<": named or size == 2 or after in ("!", "/", "?"),
            ">": before == "-",
            ":": size == 2 and named and names,
            "&": size == 2,
            "|": size == 2,
        }.get(char, char in "{}=;\\$")
    return found


def is_code(line):
    """Whether a stripped line is code by itself."""
    chunks = line.split()
    num_marks = sum(map(marks, chunks))
    if num_marks and num_marks * 25 >= len("".join(chunks).encode()):
        return True
    if line.startswith(("//", "/*", "#!")):
        return True
    first = re.match(r"[@#]?([A-Za-z]+)(?=[\s:({;]|$)", line)
    return bool(first) and first[1] in KEYWORDS and len(chunks) <= 4 and not line.endswith(".")


def closing(lines, at, opens):
    """The line that closes the block which a line opens, or None."""
    closes = {
        "```": lambda line: line.startswith("```"),
        "~~~": lambda line: line.startswith("~~~"),
        "/*": lambda line: "*/" in line.removeprefix("/*"),
        '"""': lambda line: line.count('"""') % 2 == 1,
    }[opens]
    return next((k for k in range(at + 1, len(lines)) if closes(lines[k])), None)


def blocks(lines):
    """Lines in fences, comments and docstrings that are opened and closed."""
    found, at = set(), 0
    while at < len(lines):
        line = lines[at]
        kinds = [fence for fence in ("```", "~~~") if line.startswith(fence)]
        kinds += ["/*"] if line.startswith("/*") and "*/" not in line[2:] else []
        kinds += ['"""'] if line.count('"""') % 2 else []
        ends = [end for kind in kinds if (end := closing(lines, at, kind)) is not None]
        if ends:
            found |= set(range(at, ends[0] + 1))
            at = ends[0]
        at += 1
    return found


def ratio(text):
    lines = [line.strip() for line in text.splitlines()]
    own, inside = [is_code(line) for line in lines], blocks(lines)
    sizes = [len("".join(line.split())) for line in lines]
    held = [own[k] or k in inside or (0 < k < len(lines) - 1 and own[k - 1] and own[k + 1]) for k in range(len(lines))]
    whole = sum(sizes)
    return sum(size for size, is_held in zip(sizes, held, strict=True) if is_held) / whole if whole else None


def measured(texts):
    columns = code.measure(Texts(pa.table({"text": pa.array(texts, pa.large_string())})), settings=ON)
    return [None if np.isnan(value) else value for value in columns["code_ratio"]]


TOKENS = [
    "```", "~~~", "```py", "/*", "*/", "/*/", '"""', '""""', "'''", "//", "#!", "http://a_b=c", "a://", "::", ":::",
    "a::b", "->", "=>", "==", "====", "(", ")", "[", "]", "()", "f(x)", "f (x)", '["a"]', "a_b", "__init__", "_", "<",
    "<<", "</p>", "a<b", "<b", "&&", "||", "|", "&", "|||", "$x", "\\", ";", "{", "}", ".", "@", "#", "@if",
    "#include", "#if", "import", "else:", "else", "return", "return.", "for-loop", "for", "class", "SELECT", "x",
    "word", "äöü", "日本語", "\u0301", "😀", "w" * 30, ":", ",", '"', "'", "-", "•",
]  # fmt: skip
GAPS = [" ", "\n", "\n", "", "\n\n", "\t", "\r\n", "\x85", "\u2028", "\u3000", "\xa0", "    "]
PROGRAMS = st.lists(st.sampled_from(TOKENS) | st.sampled_from(GAPS), max_size=40).map("".join)


@settings(deadline=None, max_examples=400)
@given(st.lists(PROGRAMS, min_size=1, max_size=6))
def test_the_share_is_that_of_the_definition(texts):
    assert measured(texts) == [ratio(text) for text in texts]


@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_the_share_of_a_nasty_text_is_that_of_the_definition(data, nasty_texts):
    texts = data.draw(nasty_texts)
    assert measured(texts) == [ratio(text) for text in texts]


def test_the_share_of_a_real_text_is_that_of_the_definition(real_texts):
    assert measured(real_texts) == [ratio(text) for text in real_texts]


PROGRAM = """
import os

def tell(name: str) -> None:
    for line in open(name):
        print(line.strip())
    else:
        raise ValueError(f"{name} is empty")
"""
STORY = "It was late when he came home, and the lamp in the hall was out again. Nobody had called.\n"


def test_programs_in_several_languages_are_code():
    programs = [
        PROGRAM,
        '#include <stdio.h>\n/* A greeting that\n   says little. */\nint main(void) {\n  puts("hello");\n}\n',
        "const add = (a, b) => a + b;\n// of two numbers\nexport default add;\n",
        "SELECT name, count(*) FROM people\nWHERE age > 7 AND name != 'x'\nGROUP BY name;\n",
        'fn main() {\n    let x: Vec<u8> = vec![1];\n    println!("{:?}", x);\n}\n',
        '#!/bin/sh\nfor f in *.txt; do\n  echo "$f"\ndone\n',
        "<?php\nforeach ($list as $key => $value) {\n  echo $value;\n}\n",
        "package main\n\nfunc main() {\n\tx := []int{1}\n\tfmt.Println(x)\n}\n",
    ]
    assert all(found > 0.5 for found in measured(programs))


PROSE = {
    "story": STORY,
    "bullets": "- milk\n- two eggs (large)\n* Butter\n• flour\n1. Mix\n2) Bake: 20 min.\n",
    "table": "| Name | Age | City |\n|------|-----|------|\n| Anna | 32  | Bonn |\n+------+-----+------+\n",
    "headings": "A Title\n=======\n\nPart One\n--------\n\n## Methods\n\n***\n",
    "German capitals": "Die Würde des Menschen ist unantastbar. Bürger(innen) haben Rechte; so das Gesetz.\n",
    "Chinese": "我们相信：人人生而平等（至少如此）；他们有权利、自由和幸福。\n",
    "Japanese": "今日は「良い天気」ですね。（本当に）；そうです。\n",
    "Hindi": "सभी मनुष्य जन्म से स्वतंत्र हैं; वे बराबर हैं।\n",
    "links": "See https://example.org/a_b?x=1&y=2;z and [the page](https://example.org/f(x)=y) for more.\n",
    "mail": "> I think so too.\n> Do you?\nYes. Write to a.b@example.org, please.\n-- \nAnn\n",
    "dialogue": '"For me?" she said.\n"For you," he said; "for you (and me)."\nReturn to sender.\n',
    "verse": "Shall I compare thee to a summer's day?\nThou art more lovely and more temperate:\n",
    "emphasis": "This is _very_ important, **really**, and `so` is ~~this~~ that. Price: 10%, +5 & -3 @ noon.\n",
}


@pytest.mark.parametrize("text", PROSE.values(), ids=list(PROSE))
def test_prose_is_not_code(text):
    assert measured([text]) == [0]


def test_a_block_is_code_only_where_it_is_closed():
    for opening, closing in (("```", "```"), ("~~~ python", "~~~"), ("/*", "*/"), ('"""', '"""')):
        own = sum(len(line) for line in (opening, closing) if line.startswith("/*"))  # a comment even if it stays open
        closed, never = measured([f"{opening}\n{STORY * 3}{closing}\n", f"{opening}\n{STORY * 3}"])
        assert closed == 1
        assert never == own / (len("".join(f"{opening}{STORY * 3}".split())))


def test_the_share_is_of_characters_that_are_not_white_space():
    [found] = measured([f"{STORY * 4}```\n{STORY}```\n"])
    letters = len("".join(STORY.split()))
    assert found == (letters + 6) / (letters * 5 + 6)


def test_blocks_and_neighbours_end_with_their_document():
    texts = ["```\nx = 1;", "plain words", "x = 1;\n```", "/*", "and */ more"]
    assert measured(texts) == [ratio(text) for text in texts]
    assert measured(texts)[1] == 0


def test_many_blocks_that_stay_open_take_no_time():
    assert measured(["/* a\n" * 200_000]) == [1]  # each of them searched to the end would be 2e10 steps


def test_reasons_and_a_text_without_characters(documents_of):
    documents = documents_of([PROGRAM, STORY, "", " \n"])
    reasons = {}
    for name, own in {
        "most": Code(),
        "least": Code(max_ratio=None, min_ratio=0.5),
        "off": Code(max_ratio=None),
    }.items():
        chosen = Filter(code=own)
        signals, _ = measure(documents, settings=chosen)
        reasons[name] = judge(documents, signals, settings=chosen)[0]["reason"].to_pylist()
    assert reasons["most"] == ["code:too_much_code", "", "", ""]
    assert reasons["least"] == ["", "code:too_little_code", "", ""]
    assert reasons["off"] == [""] * 4


def test_it_is_measured_where_it_judges_and_limits_do_not_shape_it():
    assert "code" not in measured_by(Filter())
    assert "code_ratio" not in schema(Filter()).names
    assert schema(ON).names[-1] == "code_ratio"
    assert measured_by(ON) == measured_by(Filter(code=Code(max_ratio=0.1, min_ratio=0.05)))


@pytest.mark.skipif(not DATA.exists(), reason="wants ../shared/data")
def test_it_parts_programs_from_prose():
    """The figures of docs/how-to/filters/code.md."""
    table = pq.read_table(DATA, columns=["text", "source"])
    sources = np.array(table["source"].to_pylist())
    ratios = np.nan_to_num(
        code.measure(Texts(pa.table({"text": table["text"].cast(pa.large_string()).combine_chunks()})), settings=ON)[
            "code_ratio"
        ]
    )
    is_code = sources == "code"
    markup = np.isin(sources, ["nltk/pil", "nltk/problem_reports"])
    prose = (np.char.startswith(sources, "nltk/") & ~markup) | np.isin(sources, ["books", "fortunes", "web/anarchism"])
    assert (ratios[is_code] > 0.5).mean() > 0.92
    assert (ratios[prose] > 0.5).mean() < 0.007
    assert area_under_curve(ratios[is_code], ratios[prose]) > 0.994
    assert area_under_curve(ratios[is_code], ratios[~is_code]) > 0.98


def area_under_curve(high, low):
    """Chance that one of `high` is above one of `low`, half for a tie."""
    low = np.sort(low)
    below, up_to = np.searchsorted(low, high, "left"), np.searchsorted(low, high, "right")
    return (below + up_to).mean() / 2 / len(low)
