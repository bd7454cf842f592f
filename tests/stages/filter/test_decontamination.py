"""Laws of decontamination: matches are those of a plain search by tuples of words, whatever the formatting hides."""

import csv
import gzip
import json
import re
import shutil
import unicodedata
from collections import Counter

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dataassets.recipe import C4, Decontamination, Filter, RecipeError
from dataassets.report import Report
from dataassets.stages.filter import judge, language, measure, measured_by, signals
from dataassets.stages.filter.evaluation import Sets, items
from dataassets.stages.filter.masked import masked
from dataassets.stages.filter.matching import ALONE, cut, folded, folding
from dataassets.stages.filter.overlap import index_of
from dataassets.stages.filter.rule import Texts
from dataassets.stages.filter.rules import decontamination
from dataassets.stages.text import utf8_buffers

# ---- the plain reference


ALONE_NAMES = re.compile(
    "CJK (UNIFIED|COMPATIBILITY) IDEOGRAPH|HIRAGANA|HENTAIGANA|KATAKANA(?!.*MINNAN)|^IDEOGRAPHIC (ITER|CLOS|NUM)"
)


def words_of(text):
    """Folded word, first and last byte of each word, character by character."""
    found, at, word, full = [], 0, None, False
    for char in text:
        size = len(char.encode())
        name = unicodedata.name(char, "")
        alone = bool(folded(char) and ALONE_NAMES.search(name))
        mark = unicodedata.category(char) in ("Mn", "Mc", "Me", "Cf")
        if folded(char):
            if word is None or alone or full:
                word, full = ["", at, at], alone
                found.append(word)
            word[0] += folded(char)
            word[2] = at + size
        elif mark and word is not None:
            word[2] = at + size
        else:
            word = None
        at += size
    return [tuple(word) for word in found]


def plain_matches(text, texts, ngram, min_words):
    """Matching n-grams, share of words covered, most matched item, spans."""
    grams = {}
    for item, own in enumerate(texts):
        spelled = [word for word, _, _ in words_of(own)]
        n = ngram if len(spelled) >= ngram else len(spelled)
        if n >= min(ngram, min_words):
            for i in range(len(spelled) - n + 1):
                grams.setdefault(tuple(spelled[i : i + n]), item)
    words = words_of(text)
    spelled, met, covered = [word for word, _, _ in words], Counter(), set()
    for i in range(len(words)):
        lengths = [n for n in range(ngram, 0, -1) if i + n <= len(words) and tuple(spelled[i : i + n]) in grams]
        if lengths:
            met[grams[tuple(spelled[i : i + lengths[0]])]] += 1
            covered |= set(range(i, i + lengths[0]))
    spans = []
    for i in sorted(covered):
        if i - 1 in covered:
            spans[-1] = words[i][2]
        else:
            spans += [words[i][1], words[i][2]]
    item = min(met, key=lambda one: (-met[one], one), default=None)
    return met.total(), len(covered) / len(words) if words else None, item, spans or None


# ---- words

WORDS = [
    "a",
    "the",
    "Ab",
    "café",
    "cafe\u0301",
    "Ⅳ",
    "ﬁn",
    "１２",
    "3",
    "ß",
    "日本",
    "か\u3099",
    "한글",
    "na\u00adive",
    "हिन्दी",
]
GAPS = [" ", "  ", "\n", ", ", "-", "—", "。", "\u200b ", "", "'", "\u0301", "\0", "😀"]
TEXTS = st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from(GAPS)), max_size=30).map(
    lambda pairs: "".join(word + gap for word, gap in pairs)
)


@settings(max_examples=200)
@given(st.lists(TEXTS | st.text(max_size=30), min_size=1, max_size=4))
def test_words_are_cut_as_the_plain_form_cuts_them(texts):
    buffer, offsets = utf8_buffers(pa.array(texts, pa.large_string()))
    words = cut(buffer, offsets)
    for d, text in enumerate(texts):
        rows = slice(words.first[d], words.first[d + 1])
        found = [*zip(words.starts[rows] - offsets[d], words.stops[rows] - offsets[d], strict=True)]
        assert found == [(start, stop) for _, start, stop in words_of(text)]


