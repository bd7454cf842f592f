"""One partition of one stage, without Dagster: list units, skip done ones, map, merge reports, check, commit."""

from dataassets.runner.causes import Ledger, UpstreamError
from dataassets.runner.checks import PROMISES, Promise
from dataassets.runner.corpus import CODE_VERSIONS, Corpus
from dataassets.runner.work import ChecksFailedError, Done, Listener, Progress, Work

__all__ = [
    "CODE_VERSIONS",
    "PROMISES",
    "ChecksFailedError",
    "Corpus",
    "Done",
    "Ledger",
    "Listener",
    "Progress",
    "Promise",
    "UpstreamError",
    "Work",
]
