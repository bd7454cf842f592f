"""Charsets: what was encoded comes back, by the word of the server, the page, or the bytes alone."""

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataassets.stages.clean.charset import decode
from dataassets.stages.clean.labels import python_codec

SAMPLES = {
    "windows-1252": "naïve café – “déjà vu”, über straße señor",
    "windows-1251": "Привет, это русский текст о погоде и природе",
    "koi8-r": "Привет, это русский текст о погоде и природе",
    "iso8859-7": "Ελληνικά κείμενο για δοκιμή",
    "windows-1254": "Türkçe metin: ığüşöç İĞÜŞÖÇ",
    "shift_jis": "これは日本語の文章です。東京都に住んでいます。",
    "euc_jp": "これは日本語の文章です。東京都に住んでいます。",
    "iso2022_jp": "これは日本語の文章です。",
    "gb18030": "这是一个中文文本,用来测试编码检测。",
    "big5": "這是一個中文文本,用來測試編碼檢測。",
    "euc-kr": "한국어 텍스트입니다. 인코딩을 시험합니다.",
    "utf-16-le": "UTF-16 ohne Marke: schön",
    "utf-8": "日本語 and naïve café",
}


def decoded(content: bytes, media_type: str = "text/html", html: bool = True):
    found = decode(content, media_type=media_type, html=html)
    return found and (found.text, found.charset)


@pytest.mark.parametrize("charset", SAMPLES)
def test_the_charset_as_served_is_taken(charset):
    content = SAMPLES[charset].encode(python_codec(charset).codec)
    assert decoded(content, f'text/plain; charset="{charset}"', html=False) == (SAMPLES[charset], charset)


@pytest.mark.parametrize("charset", [c for c in SAMPLES if not c.startswith("utf-16")])
@pytest.mark.parametrize(
    "form",
    [
        '<meta charset="{}">',
        "<META http-equiv=Content-Type content='text/html; charset={}'>",
        '<?xml version="1.0" encoding="{}"?>',
    ],
)
def test_the_charset_that_a_page_declares_is_taken(charset, form):
    page = ("" if form.startswith("<?") else "<html><head>") + form.format(charset) + f"<p>{SAMPLES[charset]}"
    content = page.encode(python_codec(charset).codec)
    if content.isascii():
        return  # ISO-2022-JP hides in ASCII: only a server's word is believed
    assert decoded(content) == (page, charset)


@pytest.mark.parametrize(
    "charset", ["windows-1251", "shift_jis", "gb18030", "euc-kr", "iso8859-7", "utf-16-le", "utf-16-be"]
)
def test_bytes_alone_are_recognized(charset):
    text = SAMPLES.get(charset, "UTF-16 in the other order: ñ") * 3
    assert decoded(text.encode(python_codec(charset).codec))[0] == text


@given(
    st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1),
    st.sampled_from(["", "; charset=latin-1", "; charset=nonsense", "; charset=rot13"]),
)
def test_valid_utf8_is_utf8_whatever_fits_any_bytes(text, parameter):
    if text.startswith("\ufeff"):
        text = text[1:]
    assert decoded(text.encode(), "text/plain" + parameter, html=False) == (text, "utf-8")


@given(st.text(max_size=20).filter(lambda t: not t.startswith(("\ufeff", "\0"))))
@pytest.mark.parametrize(
    ("bom", "charset"),
    [
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
        (codecs.BOM_UTF32_LE, "utf-32-le"),
        (codecs.BOM_UTF32_BE, "utf-32-be"),
    ],
)
def test_a_byte_order_mark_beats_every_word_and_is_no_text(bom, charset, text):
    assert decoded(bom + text.encode(charset), "text/html; charset=windows-1252") == (text, charset)


def test_utf8_with_few_broken_places_stays_utf8():
    text = "naïve café déjà vu über Straße " * 20
    broken = text.encode() + b"\xe9 end \xe2\x82"
    found = decode(broken, media_type="text/html; charset=utf-8", html=True)
    assert (found.charset, found.num_replaced) == ("utf-8", 2)
    assert found.text == text + "\ufffd end \ufffd"


def test_a_server_that_lies_is_not_followed():
    content = SAMPLES["windows-1251"].encode("cp1251")
    assert decoded(b"<meta charset=windows-1251>" + content, "text/html; charset=utf-8")[1] == "windows-1251"


@pytest.mark.parametrize(
    "content", [b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\1\0\xff\xfe" * 9, bytes(range(128, 160)) * 20 + b"\0\1\2" * 50]
)
def test_binary_is_undecodable(content):
    assert decoded(content) is None


@given(
    st.binary(max_size=200),
    st.sampled_from([*SAMPLES, "utf-7", "utf-16", "unicode_escape", "hz", "x", ""]),
    st.booleans(),
)
def test_whatever_the_bytes_the_text_is_valid_unicode_or_none(content, label, html):
    found = decode(content, media_type=f"text/html; charset={label}", html=html)
    if found is not None:
        found.text.encode()


@pytest.mark.parametrize(
    "label",
    [
        "utf-7",
        "rot13",
        "hex",
        "base64",
        "idna",
        "punycode",
        "unicode_escape",
        "undefined",
        "mbcs",
        "nonsense",
        "",
        "a\0b",
    ],
)
def test_labels_that_are_no_charsets_of_the_web_mean_none(label):
    assert python_codec(label) is None