def test_characters_that_are_words_by_themselves_are_han_and_kana():
    chars = [chr(point) for point in range(0x110000)]
    named = [bool(folded(char) and ALONE_NAMES.search(unicodedata.name(char, ""))) for char in chars]
    assert (folding().kinds[: len(chars)] == ALONE).tolist() == named


def test_words_that_only_formatting_tells_apart_are_one():
    alike = ["Café “FINE”, naïve: ½!", "cafe\u0301 ﬁne nai\u0308ve 1\u20602", "ＣＡＦＥ\n* fine *na\u00adive* 12"]
    spelled = [[word for word, _, _ in words_of(text)] for text in alike]
    assert spelled == [["cafe", "fine", "naive", "12"]] * 3
    buffer, offsets = utf8_buffers(pa.array(alike, pa.large_string()))
    hashes = cut(buffer, offsets).hashes.reshape(3, 4)
    assert (hashes == hashes[0]).all()
    assert len(set(hashes[0].tolist())) == 4


def test_only_forms_of_marks_are_letters_that_count_for_nothing():
    nothing = [char for char in map(chr, range(0x110000)) if char.isalnum() and not folded(char)]
    assert all(unicodedata.name(char).endswith(("ISOLATED FORM", "SOUND MARK")) for char in nothing)


# ---- matches


def measured(documents, texts, ngram=13, min_words=8):
    """What the measure gives for items that are at hand."""
    own = Decontamination(files={"set": "unread.txt"}, ngram=ngram, min_words=min_words)
    index = index_of(*utf8_buffers(pa.array(texts, pa.large_string())), ngram=ngram, min_words=min_words)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(decontamination, "_digests", lambda _own: {})
        patch.setattr(
            "dataassets.stages.filter.evaluation.read_sets",
            lambda *_: Sets(index, [f"set:{i}" for i in range(len(texts))]),
        )
        columns = decontamination.measure(Texts(documents), settings=Filter(decontamination=own))
    wanted = decontamination.fields(Filter())
    return [pa.array(columns[field.name], field.type, from_pandas=True).to_pylist() for field in wanted]


@settings(max_examples=200)
@given(st.lists(TEXTS, max_size=4), st.lists(TEXTS, min_size=1, max_size=4), st.integers(1, 5), st.integers(1, 5))
def test_matches_are_those_of_a_search_by_tuples(documents_of, texts, found_in, ngram, min_words):
    columns = measured(documents_of(found_in), texts, ngram, min_words)
    for text, matches, share, item, spans in zip(found_in, *columns, strict=True):
        plain = plain_matches(text, texts, ngram, min_words)
        assert (matches, share, item and int(item.removeprefix("set:")), spans) == plain


@settings(max_examples=30)
@given(data=st.data())
def test_planted_items_are_found_under_any_formatting_at_any_place(data, real_texts, documents_of):
    prose = [text[:400] for text in real_texts if len(text) > 1000]
    texts = data.draw(st.lists(st.sampled_from(prose), min_size=1, max_size=3, unique=True))
    item = data.draw(st.sampled_from(range(len(texts))))
    noise = st.sampled_from([" ", "\n", " -- ", ", ", "\t“", "... "])
    noisy = "".join(
        (word.upper() if data.draw(st.booleans()) else word) + data.draw(noise) for word in texts[item].split()
    )
    host, at = "zyx wvu " * 30, data.draw(st.integers(0, 30)) * 8
    text = host[:at] + noisy + host[at:]
    (matches,), _, (name,), (spans,) = measured(documents_of([text]), texts)
    assert matches == len(words_of(texts[item])) - 12
    assert name == f"set:{item}"
    found = text.encode()[spans[0] : spans[1]].decode()
    assert [word for word, _, _ in words_of(found)] == [word for word, _, _ in words_of(texts[item])]
    assert len(spans) == 2


def test_an_item_that_is_too_short_matches_nothing_and_one_of_eight_words_matches_whole(documents_of):
    short, eight = "one two three four five six seven", "one two three four five six seven eight"
    documents = documents_of([f"zero {short} nine", f"zero {eight} nine", f"zero {eight[:-2]} nine"])
    assert measured(documents, [short, eight])[0] == [0, 1, 0]


