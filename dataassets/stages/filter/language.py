"""Language of a document: fastText's lid.176 on the whole text."""

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from dataassets import models
from dataassets.stages.filter.settings import LANGUAGE_MODEL

_LABEL = "__label__"


def identify(texts: Iterable[str]) -> tuple[list[str], npt.NDArray[np.float32]]:
    """The likeliest language of each text and its score.

    Args:
        texts: D documents; line feeds are read as spaces.

    Returns:
        D labels as lid.176 names them (mostly ISO 639-1), and float32 [D] scores from 0 to 1.

    Source: Joulin et al., "Bag of Tricks for Efficient Text Classification"; scores are clipped as datatrove does.

    >>> identify(["The quick brown fox jumps over the lazy dog."])[0]
    ['en']
    """
    labels, scores = [], []
    model = _model()
    for text in texts:
        found, score = model.predict(text.replace("\n", " "))
        labels.append(found[0].removeprefix(_LABEL))
        scores.append(min(float(score[0]), 1.0))
    return labels, np.array(scores, np.float32)


@lru_cache(maxsize=1)
def _model() -> Any:  # noqa: ANN401 (fastText has no types)
    """The model, loaded once a process."""
    import fasttext  # its import is slow, and only measuring needs it

    return fasttext.load_model(str(models.find(LANGUAGE_MODEL)))
