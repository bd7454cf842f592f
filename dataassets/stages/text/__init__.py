"""One definition of words and sentences, plain and compiled; every stage cuts text here.

Words are those of spaCy 3.8's blank English tokenizer, sentences those of its sentencizer, on any text. `words` and
`sentences` are the plain form; `word_spans`, `word_counts` and `sentence_counts` are the same over columns of bytes.
`unicode_*` cut by the rules of Unicode instead, for other languages; CUTS names both.
"""

from dataassets.stages.text.buffers import (
    FNV_BASIS,
    FNV_PRIME,
    Bytes,
    Hashes,
    Int,
    Ints,
    compiled,
    decode,
    fnv1a,
    frozen,
    utf8_buffers,
)
from dataassets.stages.text.chunks import Words, sentence_counts, word_counts, word_spans
from dataassets.stages.text.classes import (
    ALPHA,
    CODE_POINTS,
    DIGIT,
    LINE_END,
    LINE_ENDS,
    OTHER_SYMBOLS,
    SPACE,
    SYMBOL,
    TERMINAL,
    TERMINAL_MARKS,
    class_table,
    code_points,
)
from dataassets.stages.text.cuts import CUTS, Cut
from dataassets.stages.text.plain import sentences, words
from dataassets.stages.text.unicode_words import unicode_sentence_counts, unicode_word_counts, unicode_word_spans

__all__ = [
    "ALPHA",
    "CODE_POINTS",
    "CUTS",
    "DIGIT",
    "FNV_BASIS",
    "FNV_PRIME",
    "LINE_END",
    "LINE_ENDS",
    "OTHER_SYMBOLS",
    "SPACE",
    "SYMBOL",
    "TERMINAL",
    "TERMINAL_MARKS",
    "Bytes",
    "Cut",
    "Hashes",
    "Int",
    "Ints",
    "Words",
    "class_table",
    "code_points",
    "compiled",
    "decode",
    "fnv1a",
    "frozen",
    "sentence_counts",
    "sentences",
    "unicode_sentence_counts",
    "unicode_word_counts",
    "unicode_word_spans",
    "utf8_buffers",
    "word_counts",
    "word_spans",
    "words",
]
