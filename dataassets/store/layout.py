"""Where things lie under a root: product and partition to folder, in Hive style so that other engines read it too."""

import os
import re

CORPUS = ("raw", "cleaned", "signals", "filtered", "signatures", "deduped", "tokenized")
PRODUCTS = (*CORPUS[:5], "duplicates", *CORPUS[5:], "mixed")  # in the order of their work
MODELS = (
    "quality_model",
    "perplexity_model",
)  # trained where the recipe asks for it, whole: made of cleaned, read by signals
EVERY = (*PRODUCTS[:2], *MODELS, *PRODUCTS[2:])
WHOLE = "all"  # the one partition of a product that has no partitions
SHARDED = ("tokenized", "mixed")  # products that hold token shards instead of Parquet

MANIFEST = "manifest.json"
LATEST = "latest"
WORK = ".work"
FAILED = "failed"
DROPPED = "dropped"

_OWN = re.compile(
    rf"({'|'.join(PRODUCTS[:-1])})/snapshot=.+|({'|'.join(MODELS)})/[^/]+|{DROPPED}/stage=.+"
    rf"|{re.escape(WORK)}/({'|'.join(EVERY)})/.+"
    rf"|mixed/[^/]+/([0-9a-f]{{8}}/.+|{LATEST}|\.{LATEST}\..+\.draft)"
)


def partition_key(snapshot: str, source: str) -> str:
    """The key of a corpus partition, as Dagster writes it.

    >>> partition_key("2026-10-01", "web")
    '2026-10-01|web'
    """
    return f"{snapshot}|{source}"


def split_key(partition: str) -> tuple[str, str]:
    """Snapshot and source of a corpus partition.

    >>> split_key("2026-10-01|web")
    ('2026-10-01', 'web')
    """
    snapshot, _, source = partition.partition("|")
    return snapshot, source


def place(partition: str) -> str:
    """The folders of a partition: `snapshot=…/source=…`, `snapshot=…`, or the mix name.

    >>> place("2026-10-01|web"), place("2026-10-01")
    ('snapshot=2026-10-01/source=web', 'snapshot=2026-10-01')
    """
    if "|" in partition:
        snapshot, source = split_key(partition)
        return f"snapshot={snapshot}/source={source}"
    return f"snapshot={partition}"


def folder(product: str, partition: str, *, key: str = "") -> str:
    """The folder that holds a partition's manifest, relative to the root.

    Args:
        product: one of EVERY.
        partition: its key.
        key: for `mixed`, the key that names the folder.

    >>> folder("mixed", "pretrain", key="9f2c41d0aa")
    'mixed/pretrain/9f2c41d0'
    """
    if product == "mixed":
        return f"mixed/{partition}/{key[:8]}"
    return product if product in MODELS else f"{product}/{place(partition)}"


def dropped_folder(product: str, partition: str) -> str:
    """The folder of what a stage removed, relative to the root.

    >>> dropped_folder("filtered", "2026-10-01|web")
    'dropped/stage=filtered/snapshot=2026-10-01/source=web'
    """
    return f"{DROPPED}/stage={product}/{place(partition)}"


def work_folder(product: str, partition: str, *, key: str = "") -> str:
    """The folder of unfinished work on a partition, relative to the root; gone after the commit.

    >>> work_folder("raw", "2026-10-01|web", key="9f2c41d0aa")
    '.work/raw/snapshot=2026-10-01/source=web/9f2c41d0'
    """
    base = f"{WORK}/{product}/{partition if product in ('mixed', *MODELS) else place(partition)}"
    return f"{base}/{key[:8]}" if key else base


def failed_folder(product: str, partition: str) -> str:
    """The folder of the report of a partition that a blocking check stopped, relative to the root.

    >>> failed_folder("duplicates", "2026-10-01")
    'failed/duplicates/snapshot=2026-10-01'
    """
    return f"{FAILED}/{product}/{partition if product in ('mixed', *MODELS) else place(partition)}"


def part_name(index: int, piece: int, *, key: str) -> str:
    """The name of a unit's part, without ending.

    >>> part_name(3, 0, key="9f2c41d0aa"), part_name(3, 1, key="9f2c41d0aa")
    ('part-00003-9f2c41d0', 'part-00003.001-9f2c41d0')
    """
    return f"part-{index:05d}{f'.{piece:03d}' if piece else ''}-{key[:8]}"


def join(folder: str, name: str) -> str:
    """A manifest's name, which may climb with ../, relative to the root.

    >>> join("filtered/snapshot=a", "../../dropped/x")
    'dropped/x'
    """
    return os.path.normpath(f"{folder}/{name}").replace(os.sep, "/")


def name_beside(name: str, kind: str, *, ending: str = ".bin") -> str:
    """The file that lies beside a part.

    >>> name_beside("part-00000-9f2c41d0.parquet", "shingles")
    '_shingles-00000-9f2c41d0.bin'
    """
    folder, slash, last = name.rpartition("/")
    return f"{folder}{slash}_{kind}{last.removeprefix('part').partition('.')[0]}{ending}"


def is_beside(name: str) -> bool:
    """Whether a file of a product lies beside its rows, read by position: Spark and Arrow pass over such names too.

    >>> is_beside("_shingles-00000-9f2c41d0.bin"), is_beside("part-00000-9f2c41d0.parquet")
    (True, False)
    """
    return name.rpartition("/")[2].startswith("_")


def is_own(name: str) -> bool:
    """Whether a file lies where the store writes; a root may hold other things, such as the recipe and its input.

    Args:
        name: relative to the root.

    >>> is_own("raw/snapshot=2026-10-01/source=web/part.parquet"), is_own("raw/scan.txt"), is_own("recipe.yaml")
    (True, False, False)
    """
    return _OWN.fullmatch(name) is not None
