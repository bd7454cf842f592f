"""Data sets and streams of batches in numpy, without torch."""

from loader.stream.batches import BatchStream
from loader.stream.dataset import TokenDataset
from loader.stream.explain import explain
from loader.stream.mix import Mix

__all__ = ["BatchStream", "Mix", "TokenDataset", "explain"]
