"""Perplexity of a text by a KenLM language model, after the normalization of CCNet.

Source: Wenzek et al., "CCNet: Extracting High Quality Monolingual Datasets from Web Crawl Data" (arXiv:1911.00359) and
its published code: lower case, accents off, digits to 0, punctuation to ASCII, control characters out.
"""

import sys
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dataassets.recipe import RecipeError

Score = Callable[[str], float]

# Punctuation of other scripts and typographers -> ASCII, as CCNet maps it (its entry for the digit １ never applies).
_MARKS = {
    "，、": ",", "。": ".", "„”“«»」「《》": '"', "´’": "'", "∶：": ":", "？": "?", "！": "!",
    "（": "(", "）": ")", "；": ";", "–━►": "-", "—": " - ", "．": ". ", "～": "~", "…": "...",
    "〈": "<", "〉": ">", "【": "[", "】": "]", "％": "%",
}  # fmt: skip


@lru_cache(maxsize=1)
def _table() -> dict[int, str | None]:
    """Character -> what it becomes once texts are in lower case and decomposed; line feeds stay."""
    table: dict[int, str | None] = {}
    for code in range(sys.maxunicode + 1):
        kind = unicodedata.category(chr(code))
        if kind in ("Nd", "Mn"):
            table[code] = "0" if kind == "Nd" else None
    table |= {code: None for code in (*range(32), *range(127, 160)) if code != ord("\n")}
    return table | {ord(mark): plain for marks, plain in _MARKS.items() for mark in marks}


def normalized(text: str) -> str:
    """A text as CCNet's models read it; its lines stay apart.

    Args:
        text: any.

    >>> normalized("Él “pagó” 1.250 €…")
    'el "pago" 0.000 €...'
    """
    text = text.lower()
    return (text if text.isascii() else unicodedata.normalize("NFD", text)).translate(_table())


def perplexity(text: str, *, score: Score, pieces: Callable[[str], list[str]] | None = None) -> float:
    """Perplexity of a text: 10 ** (-log10 probability / tokens), where each line has an end as one token more.

    Args:
        text: as it stands.
        score: log10 of the probability of a line with its beginning and end; words parted by spaces.
        pieces: cuts the whole text into tokens, a single line then, as CCNet does; None: words of each line.

    Returns:
        NaN where there is no word.

    >>> perplexity("two words", score=lambda line: -3.0)
    10.0
    """
    plain = normalized(text)
    lines = [pieces(plain.replace("\n", ""))] if pieces else [line.split() for line in plain.split("\n")]
    total, tokens = 0.0, 0
    for line in lines:
        if line:
            total += score(" ".join(line))
            tokens += len(line) + 1
    return float(10.0 ** (-total / tokens)) if tokens else float("nan")


def perplexities(texts: Sequence[str], *, model: Path, pieces: Path | None) -> npt.NDArray[np.float32]:
    """Perplexity of each text.

    Args:
        texts: D texts.
        model: of KenLM, an ARPA file or a binary one.
        pieces: of SentencePiece; None where the model is one of words.

    Returns:
        float32 [D]; NaN where there is no word.

    Raises:
        RecipeError: the extra is not installed, or a file is no model.
    """
    score = _model(model, _stamp(model)).score
    cut = _pieces(pieces, _stamp(pieces)).encode_as_pieces if pieces else None
    found = (perplexity(text, score=score, pieces=cut) for text in texts)
    return np.fromiter(_finite(found), np.float32, len(texts))


def _finite(values: Iterator[float]) -> Iterator[float]:
    """Perplexities that a float32 holds: what is above is as bad as can be."""
    most = float(np.finfo(np.float32).max)
    for value in values:
        yield min(value, most)


def _stamp(path: Path) -> tuple[int, int]:
    stat = path.stat()
    return stat.st_size, stat.st_mtime_ns


@lru_cache(maxsize=2)
def _model(path: Path, _stamp: tuple[int, int]) -> Any:  # noqa: ANN401 - kenlm has no types
    try:
        import kenlm
    except ImportError as error:
        raise RecipeError(f"filter.perplexity needs kenlm ({error}); pip install 'dataassets[kenlm]'") from error
    config = kenlm.Config()
    config.show_progress = False
    try:
        return kenlm.Model(str(path), config)
    except (OSError, RuntimeError) as error:
        raise RecipeError(f"{path}: no KenLM model ({error}); name an .arpa file, or a .bin of build_binary") from error


@lru_cache(maxsize=2)
def _pieces(path: Path, _stamp: tuple[int, int]) -> Any:  # noqa: ANN401 - sentencepiece has no types
    try:
        import sentencepiece
    except ImportError as error:
        raise RecipeError(
            f"filter.perplexity.sentencepiece needs sentencepiece ({error}); pip install 'dataassets[kenlm]'"
        ) from error
    try:
        return sentencepiece.SentencePieceProcessor(model_file=str(path))
    except (OSError, RuntimeError) as error:
        raise RecipeError(f"{path}: no SentencePiece model ({error}); name a .model file") from error
