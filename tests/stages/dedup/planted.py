"""Pairs of known similarity, planted in text that ships with Python: the language reference, words exchanged.

A pair is a text and a copy in which a share of the words was replaced by others of the same vocabulary; pairs share no
text with each other, so whatever is removed beside them is a mistake.
"""

import pydoc_data.topics
import random
import re

import numpy as np
import pyarrow as pa

from dataassets import hashing

WORD = re.compile(r"[A-Za-z]{2,}")


def planted_texts(num_pairs, *, seed, length=150):
    """Texts of some pairs: a text at 2k, its changed copy at 2k + 1, with Jaccard similarities from 0.3 to 1.

    Args:
        num_pairs: how many.
        seed: of the choice.
        length: words of a text.
    """
    chance = random.Random(seed)
    vocabulary = WORD.findall(" ".join(pydoc_data.topics.topics[name] for name in sorted(pydoc_data.topics.topics)))
    texts = []
    for _ in range(num_pairs):
        start = chance.randrange(len(vocabulary) - length)
        words = vocabulary[start : start + length]
        for at in chance.sample(range(length), length // 2):  # what is left of the source is no near-copy of it
            words[at] = chance.choice(vocabulary)
        texts.append(" ".join(words))
        for at in chance.sample(range(length), chance.randrange(1, 16)):
            words[at] = chance.choice(vocabulary)
        texts.append(" ".join(words))
    return texts


def documents_of(texts):
    ids = [hashing.document_id("s", "o", i) for i in range(len(texts))]
    return pa.table({"id": pa.array(ids, pa.binary(16)), "text": pa.array(texts, pa.large_string())})


def sets_of(texts, *, ngram=5):
    """Shingles by plain Python: the texts hold nothing but words and single spaces."""
    cut = [text.lower().split() for text in texts]
    return [frozenset(tuple(w[i : i + ngram]) for i in range(len(w) - ngram + 1)) for w in cut]


def true_jaccard(a, b):
    return len(a & b) / len(a | b)


def brute_force(sets):
    """Jaccard of all pairs: a matrix with 0 on and below the diagonal, by counting shared shingles."""
    found = np.zeros((len(sets), len(sets)))
    holders = {}
    for d, own in enumerate(sets):
        shared = {}
        for shingle in own:
            for e in holders.setdefault(shingle, []):
                shared[e] = shared.get(e, 0) + 1
            holders[shingle].append(d)
        for e, n in shared.items():
            found[e, d] = n / (len(own) + len(sets[e]) - n)
    return found
