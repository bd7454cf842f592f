"""Words by UAX #29: the compiled cut is what the annex's rules say one by one, and those are what uniseg finds."""

import unicodedata
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
import regex
from hypothesis import example, given
from hypothesis import strategies as st
from uniseg import wordbreak

from dataassets.stages.text import utf8_buffers, word_break
from dataassets.stages.text.unicode_words import unicode_sentence_counts, unicode_word_counts, unicode_word_spans
from dataassets.stages.text.word_break import BLANK, CLASS, NAMES, PICTOGRAPH, break_table, code_points

# One or two characters of each class, so that random texts meet every rule.
MEMBERS = {
    "Other": "€中ひทเ。\u200b", "CR": "\r", "LF": "\n", "Newline": "\x0b\u2028", "Extend": "\u0308\u0e48\U0001f3fd",
    "ZWJ": "\u200d", "Format": "\u00ad\u200e", "Regional_Indicator": "🇩🇪", "ALetter": "aZéж한Ⓜ", "Hebrew_Letter": "אב",
    "Numeric": "07٣", "ExtendNumLet": "_\u202f", "Katakana": "カー", "Single_Quote": "'", "Double_Quote": '"',
    "MidNumLet": ".’", "MidLetter": ":·", "MidNum": ",;", "WSegSpace": " \u3000", "Extended_Pictographic": "👩©⚕",
}  # fmt: skip
TEXTS = st.one_of(st.text(alphabet="".join(MEMBERS.values()), max_size=30), st.text(max_size=30))


def kind(char):
    return NAMES[break_table()[ord(char)] & CLASS]


def rules(text):
    """Boundaries of a text, by each rule as the annex writes it, tried in its order at every place."""
    letters, skipped = {"ALetter", "Hebrew_Letter"}, {"Extend", "Format", "ZWJ"}
    mid_num_let_q, lines = {"MidNumLet", "Single_Quote"}, {"Newline", "CR", "LF"}
    raw = [kind(char) for char in text]
    ends = [0] if text else []
    for i in range(1, len(text)):
        a, b = raw[i - 1], raw[i]
        if (a, b) == ("CR", "LF"):  # WB3
            continue
        if a in lines or b in lines:  # WB3a, WB3b
            ends.append(i)
            continue
        if a == "ZWJ" and break_table()[ord(text[i])] & PICTOGRAPH:  # WB3c
            continue
        if a == b == "WSegSpace" or b in skipped:  # WB3d, WB4
            continue
        before = range(i - 1, -1, -1)  # nearest first, as WB4 reads them
        left = [raw[j] for j in before if raw[j] not in skipped or j == 0 or raw[j - 1] in lines]
        run = 0
        right = [k for k in raw[i:] if k not in skipped]
        while run < len(left) and left[run] == "Regional_Indicator":
            run += 1
        p, q = left[0], (left[1:] or [""])[0]
        n, m = right[0], (right[1:] or [""])[0]
        together = (
            (p in letters and n in letters)  # WB5
            or (p in letters and n in mid_num_let_q | {"MidLetter"} and m in letters)  # WB6
            or (q in letters and p in mid_num_let_q | {"MidLetter"} and n in letters)  # WB7
            or (p == "Hebrew_Letter" and n == "Single_Quote")  # WB7a
            or (p == "Hebrew_Letter" and n == "Double_Quote" and m == "Hebrew_Letter")  # WB7b
            or (q == "Hebrew_Letter" and p == "Double_Quote" and n == "Hebrew_Letter")  # WB7c
            or (p in letters | {"Numeric"} and n in letters | {"Numeric"})  # WB8, WB9, WB10
            or (q == "Numeric" and p in mid_num_let_q | {"MidNum"} and n == "Numeric")  # WB11
            or (p == "Numeric" and n in mid_num_let_q | {"MidNum"} and m == "Numeric")  # WB12
            or (p == n == "Katakana")  # WB13
            or (p in letters | {"Numeric", "Katakana", "ExtendNumLet"} and n == "ExtendNumLet")  # WB13a
            or (p == "ExtendNumLet" and n in letters | {"Numeric", "Katakana"})  # WB13b
            or (n == "Regional_Indicator" and run % 2 == 1)  # WB15, WB16
        )
        if not together:  # WB999
            ends.append(i)
    return [*ends, len(text)]


