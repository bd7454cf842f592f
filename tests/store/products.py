"""Small products for tests of the store."""

import uuid

import pyarrow as pa
from store.tables import SCHEMAS, table_of

from dataassets.report import Check
from dataassets.store import Causes, Job, Manifest, Store, UnitRecord

KEY = "2026-10-01|web"


def documents(rows: int, *, seed: int = 1) -> pa.Table:
    return table_of(SCHEMAS["documents"], rows, seed=seed)


def token_rows(rows: int, *, seed: int = 1) -> pa.Table:
    return table_of(SCHEMAS["tokens of 16 bits"], rows, seed=seed)


def made(
    store: Store, product: str, partition: str, *, version: str = "1", rows: tuple[int, ...] = (3, 0, 2)
) -> tuple[Job, Manifest]:
    """Work of some units with their records, not yet committed; each drops one document where it has any."""
    causes = Causes({"up": "digest"}, {"min": 1}, version)
    job = causes.job(product, partition)
    records = []
    for i, n in enumerate(rows):
        seed = int(version) * 100 + i
        if product in ("tokenized", "mixed"):
            stem = f"train/shard_{i:05d}" if product == "mixed" else f"part-{i:05d}-{job.key[:8]}"
            files, digests = store.write_tokens(job, stem, token_rows(n, seed=seed))
            record = UnitRecord(files, (), digests, {"documents": n})
        else:
            entry, digest = store.write_part(job, i, documents(n, seed=seed))
            gone = []
            if n:
                rows_gone = table_of(SCHEMAS["dropped"], 1, seed=seed)
                gone.append(store.write_part(job, i, rows_gone, dropped=True)[0])
            record = UnitRecord((entry,), tuple(gone), (digest,), {"documents": n}, {"length:short": len(gone)})
        records.append(store.finish_unit(job, i, record))
    checks = [Check("counts_balance", True, blocking=True)]
    return job, store.compose(job, causes, records, counts={"extra": 1}, checks=checks)


def committed(store: Store, product: str, partition: str, *, version: str = "1", **more: tuple[int, ...]) -> Manifest:
    manifest = made(store, product, partition, version=version, **more)[1]
    store.commit(manifest)
    return manifest


def fresh_root(kind: str, folder: object) -> str:
    """A root where nothing lies: local, or in this process's memory behind a URL."""
    return f"memory://{uuid.uuid4()}/corpus" if kind == "memory" else f"{folder}/root"
