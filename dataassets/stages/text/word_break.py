"""The property Word_Break of Unicode 18.0.0: a class for each code point, read from `word_break.txt` beside this file.

That file is ours to keep, so that words do not change with a library's version.
"""

import importlib.resources
import re
from functools import lru_cache

import numpy as np

from dataassets.stages.text.buffers import Bytes, frozen
from dataassets.stages.text.classes import SPACE, class_table, code_points

NAMES = (
    "Other", "CR", "LF", "Newline", "Extend", "ZWJ", "Format", "Regional_Indicator", "ALetter", "Hebrew_Letter",
    "Numeric", "ExtendNumLet", "Katakana", "Single_Quote", "Double_Quote", "MidNumLet", "MidLetter", "MidNum",
    "WSegSpace",
)  # fmt: skip
(OTHER, CR, LF, NEWLINE, EXTEND, ZWJ, FORMAT, REGIONAL, LETTER, HEBREW, NUMERIC, LOW_LINE, KATAKANA, QUOTE,
 DOUBLE_QUOTE, MID_NUM_LET, MID_LETTER, MID_NUM, SEGMENT_SPACE) = range(len(NAMES))  # fmt: skip
CLASS = 0x1F  # bits of the class
PICTOGRAPH = 0x40  # Extended_Pictographic
BLANK = 0x80  # makes no word by itself: white space, marks and format characters without a base, zero width space
ZERO_WIDTH_SPACE = 0x200B  # parts words where a script writes none: Thai, Khmer


def runs() -> dict[str, str]:
    """Code points of each value that `word_break.txt` names, as hex runs.

    >>> runs()["CR"], runs()["ZWJ"]
    ('d', '200d')
    """
    text = (importlib.resources.files(__package__) / "word_break.txt").read_text(encoding="ascii")
    named = re.findall(r"^(\w+):((?:\n    .+)+)", text, re.MULTILINE)
    return {name: " ".join(lines.split()) for name, lines in named}


@lru_cache(maxsize=1)
def break_table() -> Bytes:
    """Class and bits of every code point: uint8 [0x200000], read-only, made once a process.

    >>> NAMES[break_table()[ord("a")]], NAMES[break_table()[ord(" ")] & CLASS]
    ('ALetter', 'WSegSpace')
    """
    spaces = (class_table() & SPACE) != 0
    table = np.where(spaces, np.uint8(BLANK), np.uint8(OTHER))
    for name, points in runs().items():
        table[code_points(points)] |= np.uint8(PICTOGRAPH if name == "Extended_Pictographic" else NAMES.index(name))
    table[np.isin(table & CLASS, [EXTEND, ZWJ, FORMAT])] |= np.uint8(BLANK)
    table[ZERO_WIDTH_SPACE] |= np.uint8(BLANK)
    return frozen(table)
