"""Names of charsets as the web means them, and the Python codec for each."""

import codecs
from typing import NamedTuple

# The label is read as browsers do: a smaller charset means the larger one that holds it.
_SUPERSETS = {
    "ascii": "windows-1252",
    "iso8859-1": "windows-1252",
    "cp1252": "windows-1252",
    "iso8859-9": "windows-1254",
    "cp1254": "windows-1254",
    "iso8859-11": "windows-874",
    "tis-620": "windows-874",
    "cp874": "windows-874",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "shift_jis",
    "cp932": "shift_jis",
    "euc_kr": "euc-kr",
    "cp949": "euc-kr",
    "big5": "big5",
    "big5hkscs": "big5",
}
_CODECS = {"shift_jis": "cp932", "euc-kr": "cp949", "big5": "big5hkscs", "windows-874": "cp874"}
_EXTRA = {  # labels that Python does not know
    "unicode-1-1-utf-8": "utf-8",
    "x-sjis": "shift_jis",
    "windows-31j": "shift_jis",
    "x-gbk": "gbk",
    "x-euc-jp": "euc-jp",
    "x-mac-cyrillic": "mac-cyrillic",
    "x-mac-roman": "mac-roman",
    "macintosh": "mac-roman",
    "x-cp1250": "cp1250",
    "x-cp1251": "cp1251",
    "x-cp1252": "cp1252",
    "iso-8859-8-i": "iso-8859-8",
    "windows-874": "cp874",
    "dos-874": "cp874",
    "ks_c_5601-1987": "euc-kr",
    "big5-hkscs": "big5",
    "utf8mb4": "utf-8",
    "utf-8-sig": "utf-8",
    "utf_8": "utf-8",
}
_MULTI_BYTE = ("utf", "gb", "big5", "shift_jis", "euc", "iso2022", "hz", "johab", "cp949", "cp932")
# codecs that are no charsets of the web: they change text, or let an attacker hide it
_REFUSED = ("utf-7", "idna", "punycode", "unicode-escape", "raw-unicode-escape", "undefined", "mbcs", "oem")


class Named(NamedTuple):
    """A charset: its name in reports, Python's codec, whether it fits any bytes."""

    charset: str
    codec: str
    single_byte: bool


def python_codec(label: str) -> Named | None:
    """The charset that a label means; None where it means none.

    >>> python_codec("Latin-1").charset, python_codec("x-sjis").codec, python_codec("rot13")
    ('windows-1252', 'cp932', None)
    """
    label = label.strip().lower()
    try:
        found = codecs.lookup(_EXTRA.get(label, label))
    except (LookupError, ValueError):
        return None
    # _is_text_encoding is how bytes.decode itself tells charsets from codecs like rot13
    if found.name.replace("_", "-") in _REFUSED or not getattr(found, "_is_text_encoding", True):
        return None
    charset = _SUPERSETS.get(found.name, found.name)
    charset = f"windows-{charset[2:]}" if charset.startswith("cp125") else charset
    charset = {"utf-16": "utf-16-le", "utf-32": "utf-32-le"}.get(charset, charset)
    codec = _CODECS.get(charset, charset)
    return Named(charset, codec, not charset.startswith(_MULTI_BYTE))
