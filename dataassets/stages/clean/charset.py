"""Bytes to Unicode: which charset, and what to do where the bytes do not keep to it."""

import codecs
import re
from typing import NamedTuple

from dataassets.stages.clean.labels import python_codec

_SERVED = re.compile(r"charset\s*=\s*[\"']?\s*([A-Za-z0-9_.:+-]+)", re.IGNORECASE)
_META = re.compile(rb"<meta\b[^>]{0,512}?\bcharset\s*=\s*[\"']?\s*([A-Za-z0-9_.:+-]+)", re.IGNORECASE)
_XML = re.compile(rb"^\s*<\?xml\b[^>]{0,256}?\bencoding\s*=\s*[\"']([A-Za-z0-9_.:+-]+)", re.IGNORECASE)
_PRESCAN_BYTES = 4096  # the standard's 1,024 misses pages that put scripts first
_BOMS = (  # UTF-32 before UTF-16: its mark begins with the other's
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_REPAIR_SHARE = 20  # UTF-8 with one broken place in more than so many good non-ASCII characters is still UTF-8
_MAX_NULS = 0.1  # share of zero bytes from which on bytes are UTF-16, or no text
_IN_ASCII = ("iso2022", "hz", "utf-16", "utf-32")  # charsets that write other scripts with ASCII's bytes
_MAX_CONTROLS = 0.02  # share of control characters from which on bytes without a named charset are no text
_CONTROLS = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")


class Decoded(NamedTuple):
    """Text, the charset that was taken (WHATWG's name), how many broken places became U+FFFD."""

    text: str
    charset: str
    num_replaced: int = 0


def decode(content: bytes, *, media_type: str, html: bool) -> Decoded | None:
    r"""Decode a document.

    Order: byte order mark; charset as served; charset of `<meta>` or the XML declaration (HTML); UTF-8; UTF-8 with few
    broken places; the detector's guess. The first that decodes without error holds. One exception: bytes that are
    valid UTF-8 beyond ASCII are UTF-8 where a single-byte charset is named, since that name would fit any bytes.

    Args:
        content: the bytes.
        media_type: as served; its charset parameter is used.
        html: whether declarations inside the bytes count.

    Returns:
        The text, free of lone surrogates; None where nothing fits.

    Source: WHATWG Encoding Standard; HTML Standard 13.2.3.

    >>> decode(b"caf\xe9", media_type="text/plain; charset=latin-1", html=False)
    Decoded(text='café', charset='windows-1252', num_replaced=0)
    """
    for bom, charset in _BOMS:
        if content.startswith(bom):
            marked = content[len(bom) :].decode(charset, "replace")
            return Decoded(marked, charset, marked.count("\ufffd"))
    utf8 = _strict(content, "utf-8")
    if utf8 is not None and content.count(0) > _MAX_NULS * len(content):
        utf8 = None
    for label in _labels(content, media_type=media_type, html=html):
        named = python_codec(label)
        if named is None or (named.charset == "utf-8" and utf8 is None):
            continue
        if utf8 is not None and named.single_byte:
            break
        if utf8 is not None and content.isascii() and not named.charset.startswith(_IN_ASCII):
            break
        text = utf8 if named.charset == "utf-8" else _strict(content, named.codec)
        if text is not None:
            return Decoded(text, named.charset)
    return Decoded(utf8, "utf-8") if utf8 is not None else _guess(content)


def _labels(content: bytes, *, media_type: str, html: bool) -> list[str]:
    found = [m[1] for m in [_SERVED.search(media_type)] if m]
    if html:
        head = content[:_PRESCAN_BYTES]
        inside = [m[1].decode() for m in (_META.search(head), _XML.search(head)) if m]
        # a declaration that could be read as ASCII is not UTF-16
        found += [label for label in inside if not label.lower().startswith(("utf-16", "utf-32"))]
    return found


def _strict(content: bytes, codec: str) -> str | None:
    try:
        text = content.decode(codec)
        text.encode()  # some codecs let lone surrogates through
    except (UnicodeError, ValueError):
        return None
    return text


def _guess(content: bytes) -> Decoded | None:
    if content.count(0) > _MAX_NULS * len(content):
        return _utf16(content)
    text = content.decode("utf-8", "replace")
    num_broken = text.count("\ufffd")
    num_good = sum(not c.isascii() for c in text) - num_broken
    if num_good > _REPAIR_SHARE * num_broken:
        return Decoded(text, "utf-8", num_broken)
    from resiliparse.parse.encoding import detect_encoding  # compiled, for bytes that nothing else fits

    named = python_codec(detect_encoding(content, html5_compatible=False) or "")
    found = _strict(content, named.codec) if named else None
    if named is None or found is None or len(_CONTROLS.findall(found)) > _MAX_CONTROLS * len(found):
        return None
    return Decoded(found, named.charset)


def _utf16(content: bytes) -> Decoded | None:
    """UTF-16 without a mark: its zero bytes are the high ones, which tells the order."""
    charset = "utf-16-le" if content[1::2].count(0) >= content[::2].count(0) else "utf-16-be"
    text = _strict(content, charset)
    return Decoded(text, charset) if text and len(_CONTROLS.findall(text)) <= _MAX_CONTROLS * len(text) else None
