"""Normal form: done twice it changes nothing, and it holds what it promises."""

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dataassets.stages.clean.normal import normalized

TEXT = st.text(
    st.characters(exclude_categories=["Cs"]) | st.sampled_from(" \t\n\r\x0b\x0c\x85\u2028\u2029\xad\ufeff\u0301a\x1c"),
    max_size=60,
)


@given(TEXT)
@example("\n\n\n \n\n\ufeff \n")
@example("a\n\n\n \xad\n\nb")
def test_twice_is_once(text):
    once = normalized(text)
    assert normalized(once) == once


@given(TEXT)
def test_it_holds_what_it_promises(text):
    found = normalized(text)
    assert unicodedata.is_normalized("NFC", found)
    assert not [c for c in found if unicodedata.category(c) == "Cc" and c not in "\t\n"]
    assert not set(found) & set("\r\u2028\u2029\xad\ufeff")
    assert all(line == line.rstrip() for line in found.split("\n"))
    assert "\n\n\n\n" not in found
    assert found == found.strip()


@given(TEXT)
def test_nothing_that_is_seen_is_lost(text):
    def seen(s):
        kept = [c for c in unicodedata.normalize("NFC", s) if not c.isspace() and unicodedata.category(c) != "Cc"]
        return unicodedata.normalize("NFC", "".join(c for c in kept if c not in "\xad\ufeff"))

    assert seen(normalized(text)) == seen(text.replace("\xad", "").replace("\ufeff", ""))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\r\nb\rc\x0cd\x85e", "a\nb\nc\nd\ne"),
        ("def f():\r\n\tif x:   \n\t    return  1\n", "def f():\n\tif x:\n\t    return  1"),
        ("a\n\n\nb", "a\n\n\nb"),
        ("a\n \n\t\n\n\nb", "a\n\nb"),
        ("soft\xadware \ufefftext", "software text"),
        ("cafe\u0301", "café"),
        ("\u0915\u094d\u200d\u0937 \U0001f469\u200d\U0001f4bb", "\u0915\u094d\u200d\u0937 \U0001f469\u200d\U0001f4bb"),
    ],
)
def test_golden(text, expected):
    assert normalized(text) == expected
