"""One chunk at a time, in plain Python: where the English rules cut what stands between white space.

Marks are taken from both ends of a chunk as long as any is found, unless what is left is an exception; what remains is
an exception, an address, or cut at marks between letters. Last, words that spell an exception are joined to it again.
The rules are those of spaCy 3.8's blank English tokenizer (MIT), stated in our own form.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from dataassets.stages.text.classes import ALPHA_RUNS, DOT_MARKS, ICONS, LOWER, PUNCT_MARKS, QUOTES, UPPER, charset
from dataassets.stages.text.exceptions import exceptions

# Most words that an exception is cut into, and characters that one has (`tests/stages/text` holds both).
MOST_WORDS, LONGEST = 11, 12
_LONGEST_SUFFIX = 8  # characters, with those looked at before it

_METRES = "m² m³ km km² km³ dm dm² dm³ cm cm² cm³ mm mm² mm³"
_UNITS = f"""
    m {_METRES} ha µm nm yd in ft kg g mg µg t lb oz m/s km/h kmh mph hPa Pa mbar mb MB kb KB gb GB tb TB T G M K %
    км км² км³ м м² м³ дм дм² дм³ см см² см³ мм мм² мм³ нм кг г мг м/с км/ч кПа Па мбар Кб КБ кб Мб МБ мб Гб ГБ гб Тб ТБ
    тбكم كم كم² كم³ م م² م³ سم سم² سم³ مم مم² مم³ غرام جرام جم كغ ملغ كوب اكواب"""
_CURRENCIES = ["$", *"£€¥฿₽﷼₴", *map(chr, range(0x20A0, 0x20C0)), "US$", "C$", "A$"]
_HYPHENS = r"(?:-{1,3}|–|——?|~)"


def _one_of(words: Sequence[str]) -> str:
    """A pattern of words, the longest first."""
    return "|".join(map(re.escape, sorted(set(words), key=len, reverse=True)))


_ends = rf"{charset(PUNCT_MARKS)}|{charset(QUOTES)}|{charset(ICONS)}"
_PREFIX = re.compile(rf"[§%=—–]|\+(?![0-9])|\.\.+|{_ends}|{_one_of(_CURRENCIES)}")
_SUFFIX = re.compile(
    rf"(?:……|['’][sS]|[—–]|{_ends}|\.\.+|(?<=[0-9])(?:\+|{_one_of(_CURRENCIES)}|{_one_of(_UNITS.split())})"
    rf"|(?<=°[FfCcKk])\.|(?<={charset(LOWER, DOT_MARKS)})\.|(?<={charset(UPPER)}{{2}})\.)\Z"
)
_INFIX = re.compile(
    rf"\.\.+|…|{charset(ICONS)}|(?<=[0-9])[-+*^](?=[0-9-])"
    rf"|(?<={charset(LOWER, QUOTES)})\.(?={charset(UPPER, QUOTES)})"
    rf"|(?<={charset(ALPHA_RUNS)}),(?={charset(ALPHA_RUNS)})"
    rf"|(?<={charset(ALPHA_RUNS, '30-39')})(?:{_HYPHENS}|[:<>=/])(?={charset(ALPHA_RUNS)})"
)
_SCHEME = re.compile(r"[\w+\-.]{2,}://")
_HOST = re.compile(
    r"(?:(?!(?:10|127)(?:\.\d{1,3}){3})(?!(?:169\.254|192\.168)(?:\.\d{1,3}){2})"
    r"(?!172\.(?:1[6-9]|2\d|3[01])(?:\.\d{1,3}){2})"
    r"(?:[1-9]\d?|1\d\d|2[01]\d|22[0-3])(?:\.(?:1?\d{1,2}|2[0-4]\d|25[0-5])){2}\.(?:[1-9]\d?|1\d\d|2[0-4]\d|25[0-4])"
    r"|(?:(?:[A-Za-z0-9\u00a1-\uffff][A-Za-z0-9\u00a1-\uffff_-]{0,62})?[A-Za-z0-9\u00a1-\uffff]\.)+"
    rf"{charset(LOWER)}{{2,63}})(?::\d{{2,5}})?(?:[/?#]\S*)?\Z"
)


def cuts(chunk: str, *, known: bool = True) -> list[int]:
    """Where the words of a chunk end, before words that spell an exception are joined.

    Args:
        chunk: without white space, not empty.
        known: exceptions are cut as such.

    Returns:
        Ends in characters, rising; the last is the length of the chunk.

    >>> cuts("(e-mail:"), cuts("Don't"), cuts("Don't", known=False)
    ([1, 2, 3, 7, 8], [2, 5], [5])
    """
    special = exceptions() if known else {}
    lo, hi, heads, tails = 0, len(chunk), [], []
    while lo < hi and not (hi - lo <= LONGEST and chunk[lo:hi] in special):
        found = _PREFIX.match(chunk, lo, hi)
        after = found.end() if found else lo
        if lo < after < hi and hi - after <= LONGEST and chunk[after:hi] in special:
            heads.append(after)
            lo = after
            break
        before = _suffix(chunk, after, hi)
        if lo < before < hi and before - lo <= LONGEST and chunk[lo:before] in special:
            tails.append(hi)
            hi = before
            break
        if (lo, hi) == (after, before):
            break
        if after > lo:
            heads.append(after)
        if before < hi:
            tails.append(hi)
        lo, hi = after, before
    return heads + (_inside(chunk[lo:hi], lo, special) if lo < hi else []) + tails[::-1]


def _suffix(chunk: str, start: int, stop: int) -> int:
    """Where the longest suffix of chunk[start:stop] starts, `stop` where there is none; nothing before is looked at."""
    if chunk.endswith("..", start, stop):
        while stop > start and chunk[stop - 1] == ".":
            stop -= 1
        return stop
    base = max(start, stop - _LONGEST_SUFFIX)
    found = _SUFFIX.search(chunk[base:stop])
    return base + found.start() if found else stop


def _inside(core: str, offset: int, special: dict[str, tuple[int, ...]]) -> list[int]:
    """Ends of the words of a chunk without its marks."""
    if len(core) <= LONGEST and core in special:
        return [offset + end for end in special[core]]
    ends: list[int] = []
    if not _is_address(core):
        start = 0
        for found in _INFIX.finditer(core):
            if found.start() == 0:
                continue
            if found.start() > start:
                ends.append(offset + found.start())
            ends.append(offset + found.end())
            start = found.end()
    if not ends or ends[-1] < offset + len(core):
        ends.append(offset + len(core))
    return ends


def _is_address(core: str) -> bool:
    """Whether it reads as URL, host or e-mail address; time grows with the length, not its square."""
    if "." not in core:
        return False
    scheme = _SCHEME.match(core)
    if _HOST.match(core) or (scheme and _HOST.match(core, scheme.end())):
        return True
    return any(_HOST.match(core, at.end()) for at in re.finditer("@", core) if at.start())


@lru_cache(maxsize=1)
def patterns() -> dict[str, list[tuple[str, ...]]]:
    """Exceptions that the rules would cut in two words or more: those words, by the first of them."""
    found: dict[str, list[tuple[str, ...]]] = {}
    for word in exceptions():
        ends = cuts(word, known=False)
        if len(ends) > 1:
            parts = tuple(word[a:b] for a, b in pairwise([0, *ends]))
            found.setdefault(parts[0], []).append(parts)
    return found


@lru_cache(maxsize=1)
def pairs() -> frozenset[tuple[str, str]]:
    """Two words that stand side by side in one of the patterns."""
    every = [parts for group in patterns().values() for parts in group]
    return frozenset(pair for parts in every for pair in pairwise(parts))


def joined(chunks: Sequence[str], ends: Sequence[list[int]]) -> list[list[int]]:
    """Join words that spell an exception, in chunks with one space between two.

    The longest match takes its words first, the earliest of equals; one over a space takes them too, but joins nothing.

    Args:
        chunks: without white space.
        ends: `cuts` of each.

    Returns:
        As `ends`.

    >>> joined(["a:)"], [cuts("a:)")]), joined([":", ")a"], [cuts(":"), cuts(")a")])
    ([[1, 3]], [[1], [1, 2]])
    """
    words = [(c, a, b) for c, own in enumerate(ends) for a, b in pairwise([0, *own])]
    spelled = [chunks[c][a:b] for c, a, b in words]
    if not any(pair in pairs() for pair in pairwise(spelled)):
        return list(ends)
    taken: set[int] = set()
    made = [list(own) for own in ends]
    for start, stop in _matches(spelled):
        free = start not in taken and stop - 1 not in taken
        taken.update(range(start, stop))
        c, at, _ = words[start]
        if free and words[stop - 1][0] == c:
            end = words[stop - 1][2]
            whole = [at + k for k in exceptions()[chunks[c][at:end]]]
            made[c] = sorted({e for e in made[c] if not at < e <= end} | set(whole))
    return made


def _matches(words: Sequence[str]) -> list[tuple[int, int]]:
    """Runs of words that are patterns, the longest first, then the earliest."""
    found = [
        (i, i + len(parts))
        for i, word in enumerate(words)
        for parts in patterns().get(word, ())
        if tuple(words[i : i + len(parts)]) == parts
    ]
    return sorted(found, key=lambda run: (run[0] - run[1], run[0]))
