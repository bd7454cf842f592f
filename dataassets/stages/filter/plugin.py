"""The user's function: found without running it, loaded from the very bytes that were hashed, and held to its word."""

import sys
import traceback
from collections.abc import Mapping
from copy import deepcopy
from functools import lru_cache
from importlib import import_module, invalidate_caches
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dataassets import models
from dataassets.recipe import Custom, RecipeError

_NEAR = 1e-3  # models may round a batch otherwise than one document; a value of the batch differs by more


class CustomFilterError(RecipeError):
    """A filter of the user's own raised an error, or gave something else than its recipe says."""


def source_of(own: Custom, *, name: str) -> Path:
    """The file of the function's module, found without importing it where it lies beside the recipe.

    Args:
        own: the filter, its folder absolute.
        name: of the filter, for errors.

    Raises:
        RecipeError: no such module, or one that is no Python file.
    """
    module = own.function.partition(":")[0]
    spec = _spec(module, [own.folder]) or _spec(module, sys.path)
    if spec is None or not spec.origin or not spec.origin.endswith(".py"):
        what = "no such module" if spec is None else f"{spec.origin or 'a folder'} is no Python file"
        raise RecipeError(
            f"filter.custom.{name}.function = {own.function!r}: {what}; looked in {own.folder} and among installed "
            "packages; mend the name, or put the file beside the recipe"
        )
    return Path(spec.origin)


def digests_of(own: Custom, *, name: str) -> tuple[str, ...]:
    """The sha256 of the function's module, and of each file that the recipe names beside it.

    Args:
        own: the filter, its paths absolute.
        name: of the filter, for errors.

    Raises:
        RecipeError: no such module, or no such file.
    """
    key = f"filter.custom.{name}"
    source = models.sha256_of(source_of(own, name=name), key=f"{key}.function")
    return source, *(models.sha256_of(file, key=f"{key}.files.{i}") for i, file in enumerate(own.files))


def run(own: Custom, batch: pa.RecordBatch, *, types: dict[str, pa.DataType], name: str) -> dict[str, pa.Array]:
    """Call the function on some documents, and once more on one of them alone, which must give the same.

    Args:
        own: the filter, its folder absolute.
        batch: records.DOCUMENTS, one row at least.
        types: of the signals that it must give.
        name: of the filter, for errors.

    Returns:
        The signals by name, a value for each row.

    Raises:
        CustomFilterError: the function raised an error, gave other columns than the recipe says, or another value for
            a document by itself than for the same one among others.
        RecipeError: no such module or function.
    """
    function = _Function(own, name)
    found = function(batch, types)
    row = len(batch) // 2
    alone = function(batch.slice(row, 1), types)
    for signal, column in found.items():
        among, single = column[row].as_py(), alone[signal][0].as_py()
        if not _same(among, single):
            document = f"document {_id(batch, row)}"
            raise function.error(
                f"gave {signal} = {among!r} for {document} among {len(batch)}, {single!r} for it alone; "
                "a signal must depend on its own document only, and be the same each time"
            )
    return found


