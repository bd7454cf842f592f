"""Signatures are datasketch's, text hashes those of the normalized text."""

import unicodedata

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
import xxhash
from datasketch import LeanMinHash, MinHash
from hypothesis import given, settings
from hypothesis import strategies as st

from dataassets import hashing, records
from dataassets import recipe as rc
from dataassets.stages.dedup import character_hash, shingle_hash, sign
from dataassets.stages.dedup.signing import normalized
from dataassets.stages.text import words

KINDS = ("words", "characters")
BOTH = rc.Dedup(exact=True, minhash=rc.MinHash(num_perm=24, bands=4, ngram=3))


def documents(texts):
    num = len(texts)
    nulls = {f.name: pa.nulls(num, f.type) for f in records.DOCUMENTS if f.nullable}
    return (
        pa.table(
            {
                **nulls,
                "id": pa.array([hashing.document_id("s", "o", i) for i in range(num)], pa.binary(16)),
                "text": pa.array(texts, pa.large_string()),
                "origin": pa.array(["o"] * num, pa.string()),
                "position": pa.array(range(num), pa.int64()),
            }
        )
        .select(records.DOCUMENTS.names)
        .cast(records.DOCUMENTS)
    )


def oracle(text, *, num_perm, ngram, seed, shingle="words"):
    """datasketch's signature of a text, or None; its shingles' hashes."""
    if shingle == "words":
        cut = words(pc.utf8_lower(pa.scalar(text, pa.large_string())).as_py())
        shingles = [" ".join(cut[i : i + ngram]).encode() for i in range(len(cut) - ngram + 1)]
    else:
        cut = normalized(text)
        shingles = [cut[i : i + ngram].encode() for i in range(len(cut) - ngram + 1)]
    if not shingles:
        return None, []
    hashed = shingle_hash if shingle == "words" else character_hash
    made = MinHash(num_perm=num_perm, seed=seed, scheme="affine32", hashfunc=hashed)
    made.update_batch(shingles)
    return made.hashvalues.tolist(), [hashed(one) for one in shingles]


texts = st.lists(
    st.one_of(
        st.text(), st.lists(st.sampled_from(["The", "cat", "Él", "sat.", "...", "\n", "Ünï", "42"])).map(" ".join)
    ),
    max_size=8,
)


@settings(deadline=None, max_examples=120)
@given(texts, st.sampled_from([(1, 1), (7, 2), (24, 3), (112, 5)]), st.integers(0, 3), st.sampled_from(KINDS))
def test_signatures_are_datasketchs_and_shingles_those_that_it_was_fed(texts, shape, seed, shingle):
    num_perm, ngram = shape
    minhash = rc.MinHash(num_perm=max(2, num_perm), bands=1, ngram=ngram, seed=seed, shingle=shingle)
    table, report = sign(documents(texts), settings=rc.Dedup(minhash=minhash))
    wanted = [oracle(t, num_perm=minhash.num_perm, ngram=ngram, seed=seed, shingle=shingle) for t in texts]
    assert table["signature"].to_pylist() == [w for w, _ in wanted]
    assert table["num_shingles"].to_pylist() == [len(found) for _, found in wanted]
    assert table["shingles"].to_pylist() == [sorted(set(found)) for _, found in wanted]
    assert table["num_distinct"].to_pylist() == [len(set(found)) for _, found in wanted]
    assert report.counts == {"documents": len(texts), "too_short": sum(w is None for w, _ in wanted)}
    assert table.schema.equals(records.with_shingles(records.signatures(minhash.num_perm)))


def test_shingles_are_kept_where_pairs_are_verified_exactly_only():
    text = documents(["some words that are more than five"])
    kept = {v: sign(text, settings=rc.Dedup(minhash=rc.MinHash(verify=v)))[0] for v in ("exact", "estimate", "none")}
    assert {v: table["shingles"].null_count for v, table in kept.items()} == {"exact": 0, "estimate": 1, "none": 1}
    assert len({str(table.drop_columns(["shingles"]).to_pylist()) for table in kept.values()}) == 1


