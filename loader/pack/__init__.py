"""How tokens become rows: `concat` cuts one stream, `document` and `best_fit` put pieces of documents together."""

from loader.pack.best_fit import best_fit
from loader.pack.bounds import BOUNDARIES, IGNORED, Bounds
from loader.pack.pieces import Pieces, by_document
from loader.pack.windows import Windows

PACKINGS = ("concat", "best_fit", "document")

__all__ = ["BOUNDARIES", "IGNORED", "PACKINGS", "Bounds", "Pieces", "Windows", "best_fit", "by_document"]
