"""Personal data that a pattern can tell: e-mail and IP addresses, phone and card numbers.

What is found is what is masked and what the check counts: one definition. Known errors: a version number of four parts
and six or more digits (15.0.104.2) reads as an address, one of fewer (section 11.4.2.1, version 2.4.1.0; of all
addresses 1 in 10,000) does not; names and postal addresses are no patterns.
"""

import re
from collections import Counter
from collections.abc import Iterator

import pyarrow as pa

_OCTET = r"(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
# RFC 6890: networks that are nobody's address
_PUBLIC = (
    r"(?!0\.|10\.|127\.|169\.254\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])\."
    r"|192\.0\.[02]\.|198\.1[89]\.|198\.51\.100\.|203\.0\.113\.|22[4-9]\.|2[345]\d\.)"
)
_SIX_DIGITS = r"(?=(?:\d\.?){5}\d)"
_HEX = "[0-9A-Fa-f]{1,4}"
# endings that are files (logo@2x.png) and no domains
_NO_FILE = r"(?!(?:png|jpe?g|gif|svg|webp|bmp|ico|css|js|html?|pdf)\b)"

# By kind, in the order of masking. A card number must pass Luhn's test too.
PII_PATTERNS: dict[str, re.Pattern[str]] = {
    "email": re.compile(
        r"(?<![A-Za-z0-9._%+-])[A-Za-z0-9_%+-][A-Za-z0-9._%+-]{0,63}@"
        rf"(?:[A-Za-z0-9](?:[A-Za-z0-9-]{{0,61}}[A-Za-z0-9])?\.)+{_NO_FILE}[A-Za-z]{{2,24}}(?![A-Za-z0-9])"
    ),
    "credit_card": re.compile(
        r"(?<![\w.-])(?:"
        r"(?:4[0-9]|5[1-5]|2[2-7]|6[045])[0-9]{2}([ -]?)[0-9]{4}\1[0-9]{4}\1[0-9]{4}"  # Visa, Mastercard, Discover
        r"|3[47][0-9]{2}([ -]?)[0-9]{6}\2[0-9]{5}"  # American Express
        r")(?![\w-]|\.[0-9])"
    ),
    "phone": re.compile(
        r"(?:(?<![\w+])\+[1-9](?:[ .()-]{0,2}[0-9]){7,14}"  # E.164: country code, at most 15 digits
        r"|(?<![\w.+/-])(?:1[ .-])?(?:\([2-9][0-9]{2}\) ?[2-9][0-9]{2}[ .-]|[2-9][0-9]{2}([.-])[2-9][0-9]{2}\1)[0-9]{4}"
        r")(?![\w-]|[.,/][0-9])"
    ),
    "ip_address": re.compile(  # 1.2.3.400 and 10.12.200.3-beta are versions
        rf"(?<![\w.]){_PUBLIC}{_SIX_DIGITS}(?:{_OCTET}\.){{3}}{_OCTET}(?![\w]|\.[0-9]|-[A-Za-z])"
        rf"|(?<![\w:.])(?!2001:0?db8:)[23][0-9A-Fa-f]{{3}}(?:(?::{_HEX}){{7}}"
        rf"|(?::{_HEX}){{0,6}}::(?:{_HEX}(?::{_HEX}){{0,5}})?)(?![\w:])",
        re.ASCII,
    ),
}
# What a match holds, quick to look for: patterns are tried only on lines with the common sign, each after its own.
_SIGN = re.compile(r"[@0-9](?:(?<=@)[A-Za-z0-9]|(?<=[0-9])(?:[-. ()0-9]{7}|[0-9A-Fa-f]{3}:[0-9A-Fa-f:]))")
_SIGNS = {
    "email": re.compile("@"),
    "credit_card": re.compile(r"[0-9]{4}[ -]?[0-9]{4}"),
    "phone": re.compile(r"\+[1-9]|[0-9]{3}(?:\) ?|[.-])[0-9]{3}[ .-]"),
    "ip_address": re.compile(r"\.[0-9]{1,3}\.|[0-9A-Fa-f]:[0-9A-Fa-f:]"),
}


def mask_pii(text: str) -> tuple[str, Counter[str]]:
    """Put a typed placeholder in the place of personal data, until none is found.

    Returns:
        The text, and how many places of each kind were masked.

    >>> mask_pii("Write to ann@example.com, or call (212) 555-0123.")[0]
    'Write to <EMAIL>, or call <PHONE>.'
    """
    masked: Counter[str] = Counter()
    parts, at = [], 0
    for begin, end in _lines_with_sign(text):
        num_before, line = masked.total(), _mask_line(text[begin:end], masked)
        if masked.total() > num_before:
            parts += [text[at:begin], line]
            at = end
    return ("".join([*parts, text[at:]]) if parts else text), masked


def find_pii(text: str) -> list[str]:
    """The kinds of personal data in a text, in the order of PII_PATTERNS.

    >>> find_pii("ann@example.com at 127.0.0.1")
    ['email']
    """
    lines = [text[begin:end] for begin, end in _lines_with_sign(text)]
    return [kind for kind in PII_PATTERNS if any(next(_found(kind, line), None) for line in lines)]


def count_pii(texts: pa.Array) -> int:
    """Documents in which a pattern still finds personal data.

    Args:
        texts: string or large_string [D]; also a ChunkedArray.

    >>> count_pii(pa.array(["call +1 212 555 0123", "call <PHONE>", None]))
    1
    """
    return sum(1 for text in texts if text.is_valid and find_pii(text.as_py()))


def _lines_with_sign(text: str) -> Iterator[tuple[int, int]]:
    """Where lines begin and end that may hold personal data; no pattern reaches over a line end."""
    at = 0
    while sign := _SIGN.search(text, at):
        begin, end = text.rfind("\n", 0, sign.start()) + 1, text.find("\n", sign.end())
        at = len(text) if end < 0 else end
        yield begin, at


def _mask_line(line: str, masked: Counter[str]) -> str:
    while True:  # a placeholder may set a neighbour free, which the pattern did not take for a number before
        num_before = masked.total()
        for kind in PII_PATTERNS:
            parts, at = [], 0
            for found in _found(kind, line):
                parts += [line[at : found.start()], f"<{kind.upper()}>"]
                at = found.end()
                masked[kind] += 1
            if parts:
                line = "".join([*parts, line[at:]])
        if masked.total() == num_before:
            return line


def _found(kind: str, line: str) -> Iterator[re.Match[str]]:
    if _SIGNS[kind].search(line):
        for found in PII_PATTERNS[kind].finditer(line):
            if _is_pii(kind, found):
                yield found


def _is_pii(kind: str, found: re.Match[str]) -> bool:
    return kind != "credit_card" or _luhn([int(c) for c in found[0] if c.isdigit()])


def _luhn(digits: list[int]) -> bool:
    """ISO/IEC 7812-1, annex B: the check digit of card numbers."""
    doubled = (2 * d - 9 if d > 4 else 2 * d for d in digits[-2::-2])
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0
