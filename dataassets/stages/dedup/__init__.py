"""What repeats goes: signatures, duplicates of a snapshot, the documents that stay."""

from dataassets.stages.dedup.dropping import drop
from dataassets.stages.dedup.finding import EXACT, NEAR, Found, find_duplicates
from dataassets.stages.dedup.keeping import kept_keys
from dataassets.stages.dedup.minhash import character_hash, shingle_hash
from dataassets.stages.dedup.part import Earlier, Exchange, Part, Spread
from dataassets.stages.dedup.signing import sign

__all__ = [
    "EXACT",
    "NEAR",
    "Earlier",
    "Exchange",
    "Found",
    "Part",
    "Spread",
    "character_hash",
    "drop",
    "find_duplicates",
    "kept_keys",
    "shingle_hash",
    "sign",
    "warm_up",
]


def warm_up() -> None:
    """Compile the kernels, or load them from numba's cache, before a clock or a pool of workers starts."""
    from dataassets.stages.dedup import kernels

    kernels.warm_up()
