"""Documents, texts made of what breaks text code, and the plain reference."""

import importlib.util
import pydoc_data.topics
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import strategies as st

from dataassets.records import DOCUMENTS


@pytest.fixture(scope="session")
def reference():
    """tests/stages/filter/reference.py; files beside a test are not importable by name."""
    spec = importlib.util.spec_from_file_location("filter_reference", Path(__file__).with_name("reference.py"))
    module = importlib.util.module_from_spec(spec)
    sys.modules["filter_reference"] = module
    spec.loader.exec_module(module)
    return module


def table_of(texts):
    rows = [
        {"id": f"{row:016d}".encode(), "text": text, "url": f"https://a.example/{row}", "origin": "a", "position": row}
        for row, text in enumerate(texts)
    ]
    return pa.Table.from_pylist(rows, DOCUMENTS)


@pytest.fixture(scope="session")
def documents_of():
    return table_of


PIECES = [
    "the", "be", "and", "The", "word", "words", "naïve", "über", "x", "12", "3.14", "٣", "日本語",
    "あ。", "！", "한국", "ไทย", "😀", "👩‍💻", "\u0301", "e\u0301", "\u200b", "\ufeff", "\0", "\x1f",
    "\x7f", "½", "²", "Ⅳ", "ª", "…", "...", "....", "..", ".", "......", "-", "- item", "•",
    "• item", "#", "##", "[1]", "[]", "[٣]", "[edit]", "[citation needed]", "[Edit]", "[12", "]",
    "{", "}", "javascript", "JavaScript", "lorem ipsum", "Lorem Ipsum", "lorem  ipsum",
    "terms of use", "Privacy Policy", "cookie policy", "use coo\u212aies", "uses cookies",
    "use of cookies", "cookie", '"', "'", "”", "?", "!", "?!", "।", "؟", "hello there you.",
    "Is it so? Yes!", "in to", "into", "IS_ALPHA", "a bc", "ab c", "w" * 1001,
    "A repeated line of some thirty characters or more.", "word " * 12, "ha ha ha ha ha ha ha",
]  # fmt: skip
SPACES = [" ", "  ", "\n", "\n\n", "\n\n\n", "\r\n", "\r", "\t", "\v", "\f", "\x1c", "\x1d", "\x1e", "\x85", "\xa0",
          "\u2028", "\u2029", "\u3000", "\u1680", ""]  # fmt: skip
_bit = st.one_of(st.sampled_from(PIECES), st.sampled_from(SPACES), st.sampled_from([" ", "\n", " ", ". "]))


@pytest.fixture(scope="session")
def pieces():
    return PIECES + SPACES * 3


@pytest.fixture(scope="session")
def nasty_texts():
    """A strategy: 1 to 8 texts made of pieces that break text code, often repeated."""
    text = st.one_of(st.lists(_bit, max_size=60).map("".join), st.text(max_size=80))
    verse = st.lists(_bit, min_size=1, max_size=12).map("".join)
    chorus = st.builds(lambda text, times: text * times, verse, st.integers(2, 6))
    return st.lists(st.one_of(text, chorus), min_size=1, max_size=8)


@pytest.fixture(scope="session")
def real_texts():
    """Prose and code that come with Python."""
    topics = [text for _, text in sorted(pydoc_data.topics.topics.items())]
    names = ["abc", "argparse", "collections", "json", "re", "subprocess", "typing", "unittest.mock"]
    docs = [sys.modules[name].__doc__ or "" for name in names if name in sys.modules]
    return topics + docs + [Path(__file__).read_text(encoding="utf-8")]
