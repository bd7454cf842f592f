"""Contract 1: the Arrow schema of each product. A stage takes one of these and gives the next.

Every stage that may remove documents returns its records with a `reason` column: "" keeps a document, anything
else is `<rule>:<test>` and removes it. The runner parts the two, so in = out + dropped-by-reason holds by construction.
"""

import pyarrow as pa

KEPT = ""  # the reason of a document that stays

ID = pa.field("id", pa.binary(16), nullable=False)
REASON = pa.field("reason", pa.string(), nullable=False)

_ORIGIN = [
    pa.field("url", pa.large_string()),
    pa.field("origin", pa.string(), nullable=False),
    pa.field("position", pa.int64(), nullable=False),
    pa.field("timestamp", pa.timestamp("us", tz="UTC")),
]

# raw: bytes as they came. media_type may carry a charset, as served ("text/html; charset=latin-1").
RAW = pa.schema(
    [
        ID,
        pa.field("content", pa.large_binary(), nullable=False),
        pa.field("media_type", pa.string(), nullable=False),
        *_ORIGIN,
        pa.field("meta", pa.string()),
    ]
)

# cleaned, filtered, deduped: text. language and its score are null until `filtered` fills them from the signals.
DOCUMENTS = pa.schema(
    [
        ID,
        pa.field("text", pa.large_string(), nullable=False),
        *_ORIGIN,
        pa.field("language", pa.string()),
        pa.field("language_score", pa.float32()),
        pa.field("meta", pa.string()),
    ]
)

# signals: one row for each cleaned document, in its order, kept later or not; a column for each measured quantity,
# named as the test that reads it where it is a share. Null: the quantity does not exist (a share of nothing).
# c4_*: the same of the text as C4 rewrites it; null where C4 refuses the document, c4_refused then says why.
# These are always there; rules with signals of their own add them behind (stages.filter.schema).
LANGUAGE = [pa.field("language", pa.string()), pa.field("language_score", pa.float32())]
_SHAPE = ("line_punct_ratio", "short_line_ratio", "char_dup_ratio", "list_ratio")
STANDARD = [
    pa.field("num_chars", pa.int64(), nullable=False),
    pa.field("num_words", pa.int64(), nullable=False),
    pa.field("num_lines", pa.int64(), nullable=False),  # lines that are not blank
    *(pa.field(f"dup_{what}_frac", pa.float64()) for what in ("para", "para_char", "line", "line_char")),
    *(pa.field(f"top_{n}_gram", pa.float64()) for n in range(2, 5)),
    *(pa.field(f"duplicated_{n}_n_grams", pa.float64()) for n in range(5, 11)),
    pa.field("num_nonsymbol_words", pa.int64(), nullable=False),
    pa.field("mean_word_length", pa.float64()),  # of the words that are no symbols, characters
    *(pa.field(f"{mark}_ratio", pa.float64()) for mark in ("hash", "ellipsis")),  # per word
    *(pa.field(f"{what}_lines", pa.float64()) for what in ("bullet", "end_ellipsis")),  # share of lines
    pa.field("alpha_words", pa.float64()),  # share of words with a letter
    pa.field("num_stop_words", pa.int64(), nullable=False),  # distinct ones
    *(pa.field(name, pa.float64()) for name in _SHAPE),
    pa.field("c4_refused", pa.string(), nullable=False),  # "", lorem_ipsum or curly_bracket
    pa.field("c4_lines", pa.list_(pa.int32())),  # numbers of the lines kept, as str.splitlines counts; or of sentences
    pa.field("c4_num_sentences", pa.int64()),
    pa.field("c4_num_words", pa.int64()),
    pa.field("c4_num_lines", pa.int64()),
    *(pa.field(f"c4_{name}", pa.float64()) for name in _SHAPE),
]
SIGNALS = pa.schema([ID, *LANGUAGE, *STANDARD])

# duplicates: one row for each document that goes, with the kept document that it repeats.
DUPLICATES = pa.schema(
    [
        ID,
        pa.field("source", pa.string(), nullable=False),
        pa.field("match_id", pa.binary(16), nullable=False),
        pa.field("match_source", pa.string(), nullable=False),
        pa.field("similarity", pa.float32(), nullable=False),
        REASON,
        pa.field("match_snapshot", pa.string(), nullable=False),
    ]
)

# Beside duplicates where later snapshots look back: what documents that stay are found by, sorted by key. A row for
# each band and one for the text hash (exact; tag is its other half), with the document's place in the snapshot's order.
KEYS = pa.schema(
    [
        pa.field("key", pa.uint64(), nullable=False),
        pa.field("tag", pa.uint64(), nullable=False),
        pa.field("exact", pa.bool_(), nullable=False),
        pa.field("position", pa.int64(), nullable=False),
    ]
)

SHINGLES = pa.field("shingles", pa.large_list(pa.field("item", pa.uint32(), nullable=False)))


def signatures(num_perm: int) -> pa.Schema:
    """Schema of `signatures`, one row for each filtered document, in its order.

    `text_hash` is the hash of the normalized text (null where exact dedup is off); `signature` holds the MinHash
    values (null where MinHash is off or the document has fewer words than a shingle). `num_distinct` counts the
    shingles that differ in their hash; where duplicates are verified exactly, those hashes lie beside the part
    (`_shingles-…`), document after document, sorted, little-endian uint32: row r has those from
    sum(num_distinct[:r]) on.

    Args:
        num_perm: permutations in a signature; 0 where MinHash is off.

    >>> signatures(2).field("signature").type.list_size
    2
    """
    return pa.schema(
        [
            ID,
            pa.field("text_hash", pa.binary(16)),
            pa.field("signature", pa.list_(pa.uint32(), num_perm)),
            pa.field("num_shingles", pa.int32(), nullable=False),
            pa.field("num_distinct", pa.int32(), nullable=False),
        ]
    )


def with_shingles(schema: pa.Schema) -> pa.Schema:
    """Signatures with the shingle hashes themselves, as dedup hands them to the runner; null where nobody asks.

    >>> with_shingles(signatures(2)).names[-1]
    'shingles'
    """
    return schema.append(SHINGLES)


def tokens(dtype: pa.DataType) -> pa.Schema:
    """Schema of what tokenize hands to the store, which writes it as shards.

    Args:
        dtype: uint16 where the vocabulary fits, else int32.

    >>> tokens(pa.uint16()).names
    ['id', 'source', 'url', 'tokens']
    """
    return pa.schema(
        [
            ID,
            pa.field("source", pa.string(), nullable=False),
            pa.field("url", pa.large_string()),
            pa.field("tokens", pa.large_list(pa.field("item", dtype, nullable=False)), nullable=False),
        ]
    )


def with_reason(schema: pa.Schema) -> pa.Schema:
    """The same columns plus `reason`: what a stage returns and what lies under `dropped/`.

    >>> with_reason(DOCUMENTS).names[-1]
    'reason'
    """
    return schema.append(REASON)