def test_equal_hashes_of_unequal_words_are_no_match(monkeypatch, documents_of):
    """Words of one hash, all of them: only the words themselves can tell."""

    def blind(buffer, offsets):
        words = cut(buffer, offsets)
        return words._replace(hashes=np.zeros_like(words.hashes))

    monkeypatch.setattr("dataassets.stages.filter.matching.cut", blind)
    monkeypatch.setattr("dataassets.stages.filter.overlap.cut", blind)
    texts = [" ".join(f"w{i}x{k}" for k in range(13)) for i in range(6)]
    documents = documents_of([texts[3], texts[3].replace("w3x7", "w3x8"), texts[5]])
    assert measured(documents, texts)[0] == [1, 0, 1]
    assert measured(documents, texts)[2] == ["set:3", None, "set:5"]


# ---- files

ROWS = [
    {"id": "q1", "question": "What does the quick brown fox jump over", "choices": ["a dog", "a log"], "answer": 0},
    {"id": "q2", "question": "How many roads must a man walk down before", "choices": [], "answer": 1},
]


def write(folder, name, rows=ROWS):
    """An evaluation set in the format that its name says."""
    file = folder / name
    opened = gzip.open if name.endswith(".gz") else open
    if ".parquet" in name:
        pq.write_table(pa.Table.from_pylist(rows), file)
        return file
    with opened(file, "wt", encoding="utf-8", newline="") as stream:
        if ".csv" in name:
            writer = csv.DictWriter(stream, list(rows[0]))
            writer.writeheader()
            writer.writerows([row | {"choices": "\n".join(row["choices"])} for row in rows])
        elif ".jsonl" in name:
            stream.write("\n".join(json.dumps(row) for row in rows))
        else:
            stream.write("\n".join(row["question"] for row in rows))
    return file


@pytest.mark.parametrize(
    "name", ["a.jsonl", "a.b.jsonl.gz", "a.ndjson", "a.parquet", "a.csv", "a.csv.gz", "a.txt", "a.TXT.gz"]
)
def test_items_are_the_same_in_every_format(tmp_path, name):
    file = write(tmp_path, name.replace("ndjson", "jsonl")).rename(tmp_path / name)
    chosen = [*items(str(file), key="k", fields=("question",))]
    assert chosen == [(1, ROWS[0]["question"]), (2, ROWS[1]["question"])]
    if "txt" not in name.lower():
        both = [*items(str(file), key="k", fields=("question", "nothing", "choices"))]
        assert both[0] == (1, f"{ROWS[0]['question']}\na dog\na log")
        assert next(items(str(file), key="k", fields=()))[1].startswith("q1\nWhat does")


def filters(files, **knobs):
    return Filter(decontamination=Decontamination(files={name: str(file) for name, file in files.items()}, **knobs))


