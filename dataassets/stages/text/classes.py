"""Classes of characters: what a stage asks of a code point, and the sets that the English rules name.

Sets are written as runs of code points, hex.
"""

import unicodedata
from collections.abc import Iterable
from functools import lru_cache

import numpy as np

from dataassets.stages.text.buffers import Bytes, frozen

# Classes of a code point, one bit each.
SPACE, END_MARK, ALPHA, DIGIT, SYMBOL, TERMINAL, PUNCT, LINE_END = (1 << bit for bit in range(8))

# Sentence-final marks of many scripts (Unicode's Sentence_Terminal, less ten, plus three of Khmer), and the marks
# that make a word a "symbol".  Source: TERMINAL_PUNCTUATION, PUNCTUATION of datatrove 0.10.1
TERMINAL_MARKS = """
    21 2e 3f 589 61d-61f 6d4 700-702 7f9 837 839 83d-83e 964-965 104a-104b 1362 1367-1368 166e 1735-1736 17d4-17d6
    17d9-17da 1803 1809 1944-1945 1aa8-1aab 1b5a-1b5b 1b5e-1b5f 1b7d-1b7e 1c3b-1c3c 1c7e-1c7f 203c-203d 2047-2049 2e2e
    2e3c 2e53-2e54 3002 a4ff a60e-a60f a6f3 a6f7 a876-a877 a8ce-a8cf a92f a9c8-a9c9 aa5d-aa5f aaf0-aaf1 abeb fe52
    fe56-fe57 ff01 ff0e ff1f ff61 10a56-10a57 10f55-10f59 10f86-10f89 11047-11048 110be-110c1 11141-11143 111c5-111c6
    111cd 111de-111df 11238-11239 1123b-1123c 112a9 1144b-1144c 115c2-115c3 115c9-115d7 11641-11642 1173c-1173e 11944
    11946 11a42-11a43 11a9b-11a9c 11c41-11c42 11ef7-11ef8 11f43-11f44 16a6e-16a6f 16af5 16b37-16b38 16b44 16e98 1bc9f
    1da88"""
OTHER_SYMBOLS = """
    0-8 b-1f 21-2f 3a-40 5b-60 7b-9f ab b4 bb 2013-2014 2019 201c-201e 2026 2236 2501 25ba 3001-3002 3008-300d
    3010-3011 ff01 ff05 ff08-ff09 ff0c ff0e ff11 ff1a-ff1b ff1f ff5e"""
# Terminal marks that end no sentence for spaCy 3.8's sentencizer.
_NO_END_MARKS = """
    61d-61e 837 839 83d-83e 17d4-17d6 17d9-17da 1b7d-1b7e 2e53-2e54 10f55-10f59 10f86-10f89 11944 11946 11ef7-11ef8
    11f43-11f44 16e98"""
LINE_ENDS = "a-d 1c-1e 85 2028-2029"  # where str.splitlines cuts
CODE_POINTS = 0x110000
_TABLE_SIZE = 0x200000  # whatever four bytes can spell, so that damaged UTF-8 cannot read past the table

# Letters of scripts with case, and those of scripts without (whole blocks, marks among them).  Source: spaCy 3.8
_CASED = """
    41-5a 61-7a c0-d6 d8-f6 f8-1bf 1c4-2af 386 388-38a 38c 38e-38f 391-3a9 3ac-3af 3b1-3c9 3cc-3ce 400-401 403-40a
    40c-40d 410-451 453-45a 45c-45d 490-491 496-497 4a2-4a3 4ae-4af 4ba-4bb 4d8-4d9 4e8-4e9 1d00-1d25 1d6b-1d77
    1d79-1d9a 1e00-1eff 2c60-2c7b 2c7e-2c7f a722-a76f a771-a787 a78b-a78e a790-a7b9 a7fa ab30-ab5a ab60-ab64 ff21-ff3a
    ff41-ff5a"""
_UNCASED = """
    591-5f4 620-64a 66e-6d5 6e5-6ff 750-77f 8a0-8bd 900-9ff b80-cff d80-dff 1100-137f 2e80-2fdf 2ff0-30ff 31c0-31ef
    3200-4dbf 4e00-9fff ac00-d7af f900-faff fb1d-fbb1 fbd3-fd3d fd50-fdc7 fdf0-fdfb fe30-fe4f fe70-fefc 1ee00-1eebb
    1f200-1f2ff 20000-2a6df 2a700-2ebef 2f800-2fa1f"""
