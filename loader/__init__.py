"""From shards to batches: a small library that reads finished shards in DDP training.

Importing it imports neither torch nor pyarrow: each name is fetched from its module when first asked for (PEP 562).

>>> from loader import Loader, TokenDataset
>>> train = TokenDataset("data/mixed/pretrain", split="train", seq_len=2048)      # doctest: +SKIP
>>> for batch in Loader(train, batch_size=16, seed=1):                            # doctest: +SKIP
...     loss = model(batch["input_ids"], batch["labels"])
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from loader.device import Loader
    from loader.errors import DatasetError, LoaderError, ManifestError, SettingError, ShardError, StateError
    from loader.stream import BatchStream, Mix, TokenDataset, explain

__all__ = [
    "BatchStream",
    "DatasetError",
    "Loader",
    "LoaderError",
    "ManifestError",
    "Mix",
    "SettingError",
    "ShardError",
    "StateError",
    "TokenDataset",
    "explain",
]
_ROOMS = {
    "Loader": "loader.device",
    **dict.fromkeys(("BatchStream", "Mix", "TokenDataset", "explain"), "loader.stream"),
}


def __getattr__(name: str) -> Any:  # noqa: ANN401 - any public name
    if name not in __all__:
        raise AttributeError(f"module 'loader' has no attribute {name!r}")
    value = getattr(import_module(_ROOMS.get(name, "loader.errors")), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
