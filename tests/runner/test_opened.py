"""dataassets.open: what was built, as tables."""

import pytest

import dataassets
from dataassets.compute import Executor
from dataassets.runner import Work
from dataassets.store import ManifestError

KEY = "2026-08-01|notes"


def test_tables_hold_what_the_manifests_count(corpus):
    work = Work(corpus, executor=Executor("inline"))
    for cell in work.corpus.cells(["tokenized"]):
        if cell[1].startswith("2026-08-01"):
            work.run(*cell)
    opened = dataassets.open(corpus.file)
    assert opened.partitions("deduped") == [KEY, "2026-08-01|books"]
    assert len(opened.table("deduped", KEY)) == opened.manifest("deduped", KEY).counts["documents"]
    gone = opened.table("deduped", KEY, dropped=True)
    assert set(gone.column("reason").to_pylist()) <= {"exact:duplicate", "minhash:near_duplicate"}
    assert len(gone) == sum(opened.manifest("deduped", KEY).dropped.values()) > 0
    tokens = opened.table("tokenized", KEY)
    assert sum(map(len, tokens.column("tokens").to_pylist())) == opened.manifest("tokenized", KEY).counts["tokens"]
    assert "text" in opened.table("filtered", KEY).to_pandas().columns


def test_what_is_not_there_is_named(corpus):
    opened = dataassets.open(corpus.file)
    with pytest.raises(ManifestError, match="is not there; build it, or take one of: none"):
        opened.table("filtered", KEY)
    with pytest.raises(ValueError, match=r"a mix is read by loader\.TokenDataset"):
        opened.table("mixed", "pretrain")
