"""A filter of one's own: how easy a text reads, and how much of it sells something.

docs/how-to/filters/custom.md tells how a recipe names it.
"""

import re

import pyarrow as pa

WORD = re.compile(r"[A-Za-z]+")
SYLLABLE = re.compile(r"[aeiouy]+")  # a rough count: runs of vowels


def readability(documents: pa.RecordBatch, *, ads: list[str]) -> dict[str, list[float | None]]:
    """Flesch's reading ease, and the share of words that are among `ads`; null where a text has no words."""
    ease: list[float | None] = []
    share: list[float | None] = []
    for text in documents.column("text").to_pylist():
        words = WORD.findall(text.lower())
        sentences = max(1, len(re.findall(r"[.!?]+", text)))
        syllables = sum(len(SYLLABLE.findall(word)) or 1 for word in words)
        if words:
            ease.append(206.835 - 1.015 * len(words) / sentences - 84.6 * syllables / len(words))  # Flesch 1948
            share.append(sum(word in ads for word in words) / len(words))
        else:
            ease.append(None)
            share.append(None)
    return {"flesch": ease, "ads": share}
