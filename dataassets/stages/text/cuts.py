"""Ways to cut a text into words and sentences, by the name that a recipe gives them."""

from collections.abc import Callable
from typing import NamedTuple

from dataassets.stages.text.buffers import Bytes, Ints
from dataassets.stages.text.chunks import Words, counts_of_parts, sentence_counts, word_counts, word_spans
from dataassets.stages.text.unicode_words import unicode_sentence_counts, unicode_word_counts, unicode_word_spans


class Cut(NamedTuple):
    """Words and sentences of columns of bytes.

    Args:
        word_spans: of buffer and offsets: where the words lie.
        word_counts: of the same: how many each document has.
        sentence_counts: of buffer, starts and stops: how many each text has.
        counts_of_parts: of words, starts and stops: how many words and sentences each part has, where it ends at ends
            of lines; None where a part may be cut otherwise than by itself.
    """

    word_spans: Callable[[Bytes, Ints], Words]
    word_counts: Callable[[Bytes, Ints], Ints]
    sentence_counts: Callable[[Bytes, Ints, Ints], Ints]
    counts_of_parts: Callable[[Words, Ints, Ints], tuple[Ints, Ints]] | None


CUTS = {
    "english": Cut(word_spans, word_counts, sentence_counts, counts_of_parts),
    "unicode": Cut(unicode_word_spans, unicode_word_counts, unicode_sentence_counts, None),
}
