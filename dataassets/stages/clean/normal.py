"""One normal form of text: what looks the same is the same."""

import re
import unicodedata

_LINE_END = re.compile("\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
# Controls, and two marks that are never seen: the byte order mark inside a text, and the soft hyphen, which cuts words
# in two for every reader but a typesetter. Joiners (U+200C, U+200D) stay: scripts and emoji need them.
_INVISIBLE = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\xad\ufeff]")
# Spaces that differ in width or in whether a line may break there: models and word lists know one. U+3000 stays, since
# Chinese and Japanese set it on purpose. lid.176 took English pages full of U+00A0 for French.
_SPACE = re.compile("[\xa0\u2000-\u200a\u202f\u205f]")
_SUSPECT = re.compile("[\x00-\x08\x0b-\x1f\x7f-\xa0\xad\u2000-\u200a\u2028\u2029\u202f\u205f\ufeff]")
_BLANK_LINES = re.compile(r"\n{4,}")


def normalized(text: str) -> str:
    r"""Text in normal form; doing it twice changes nothing.

    Line ends (CR LF, CR, VT, FF, NEL, U+2028, U+2029) become LF; controls but TAB and LF, byte order marks and soft
    hyphens go; no-break and typographic spaces become spaces; NFC; no white space at line ends; more than two blank
    lines become one; none at both ends of the text.
    White space inside a line stays, and with it the shape of code and tables.

    Args:
        text: Unicode without lone surrogates.

    Source: Unicode Standard Annex 15 (NFC).

    >>> normalized("a \r\n\n\n\n\tcafe\u0301\x00 ")
    'a\n\n\tcafé'
    """
    if _SUSPECT.search(text):
        text = _SPACE.sub(" ", _INVISIBLE.sub("", _LINE_END.sub("\n", text)))
    if not unicodedata.is_normalized("NFC", text):
        text = unicodedata.normalize("NFC", text)
    text = "\n".join([line.rstrip() for line in text.split("\n")])
    return _BLANK_LINES.sub("\n\n", text).strip()
