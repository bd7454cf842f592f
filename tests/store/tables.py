"""Tables of every product's schema, from a seed; and the same rows in other chunks."""

import random
import struct
from itertools import pairwise
from typing import Any

import pyarrow as pa

from dataassets import records

SCHEMAS = {
    "raw": records.RAW,
    "documents": records.DOCUMENTS,
    "dropped": records.with_reason(records.DOCUMENTS),
    "signals": records.SIGNALS,
    "duplicates": records.DUPLICATES,
    "signatures": records.signatures(3),
    "signatures of no MinHash": records.signatures(0),
    "tokens of 16 bits": records.tokens(pa.uint16()),
    "tokens of 32 bits": records.tokens(pa.int32()),
}
WORDS = ("", "", "a", "ab", "naïve ", "\0", "日本語", "word " * 40)


def table_of(schema: pa.Schema, rows: int, *, seed: int) -> pa.Table:
    """Rows with nulls where the schema lets them be, empty values, extremes and NaN."""
    chance = random.Random(seed)
    columns = [pa.array([value(f.type, chance, null=f.nullable) for _ in range(rows)], f.type) for f in schema]
    return pa.Table.from_arrays(columns, schema=schema)


def value(kind: pa.DataType, chance: random.Random, *, null: bool) -> Any:
    none = pa.types.is_fixed_size_list(kind) and kind.list_size == 0  # such a column says that there is nothing
    if none or (null and chance.random() < 0.3):
        return None
    if pa.types.is_fixed_size_list(kind):
        return [value(kind.value_type, chance, null=False) for _ in range(kind.list_size)]
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return [value(kind.value_type, chance, null=False) for _ in range(chance.choice((0, 0, 1, 5)))]
    if pa.types.is_fixed_size_binary(kind):
        return chance.randbytes(kind.byte_width)
    if pa.types.is_large_binary(kind):
        return chance.choice(WORDS).encode()
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return chance.choice(WORDS)
    if pa.types.is_floating(kind):
        drawn = chance.choice((0.0, -0.0, 0.25, float("nan"), float("inf"), chance.random()))
        return struct.unpack("f", struct.pack("f", drawn))[0]
    top = 2**50 if pa.types.is_timestamp(kind) else 2 ** (kind.bit_width - 1) - 1
    return chance.choice((0, 1, top, chance.randrange(top)))


def recut(table: pa.Table, chance: random.Random) -> pa.Table:
    """The same rows: as slices of a larger table, in chunks, some of them empty, or built anew."""
    how = chance.randrange(4)
    if how == 0:
        return pa.Table.from_pylist(table.to_pylist(), schema=table.schema)
    if how == 1:
        return pa.concat_tables([table, table]).combine_chunks().slice(len(table), len(table))
    if how == 2 and not len(table):
        return pa.Table.from_batches([], schema=table.schema)
    cuts = sorted([0, len(table), *(chance.randint(0, len(table)) for _ in range(4))])
    return pa.concat_tables([table.slice(a, b - a) for a, b in pairwise(cuts)])