BROKEN = {
    "a.md": ("x", {}, "ends in none of jsonl, parquet, csv, txt"),
    "b.jsonl": ('{"a": "b"}\n\n{"a"', {}, "line 3: no JSON"),
    "c.jsonl": (
        '{"a": "b", "c": 1}',
        {"fields": ("question",)},
        "none of the fields ['question']; take some of ['a', 'c']",
    ),
    "d.parquet": ("no parquet", {}, "cannot be read as parquet"),
    "e.txt.gz": ("no gzip", {}, "cannot be read as txt.gz"),
    "f.txt": ("one two three", {}, "no item has 8 words, so nothing can match; name other fields, or lower min_words"),
    "g.txt": ("", {}, "no item has 8 words"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_file_that_cannot_be_used_is_told_with_its_place(tmp_path, name, documents_of):
    text, knobs, told = BROKEN[name]
    file = tmp_path / name
    file.write_text(text)
    chosen = filters({"mine": file}, **knobs)
    with pytest.raises(RecipeError) as error:
        decontamination.measure(Texts(documents_of(["x"])), settings=chosen)
    assert str(error.value).startswith(f"filter.decontamination.files.mine = {str(file)!r}")
    assert told in str(error.value)


def test_a_missing_file_is_told_before_any_work(tmp_path):
    with pytest.raises(RecipeError, match=r"filter\.decontamination\.files\.mine = .*no such file; mend the path"):
        measured_by(filters({"mine": tmp_path / "nowhere.txt"}))


# ---- the rule

ITEM = "What is the airspeed velocity of an unladen swallow, given in units of furlongs per fortnight?"
OTHER = "Which of these four metals is liquid at room temperature and was once used by hatters in London?"


@pytest.fixture(scope="module")
def sets(tmp_path_factory):
    tmp_path = tmp_path_factory.mktemp("sets")
    return {
        "birds": write(tmp_path, "birds.txt", [{"question": ITEM}]),
        "metals": write(
            tmp_path, "metals.jsonl", [{"question": "Too short"}, {"question": OTHER, "answer": "mercury"}]
        ),
    }


@pytest.fixture(autouse=True)
def _no_model(monkeypatch):
    def english(texts):
        return ["en"] * len(texts), np.ones(len(texts), np.float32)

    monkeypatch.setattr(language, "identify", english)


def judged(documents, chosen):
    found, _ = measure(documents, settings=chosen)
    return judge(documents, found, settings=chosen)


DOCUMENTS = [
    "A page of its own.\nNothing to see here.",
    f"My notes.\nQuestion: {ITEM.upper()}\nThe answer is not known.",
    f"Seen in a quiz: {OTHER.replace(' ', '  ')} I said mercury.\n\n{ITEM}\nAnd {OTHER[:40]}",
    OTHER,
]


def test_a_document_with_an_item_goes_and_the_item_is_told(sets, documents_of):
    table, report = judged(documents_of(DOCUMENTS), filters(sets))
    assert table["reason"].to_pylist() == [
        "", "decontamination:birds", "decontamination:metals", "decontamination:metals",
    ]  # fmt: skip
    assert table["text"].to_pylist() == DOCUMENTS
    assert report.counts["kept_after:decontamination"] == 1
    (sample,) = report.samples["decontamination:birds"]
    assert (sample["value"], sample["match"]) == ("birds:1", ITEM.upper().rstrip("?"))
    assert [row["value"] for row in report.samples["decontamination:metals"]] == ["metals:2"] * 2
    assert sum(report.histograms["decontamination_matches"].counts) == len(DOCUMENTS)


def test_fewer_matches_than_asked_leave_a_document(sets, documents_of):
    matches = len(words_of(ITEM)) - 12
    for least, reason in ((matches, "decontamination:birds"), (matches + 1, "")):
        table, _ = judged(documents_of(DOCUMENTS[1:2]), filters(sets, min_matches=least))
        assert table["reason"].to_pylist() == [reason]


def test_a_mask_takes_what_matches_and_nothing_else(sets, documents_of):
    table, report = judged(documents_of(DOCUMENTS), filters(sets, action="mask"))
    assert table["reason"].to_pylist() == ["", "", "", "decontamination:metals"]
    assert table["text"].to_pylist() == [
        DOCUMENTS[0],
        "My notes.\nQuestion: […]?\nThe answer is not known.",
        f"Seen in a quiz: […]? I said mercury.\n\n[…]?\nAnd {OTHER[:40]}",
        OTHER,
    ]
    told = {name: n for name, n in report.counts.items() if name.startswith("decontamination:")}
    assert told == {"decontamination:masked:birds": 1, "decontamination:masked:metals": 1}
    assert report.samples["decontamination:masked:metals"][0]["value"] == "metals:2"
    assert report.samples["decontamination:masked:birds"][0]["match"] == ITEM.upper().rstrip("?")
    table, _ = judged(documents_of(DOCUMENTS), filters(sets, action="mask", drop_share=0.5))
    assert [bool(reason) for reason in table["reason"].to_pylist()] == [False, True, True, True]


def test_a_masked_document_loses_its_lines_to_c4_as_it_would_unmasked(sets, documents_of):
    text = f"First line is kept here.\ncookie policy\n{ITEM}\nNo end mark\nThe last line ends."
    chosen = filters(sets, action="mask").model_copy(update={"c4": C4(min_sentences=0)})
    table, _ = judged(documents_of([text]), chosen)
    assert table["text"].to_pylist() == ["First line is kept here.\n[…]?\nThe last line ends."]


def test_a_language_may_have_sets_of_its_own(sets, documents_of):
    birds, metals = ({name: str(file)} for name, file in sets.items())
    body = {
        "decontamination": {"files": birds, "action": "mask"},
        "languages": {"de": {"decontamination": {"files": metals, "placeholder": "***"}}, "en": {}},
    }
    chosen = Filter.model_validate(body)
    with pytest.MonkeyPatch.context() as patch:
        labels = ["en", "en", "de", "de"]
        patch.setattr(language, "identify", lambda _texts: (labels, np.ones(4, np.float32)))
        table, report = judged(documents_of(DOCUMENTS), chosen)
    texts = table["text"].to_pylist()
    assert texts[1].splitlines()[1] == "Question: […]?"
    assert texts[2].splitlines() == ["Seen in a quiz: ***? I said mercury.", "", ITEM, f"And {OTHER[:40]}"]
    assert table["reason"].to_pylist() == ["", "", "", "decontamination:metals"]
    told = {name: n for name, n in report.counts.items() if name.startswith("decontamination:")}
    assert told == {"decontamination:masked:birds": 1, "decontamination:masked:metals": 1}


def test_what_was_dropped_before_is_not_masked_and_not_counted(sets, documents_of):
    chosen = filters(sets, action="mask").model_copy(update={"c4": C4(min_sentences=99)})
    table, report = judged(documents_of(DOCUMENTS), chosen)
    assert table["text"].to_pylist() == DOCUMENTS
    assert not [name for name in report.counts if "masked" in name]


@settings(max_examples=100)
@given(data=st.data(), text=st.text(max_size=40) | TEXTS, placeholder=st.sampled_from(["[…]", " ", "\\1"]))
def test_a_mask_never_touches_bytes_outside_spans_nor_moves_a_line(data, text, placeholder):
    places = data.draw(st.lists(st.integers(0, len(text)), max_size=6, unique=True).map(sorted))
    places = places[: len(places) // 2 * 2]
    found = masked(text, [len(text[:at].encode()) for at in places], placeholder=placeholder)
    expected, inside = "", [text[a:b] for a, b in zip(places[::2], places[1::2], strict=True)]
    for outside, span in zip(
        [text[a:b] for a, b in zip([0, *places[1::2]], [*places[::2], len(text)], strict=True)],
        [*inside, ""],
        strict=True,
    ):
        expected += outside
        for line in span.splitlines(keepends=True):
            body = line.splitlines()[0]
            expected += (placeholder if body.strip() else body) + line[len(body) :]
    assert found == expected
    assert len(found.splitlines()) == len(text.splitlines())


@settings(max_examples=20)
@given(cut_at=st.integers(0, 4), slice_bytes=st.sampled_from([1, 100, 8_000_000]), order=st.permutations(range(4)))
def test_parts_and_order_change_no_signal(sets, documents_of, cut_at, slice_bytes, order):
    chosen, documents = filters(sets), documents_of(DOCUMENTS)
    whole, told = measure(documents, settings=chosen)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(signals, "SLICE_BYTES", slice_bytes)
        parts = [measure(part, settings=chosen) for part in (documents.slice(0, cut_at), documents.slice(cut_at))]
    assert pa.concat_tables([table for table, _ in parts]).combine_chunks().equals(whole.combine_chunks())
    assert (Report() + parts[0][1] + parts[1][1]).to_json() == told.to_json()
    turned, _ = measure(documents.take(order), settings=chosen)
    assert turned.equals(whole.take(order))


def test_signals_depend_on_the_files_and_on_what_a_match_is_alone(sets, tmp_path):
    base = measured_by(filters(sets))
    assert measured_by(filters(dict(reversed(sets.items())))) == base
    assert measured_by(filters(sets, min_matches=3, action="mask", placeholder="x", drop_share=0.1)) == base
    moved = {name: shutil.copy(file, tmp_path / f"moved-{file.name}") for name, file in sets.items()}
    assert measured_by(filters(moved)) == base
    assert measured_by(filters(moved, ngram=8)) != base
    moved["birds"].write_text("another item")
    assert measured_by(filters(moved)) != base
    assert "decontamination" not in measured_by(Filter())