class _Function:
    """The user's function, loaded, with errors that name the filter and the document."""

    def __init__(self, own: Custom, name: str) -> None:
        self._own, self._name = own, name
        self._source = source = source_of(own, name=name)
        module, _, attribute = own.function.partition(":")
        try:
            loaded = _loaded(module, source, own.folder, own.files, digests_of(own, name=name))
        except RecipeError:
            raise
        except Exception as error:
            raise self.error(f"importing {source} raised {_told(error, source)}; mend the module") from error
        self._call = getattr(loaded, attribute, None)
        if not callable(self._call):
            raise self.error(f"{source} has no function {attribute}; mend the name")

    def __call__(self, batch: pa.RecordBatch, types: dict[str, pa.DataType]) -> dict[str, pa.Array]:
        try:
            found = self._result(batch)
        except Exception as error:
            raise self.error(
                f"raised {_told(error, self._source)} on {self._culprit(batch)}; mend the function"
            ) from error
        if not isinstance(found, Mapping):
            raise self.error(f"gave a {type(found).__name__}; a mapping of columns, or a RecordBatch, is wanted")
        if set(found) != set(types):
            raise self.error(
                f"gave the columns {sorted(found)}, the recipe has the signals {sorted(types)}; make them one"
            )
        return {signal: self._column(found[signal], signal, kind, batch) for signal, kind in types.items()}

    def error(self, told: str) -> CustomFilterError:
        return CustomFilterError(f"filter.custom.{self._name}: {self._own.function} {told}")

    def _result(self, batch: pa.RecordBatch) -> object:
        assert self._call is not None, "looked up before"
        found = self._call(batch, **deepcopy(self._own.settings))
        if isinstance(found, pa.RecordBatch | pa.Table):
            return dict(zip(found.schema.names, found.columns, strict=True))
        return found

    def _culprit(self, batch: pa.RecordBatch) -> str:
        """The first document on which the function fails by itself."""
        for row in range(len(batch)):
            try:
                self._result(batch.slice(row, 1))
            except Exception:  # noqa: BLE001 - whatever the user's code raises
                url = batch.column("url")[row].as_py()
                return f"document {_id(batch, row)}{f' ({url})' if url else ''}"
        return f"{len(batch)} documents together, from {_id(batch, 0)} on, and on none of them alone"

    def _column(self, column: Any, signal: str, kind: pa.DataType, batch: pa.RecordBatch) -> pa.Array:  # noqa: ANN401
        """What the function gave for a signal: NaN is null, infinity is refused."""
        try:
            if isinstance(column, pa.ChunkedArray):
                column = column.combine_chunks()
            array = column if isinstance(column, pa.Array) else pa.array(column, from_pandas=True)
            array = array.cast(kind)
        except (pa.ArrowException, TypeError, ValueError) as error:
            raise self.error(f"gave a column {signal} that is no {kind}: {error}; mend it, or its type") from error
        if len(array) != len(batch):
            raise self.error(f"gave {len(array)} values of {signal} for {len(batch)} documents; give one for each")
        if pa.types.is_floating(kind):
            array = pc.if_else(pc.is_nan(array), None, array)
            if pc.any(pc.is_inf(array)).as_py():
                row = pc.index(pc.is_inf(array), value=True).as_py()
                raise self.error(f"gave {signal} = {array[row]} for document {_id(batch, row)}; give null or a number")
        return array


def _same(a: object, b: object) -> bool:
    if isinstance(a, float) and isinstance(b, float):
        return bool(np.isclose(a, b, rtol=_NEAR, atol=1e-6))
    return a == b


def _told(error: Exception, source: Path) -> str:
    """The error, and the last line of the user's file on the way to it."""
    way = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in way if frame.filename == str(source)] or way
    return f"{type(error).__name__}: {error} (line {own[-1].lineno} of {own[-1].filename})"


def _id(batch: pa.RecordBatch, row: int) -> str:
    return str(batch.column("id")[row].as_py().hex())


def _spec(module: str, places: list[str]) -> ModuleSpec | None:
    """Where a module is, from some folders on; nothing is imported."""
    found: ModuleSpec | None = None
    name = ""
    for part in module.split("."):
        name = f"{name}.{part}" if name else part
        found = PathFinder.find_spec(name, places)
        if found is None:
            return None
        places = list(found.submodule_search_locations or [])
    return found


@lru_cache(maxsize=32)
def _loaded(module: str, source: Path, folder: str, files: tuple[str, ...], _digests: tuple[str, ...]) -> ModuleType:
    """The module, made anew whenever it or a file of the recipe's changes; `_digests` key the memory of it.

    Its folder stands first on sys.path while it is imported, so that it finds the files beside it, and last afterwards:
    a file there cannot take the place of an installed package in code that is not the user's.
    """
    for name in [name for name, other in sys.modules.items() if getattr(other, "__file__", None) in files]:
        del sys.modules[name]
    if folder in sys.path:
        sys.path.remove(folder)
    sys.path.insert(0, folder)
    invalidate_caches()
    try:
        if parent := module.rpartition(".")[0]:
            import_module(parent)
        spec = spec_from_file_location(module, source)
        assert spec is not None, "a Python file has one"
        loaded = sys.modules[module] = module_from_spec(spec)
        exec(compile(source.read_bytes(), str(source), "exec"), loaded.__dict__)
    except BaseException:
        sys.modules.pop(module, None)
        raise
    else:
        return loaded
    finally:
        sys.path.remove(folder)
        sys.path.append(folder)
