"""Ways to cut a text into words and sentences, by the name that a recipe gives them."""

from collections.abc import Callable
from typing import NamedTuple

from dataassets.stages.text.buffers import Bytes, Ints
from dataassets.stages.text.chunks import Words, sentence_counts, word_counts, word_spans
from dataassets.stages.text.unicode_words import unicode_sentence_counts, unicode_word_counts, unicode_word_spans


class Cut(NamedTuple):
    """Words and sentences of columns of bytes.

    Args:
        word_spans: of buffer and offsets: where the words lie.
        word_counts: of the same: how many each document has.
        sentence_counts: of buffer, starts and stops: how many each text has.
    """

    word_spans: Callable[[Bytes, Ints], Words]
    word_counts: Callable[[Bytes, Ints], Ints]
    sentence_counts: Callable[[Bytes, Ints, Ints], Ints]


CUTS = {
    "english": Cut(word_spans, word_counts, sentence_counts),
    "unicode": Cut(unicode_word_spans, unicode_word_counts, unicode_sentence_counts),
}
