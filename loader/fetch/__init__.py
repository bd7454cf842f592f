"""From shards on disk to int64 rows in buffers that nobody else holds."""

from loader.fetch.buffers import BufferPool
from loader.fetch.reader import TokenReader

__all__ = ["BufferPool", "TokenReader"]