def test_datasketch_loads_a_row_and_estimates_with_it():
    text = " ".join(f"word{i}" for i in range(300))
    table, _ = sign(documents([text, text.replace("word7 ", "other ")]), settings=rc.Dedup(minhash=rc.MinHash()))
    rows = [LeanMinHash(seed=1, hashvalues=row, scheme="affine32") for row in table["signature"].to_pylist()]
    assert 0.9 < rows[0].jaccard(rows[1]) < 1
    fresh = MinHash(num_perm=112, seed=1, scheme="affine32", hashfunc=shingle_hash)
    for i in range(296):
        fresh.update(" ".join(f"word{j}" for j in range(i, i + 5)).encode())
    assert fresh.jaccard(rows[0]) == 1


def test_golden_signature():
    """These bytes are in stored products: another value here is a new format."""
    settings = rc.Dedup(exact=True, minhash=rc.MinHash(num_perm=8, bands=2))
    table, _ = sign(
        documents(["The quick brown fox jumps over the lazy dog. Größe 42!", "too short"]), settings=settings
    )
    assert table["signature"].to_pylist() == GOLDEN_SIGNATURE
    assert [h.hex() for h in table["text_hash"].to_pylist()] == GOLDEN_HASHES
    assert table["num_shingles"].to_pylist() == [9, 0]


GOLDEN_SIGNATURE = [[53257098, 1339746035, 30860627, 377299765, 900644753, 27295144, 4009511, 323798299], None]
GOLDEN_HASHES = ["bafbaa243d0289d13d29fd194c17f244", "4dd603aac140c06618cb196a69ef9c70"]


@given(st.lists(st.text()))
def test_text_hashes_are_those_of_the_normalized_text(texts):
    table, report = sign(documents(texts), settings=rc.Dedup(exact=True))
    wanted = []
    for text in texts:
        plain = " ".join(unicodedata.normalize("NFC", text).lower().split())
        wanted.append(xxhash.xxh3_128_digest(plain.encode()) if plain else None)
    assert table["text_hash"].to_pylist() == wanted
    assert table["signature"].null_count == len(texts)
    assert report.counts == {"documents": len(texts), "without_text": wanted.count(None)}


def test_case_space_and_composition_do_not_matter():
    same = ["Ein Café\n\tam  Meer", " ein cafe\u0301 am\u00a0meer ", "EIN CAFÉ AM MEER"]
    table, _ = sign(documents([*same, "ein cafe am meer"]), settings=rc.Dedup(exact=True))
    hashes = table["text_hash"].to_pylist()
    assert len(set(hashes[:3])) == 1
    assert hashes[3] != hashes[0]


@given(st.lists(st.text(), min_size=1), st.integers(1, 5))
def test_rows_do_not_depend_on_their_neighbours_or_the_chunks(texts, cut):
    docs = documents(texts)
    whole, _ = sign(docs, settings=BOTH)
    pieces = [sign(docs.slice(i, cut), settings=BOTH)[0] for i in range(0, len(texts), cut)]
    assert pa.concat_tables(pieces).combine_chunks().equals(whole.combine_chunks())
    chunked = pa.concat_tables([docs.slice(i, cut) for i in range(0, len(texts), cut)])
    assert sign(chunked, settings=BOTH)[0].equals(whole)


@pytest.mark.parametrize("settings", [rc.Dedup(), BOTH, rc.Dedup(exact=True)])
def test_signatures_go_through_parquet(settings, tmp_path):
    table, _ = sign(documents(["a b c d e", "", "x", "long " * 50]), settings=settings)
    pq.write_table(table, tmp_path / "part.parquet")
    assert pq.read_table(tmp_path / "part.parquet").equals(table)
    assert table["id"].equals(documents(["", "", "", ""])["id"])


def test_nothing_asked_nothing_signed():
    table, report = sign(documents(["some text here, enough of it"]), settings=rc.Dedup())
    assert table["text_hash"].null_count == table["signature"].null_count == 1
    assert table.schema.equals(records.with_shingles(records.signatures(0)))
    assert report.counts == {"documents": 1}
    assert np.asarray(table["num_shingles"]).tolist() == [0]
