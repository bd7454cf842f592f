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
    decode,
    fnv1a,
    frozen,
    utf8_buffers,
)
from dataassets.stages.text.chunks import (
    Words,
    counts,
    counts_of_parts,
    sentence_counts,
    warm_up,
    word_counts,
    word_spans,
)
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
from dataassets.stages.text.compiling import bare, compiled, inner
from dataassets.stages.text.cuts import CUTS, Cut
from dataassets.stages.text.eight import (
    EIGHT,
    ONES,
    TOPS,
    count_ones,
    has_below,
    hash64,
    head64,
    load64,
    low_zeros,
    mix64,
    num_followers,
    store64,
    where_is,
)
from dataassets.stages.text.plain import REFUSED, sentences, words
from dataassets.stages.text.sentence_ends import sentence_ends
from dataassets.stages.text.unicode_words import unicode_sentence_counts, unicode_word_counts, unicode_word_spans

__all__ = [
    "ALPHA",
    "CODE_POINTS",
    "CUTS",
    "DIGIT",
    "EIGHT",
    "FNV_BASIS",
    "FNV_PRIME",
    "LINE_END",
    "LINE_ENDS",
    "ONES",
    "OTHER_SYMBOLS",
    "REFUSED",
    "SPACE",
    "SYMBOL",
    "TERMINAL",
    "TERMINAL_MARKS",
    "TOPS",
    "Bytes",
    "Cut",
    "Hashes",
    "Int",
    "Ints",
    "Words",
    "bare",
    "class_table",
    "code_points",
    "compiled",
    "count_ones",
    "counts",
    "counts_of_parts",
    "decode",
    "fnv1a",
    "frozen",
    "has_below",
    "hash64",
    "head64",
    "inner",
    "load64",
    "low_zeros",
    "mix64",
    "num_followers",
    "sentence_counts",
    "sentence_ends",
    "sentences",
    "store64",
    "unicode_sentence_counts",
    "unicode_word_counts",
    "unicode_word_spans",
    "utf8_buffers",
    "warm_up",
    "where_is",
    "word_counts",
    "word_spans",
    "words",
]
