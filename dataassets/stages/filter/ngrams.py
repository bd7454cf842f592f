"""A KenLM model from text: lines as the filter will score them, then `lmplz` and `build_binary` of KenLM.

Both are programs, which the Python package does not bring. What they make depends on the text and the settings alone.
"""

import shutil
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from dataassets.recipe import PerplexityModel, RecipeError
from dataassets.stages.filter.perplexity import normalized

MEMORY = "1G"  # of lmplz; more makes it faster and changes no result
PROGRAMS = ("lmplz", "build_binary")


@dataclass(frozen=True)
class Estimated:
    """A model of n-grams.

    Args:
        model: its file, KenLM's binary format; None where there was no text.
        grams: number of n-grams, by n from 1 on.
    """

    model: Path | None
    grams: Sequence[int] = ()


def programs() -> list[str]:
    """Paths of `lmplz` and `build_binary`.

    Raises:
        RecipeError: they are not on PATH.
    """
    found = [shutil.which(name) for name in PROGRAMS]
    if missing := [name for name, path in zip(PROGRAMS, found, strict=True) if path is None]:
        raise RecipeError(
            f"perplexity_model: {' and '.join(missing)} of KenLM not on PATH; no package of pip brings them: build "
            "them from KenLM's source (cmake, a C++ compiler, Boost), or name a model in filter.perplexity.model"
        )
    return [path for path in found if path]


def write_lines(texts: pa.ChunkedArray, path: Path) -> tuple[int, int]:
    """Write texts as a model of words reads them: a line for each that holds a word.

    Args:
        texts: large_string [D].
        path: of the file, made anew.

    Returns:
        Lines and words.
    """
    lines = words = 0
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for text in texts.to_pylist():
            for line in normalized(text).split("\n"):
                if found := [_as_word(word) for word in line.split()]:
                    file.write(" ".join(found) + "\n")
                    lines, words = lines + 1, words + len(found)
    return lines, words


def estimate(files: Iterable[Path], *, settings: PerplexityModel, folder: Path) -> Estimated:
    """Estimate a model with modified Kneser-Ney smoothing.

    Args:
        files: of lines, in the order in which they are read.
        settings: of the model.
        folder: where its files are written; the model stays there.

    Raises:
        RecipeError: KenLM's programs are not there, or refuse the text.
    """
    lmplz, build_binary = programs()
    arpa, model = folder / "model.arpa", folder / "model.bin"
    text = folder / "train.txt"
    with text.open("wb") as out:
        for file in files:
            with file.open("rb") as lines:
                shutil.copyfileobj(lines, out)
    if not text.stat().st_size:
        return Estimated(None)
    prune = ["--prune", *map(str, settings.prune)] if settings.prune else []
    memory = ["-S", MEMORY, "-T", str(folder)]
    _run([lmplz, "-o", str(settings.order), "--discount_fallback", *memory, *prune], stdin=text, stdout=arpa)
    _run([build_binary, str(arpa), str(model)])
    with arpa.open("rb") as lines:
        grams = [int(line.split(b"=")[1]) for line in iter(lines.readline, b"\n") if line.startswith(b"ngram ")]
    return Estimated(model, grams)


def _as_word(word: str) -> str:
    """A word of the text; what KenLM takes for a mark of its own loses its brackets."""
    return word.strip("<>") or "-" if word in ("<s>", "</s>", "<unk>") else word


def _run(command: Sequence[str], *, stdin: Path | None = None, stdout: Path | None = None) -> None:
    with Path(stdin or "/dev/null").open("rb") as given, Path(stdout or "/dev/null").open("wb") as made:
        done = subprocess.run(command, stdin=given, stdout=made, stderr=subprocess.PIPE, check=False)
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines()[-3:]
        raise RecipeError(
            f"perplexity_model: {Path(command[0]).name} ended with {done.returncode}: {' '.join(said)}; "
            "give it more text, or a lower perplexity_model.order"
        )