# Symbols and emoji: of these runs, what Unicode calls So.
_SO = """
    a6-b0 482 58d-58e 60e-6fe 7f6 9fa b70 bf3-bfa c7f d4f d79 f01-f38 fbe-fcc fce-fd8 109e-109f 1390-1399 1940 19de-19ff
    1b61-1b7c 2100-218b 2195-2426 2440-244a 249c-2b73 2b76-2b95 2b98-2bc8 2bca-2bfe 2ce5-2cea 2e80-2e99 2e9b-2ef3
    2f00-2fd5 2ff0-2ffb 3004-303f 3190-31e3 3200-321e 322a-32fe 3300-33ff 4dc0-4dff a490-a4c6 a828-a82b a836-a839
    aa77-aa79 fdfd ffe4 ffe8-ffee fffc-fffd 10137-1018e 10190-1019b 101a0 101d0-101fc 10877-10878 10ac8 1173f
    16b3c-16b45 1bc9c 1d000-1d0f5 1d100-1d126 1d129-1d1e8 1d200-1d245 1d300-1d356 1d800-1da86 1ecac 1f000-1f02b
    1f030-1f093 1f0a0-1f0ae 1f0b1-1f0bf 1f0c1-1f0cf 1f0d1-1f0f5 1f110-1f16b 1f170-1f1ac 1f1e6-1f202 1f210-1f23b
    1f240-1f248 1f250-1f251 1f260-1f265 1f300-1f6d4 1f6e0-1f6ec 1f6f0-1f6f9 1f700-1f773 1f780-1f7d8 1f800-1f80b
    1f810-1f847 1f850-1f859 1f860-1f887 1f890-1f8ad 1f900-1f90b 1f910-1f93e 1f940-1f970 1f973-1f976 1f97a 1f97c-1f9a2
    1f9b0-1f9b9 1f9c0-1f9c2 1f9d0-1f9ff 1fa60-1fa6d"""


def code_points(runs: str) -> list[int]:
    """Code points written as hex runs.

    >>> code_points("61-63 7a")
    [97, 98, 99, 122]
    """
    ends = [run.split("-") for run in runs.split()]
    return [point for run in ends for point in range(int(run[0], 16), int(run[-1], 16) + 1)]


def as_runs(points: Iterable[int]) -> str:
    """Rising code points as hex runs: the inverse of `code_points`.

    >>> as_runs([97, 98, 99, 122])
    '61-63 7a'
    """
    ends: list[list[int]] = []
    for point in points:
        if ends and ends[-1][1] == point - 1:
            ends[-1][1] = point
        else:
            ends.append([point, point])
    return " ".join(f"{a:x}-{b:x}" if a < b else f"{a:x}" for a, b in ends)


def charset(*runs: str) -> str:
    r"""A character class for `re`.

    >>> charset("61-63 7a", "5d")
    '[\\U00000061-\\U00000063\\U0000007a\\U0000005d]'
    """
    spelled = [[f"\\U{int(end, 16):08x}" for end in run.split("-")] for run in " ".join(runs).split()]
    return "[" + "".join("-".join(run) for run in spelled) + "]"


def _of(runs: str, category: str) -> str:
    """Of some code points, those of a category."""
    return as_runs(point for point in code_points(runs) if unicodedata.category(chr(point)) == category)


def _marks(chars: str) -> str:
    return as_runs(sorted(map(ord, set(chars))))


ALPHA_RUNS = f"{_CASED} {_UNCASED}"
LOWER = f"{_of(_CASED, 'Ll')} 294 {_UNCASED}"
UPPER = f"{_of(_CASED, 'Lu')} 3a2 {_UNCASED}"
ICONS = _of(_SO, "So")
PUNCT_MARKS = _marks("…,:;!?¿؟¡()[]{}<>_#*&。？！，、；：～·।،۔؛٪")
QUOTES = _marks("'\"”“`‘´’‚,„»«「」『』（）〔〕【】《》〈〉\u2329\u232a⟦⟧")
DOT_MARKS = f"{PUNCT_MARKS} {QUOTES} 30-39 {_marks('%²-+|')}"  # with a lower-case letter, what a dot is cut from


@lru_cache(maxsize=1)
def class_table() -> Bytes:
    """Classes of every code point: uint8 [0x200000], read-only, made once a process (0.3 s) from `unicodedata`.

    >>> bool(class_table()[ord("é")] & ALPHA), bool(class_table()[ord("!")] & ALPHA)
    (True, False)
    """
    chars = [chr(point) for point in range(CODE_POINTS)]
    table = np.zeros(_TABLE_SIZE, np.uint8)

    def mark(bit: int, members: Iterable[bool]) -> None:
        table[:CODE_POINTS] |= np.fromiter(members, bool, CODE_POINTS).astype(np.uint8) * np.uint8(bit)

    mark(SPACE, map(str.isspace, chars))
    mark(ALPHA, map(str.isalpha, chars))
    mark(DIGIT, map(str.isdecimal, chars))
    mark(PUNCT, (c[0] == "P" for c in map(unicodedata.category, chars)))
    table[code_points(TERMINAL_MARKS)] |= TERMINAL | SYMBOL | END_MARK
    table[code_points(OTHER_SYMBOLS)] |= SYMBOL
    table[code_points(_NO_END_MARKS)] &= 0xFF ^ END_MARK
    table[code_points(LINE_ENDS)] |= LINE_END
    return frozen(table)