def plain(text):
    segments = [text[a:b] for a, b in pairwise(rules(text))]
    return [segment for segment in segments if any(not break_table()[ord(char)] & BLANK for char in segment)]


def buffers(texts):
    return utf8_buffers(pa.array(texts, pa.large_string()))


def compiled(texts):
    data, starts, stops, first = unicode_word_spans(*buffers(texts))
    found = [bytes(data[a:b]).decode() for a, b in zip(starts, stops, strict=True)]
    return [found[a:b] for a, b in pairwise(first)]


@given(st.lists(TEXTS, max_size=5))
@example(["", "can't", "a.b", "a.", ".a", "1,5 1, ,5", "a:b:", "א'", 'א"ב א" ב', "1.a", "a.1", "a1_ｶ_"])
@example(["\u0308\u0308a", "a\u0308.\u200db", "\r\n\u0308a", "a \u0308 b", "\u202f0", "a\u200dⓂ"])
@example(["🇩🇪🇫🇷🇮", "a🇩\u200d🇪🇫", "👩\u200d👩\u200d👧👍🏽"])
def test_words_are_the_segments_of_the_annex(texts):
    assert compiled(texts) == [plain(text) for text in texts]
    assert unicode_word_counts(*buffers(texts)).tolist() == [len(plain(text)) for text in texts]


@given(st.text(alphabet="".join(MEMBERS.values()), min_size=1, max_size=30))
def test_uniseg_finds_the_same_boundaries(text):
    assert rules(text) == sorted({0, len(text), *wordbreak.word_boundaries(text)})


def test_classes_are_those_of_unicode_as_regex_has_them():
    """Of characters that Python knows: what is newer may be classed anew by a later version."""
    text = "".join(char for char in map(chr, range(0x110000)) if unicodedata.category(char) not in ("Cn", "Cs"))
    for name, runs in word_break.runs().items():
        prop = name if name == "Extended_Pictographic" else f"WB={name}"
        assert set(regex.findall(rf"\p{{{prop}}}", text)) == {chr(point) for point in code_points(runs)} & set(text), (
            name
        )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The quick (“brown”) fox can’t jump 32.3 feet, right?",  # the annex's own example, table 2
         ["The", "quick", "(", "“", "brown", "”", ")", "fox", "can’t", "jump", "32.3", "feet", ",", "right", "?"]),
        ("L'été, c'est beau.", ["L'été", ",", "c'est", "beau", "."]),
        ("中文没有空格。", ["中", "文", "没", "有", "空", "格", "。"]),
        ("ウェブのデータ", ["ウェブ", "の", "データ"]),
        ("한국어는 띄어쓰기가 있다.", ["한국어는", "띄어쓰기가", "있다", "."]),
        ("ที่นี่\u200bดี", ["ที่", "นี่", "ดี"]),
        ("हिन्दी में है।", ["हिन्दी", "में", "है", "।"]),
        ("كتابٌ، جديد؟", ["كتابٌ", "،", "جديد", "؟"]),
    ],
)  # fmt: skip
def test_words_of_some_languages(text, words):
    assert compiled([text]) == [words]


def test_damaged_bytes_stay_within_their_text():
    data = np.frombuffer(b"ab\xe4\xb8" + b"\xff\xfe" + b"cd", np.uint8)
    _, starts, stops, first = unicode_word_spans(data, np.array([0, 4, 6, 8]))
    assert (starts < stops).all()
    assert all(starts[first[t]] >= 2 * t + 2 * (t > 0) and stops[first[t + 1] - 1] <= 4 + 2 * t for t in range(3))


def test_sentences_end_where_no_space_follows():
    buffer, offsets = buffers(["一句。两句！三句？", "Ein Satz. Noch einer.", "", "कैसे हो? ठीक हूँ।"])
    assert unicode_sentence_counts(buffer, offsets[:-1], offsets[1:]).tolist() == [3, 2, 0, 2]
