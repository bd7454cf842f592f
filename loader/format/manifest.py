"""The manifest: one canonical JSON file, written last, that makes a folder of files a product.

It serves every product, Parquet and shards alike: nothing here knows tokens, save the free-form `format`.
"""

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import PurePosixPath
from typing import Any

from loader.errors import ManifestError

VERSION = 1
OPTIONAL = ("format", "report")
SHA256_HEX = re.compile(r"[0-9a-f]{64}")


def canonical_json(obj: Any) -> bytes:  # noqa: ANN401 - any JSON value
    r"""Write a value as the one JSON text it has here: sorted keys, no spaces, UTF-8, no newline at the end.

    Args:
        obj: str, int, finite float, bool, None, and lists, tuples or dicts (keys: str) of these.

    Returns:
        UTF-8 bytes; equal values give equal bytes, and `json.loads` gives the value back.

    Raises:
        ManifestError: a value that JSON cannot carry faithfully (NaN, a key that is no string, a set, ...).

    >>> canonical_json({"b": [1, 2.5, None], "a": "é"}).decode()
    '{"a":"é","b":[1,2.5,null]}'
    """
    _check_keys(obj, "$")
    try:
        text = json.dumps(obj, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
        return text.encode("utf-8")
    except (TypeError, ValueError) as error:
        raise ManifestError(f"value has no canonical JSON: {error}; use str, int, finite float, bool, None") from error


@dataclass(frozen=True, slots=True)
class FileEntry:
    """One file of a product.

    Attributes:
        name: path relative to the manifest's folder, "/" between its parts.
        rows: documents described by the file.
        bytes: size of the file.
        sha256: hex digest of the file's bytes.
    """

    name: str
    rows: int
    bytes: int
    sha256: str


@dataclass(frozen=True)
class Manifest:
    """All that is known of one partition of one product.

    Attributes:
        product: name of the product, such as "filtered" or "mixed".
        partition: key of the partition; the name of the mix for "mixed".
        inputs: name of each input -> its digest.
        settings: the settings that the product depends on, as JSON.
        code_version: version of the code that made it.
        key: hash of inputs, settings and code version, known before the work.
        files: the product's files.
        dropped_files: what the stage removed; these names may climb with "../".
        counts: documents, tokens, ... in and out.
        dropped: reason -> documents.
        checks: results of the checks, as JSON.
        digest: hash of the logical content; what `inputs` of later products refer to.
        format: what a reader of shards needs (dtype, tokenizer, ...); None for Parquet products.
        report: histograms, counters and samples of the stage, for people; None where it has none.
        version: version of the manifest's own layout.
    """

    product: str
    partition: str
    inputs: dict[str, str]
    settings: dict[str, Any]
    code_version: str
    key: str
    files: tuple[FileEntry, ...]
    dropped_files: tuple[FileEntry, ...]
    counts: dict[str, int]
    dropped: dict[str, int]
    checks: list[dict[str, Any]]
    digest: str
    format: dict[str, Any] | None = None
    report: dict[str, Any] | None = None
    version: int = VERSION

    def to_bytes(self) -> bytes:
        """Give the bytes of `manifest.json`.

        Returns:
            Canonical JSON of all fields and of `self`, the sha256 of the canonical JSON without it;
            `format` and `report` are left out where they are None.

        Raises:
            ManifestError: a field of the wrong type or form; nothing is written that could not be read back.
        """
        body = asdict(self)
        for name in OPTIONAL:
            if body[name] is None:
                del body[name]
        body["self"] = hashlib.sha256(canonical_json(body)).hexdigest()
        data = canonical_json(body)
        _check_fields(json.loads(data), where=f"manifest of {self.product} {self.partition}")
        return data

    @classmethod
    def from_bytes(cls, data: bytes, *, where: str) -> "Manifest":
        """Read `manifest.json`, refusing whatever is not exactly what `to_bytes` writes.

        Args:
            data: the file's bytes.
            where: the file's name, for messages.

        Returns:
            The manifest.

        Raises:
            ManifestError: not canonical JSON, another version, a field unknown, missing or mistyped, or a wrong `self`.
        """
        body = _load(data, where)
        _check_fields(body, where=where)
        found = body.pop("self")
        wanted = hashlib.sha256(canonical_json(body)).hexdigest()
        if found != wanted:
            raise ManifestError(f"{where}: self = {found}, but its content hashes to {wanted}; it was changed: {MEND}")
        for name in ("files", "dropped_files"):
            body[name] = tuple(FileEntry(**entry) for entry in body[name])
        return cls(**body)


MEND = "restore it from a copy, or materialize the partition again"


def _check_keys(obj: object, place: str) -> None:
    """Refuse keys that JSON would turn into strings: they would sort and read back otherwise."""
    if isinstance(obj, Mapping):
        for key, value in obj.items():
            if not isinstance(key, str):
                raise ManifestError(f"key {key!r} at {place} is {type(key).__name__}, not str; write it as a string")
            _check_keys(value, f"{place}.{key}")
    elif isinstance(obj, list | tuple):
        for i, value in enumerate(obj):
            _check_keys(value, f"{place}[{i}]")


def _load(data: bytes, where: str) -> dict[str, Any]:
    """JSON object of canonical bytes."""
    try:
        body = json.loads(data.decode("utf-8"))
        canonical = canonical_json(body)
    except (ValueError, RecursionError) as error:
        raise ManifestError(f"{where}: not a JSON manifest ({error}); {MEND}") from error
    if not isinstance(body, dict):
        raise ManifestError(f"{where}: holds a JSON {type(body).__name__}, not an object; {MEND}")
    if canonical != data:
        at = next((i for i, (a, b) in enumerate(zip(data, canonical, strict=False)) if a != b), len(canonical))
        raise ManifestError(f"{where}: not canonical JSON from byte {at} on ({data[at : at + 20]!r}); {MEND}")
    return body


def _is_text_map(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(v, str) for v in value.values())


def _is_count(value: object) -> bool:
    return type(value) is int and value >= 0


def _is_count_map(value: object) -> bool:
    return isinstance(value, dict) and all(_is_count(v) for v in value.values())


def _is_hash(value: object) -> bool:
    return isinstance(value, str) and SHA256_HEX.fullmatch(value) is not None


def _is_name(value: object, *, may_climb: bool) -> bool:
    """A relative POSIX path in its shortest form, whose only ".." stand in front, where allowed."""
    if not isinstance(value, str) or not value or "\\" in value or "\0" in value:
        return False
    parts = value.split("/")
    while may_climb and len(parts) > 1 and parts[0] == "..":
        parts = parts[1:]
    return not PurePosixPath(value).is_absolute() and not {"", ".", ".."} & set(parts)


def _are_files(value: object, *, may_climb: bool) -> bool:
    if not isinstance(value, list):
        return False
    for entry in value:
        if not isinstance(entry, dict) or set(entry) != {"name", "rows", "bytes", "sha256"}:
            return False
        numbers = _is_count(entry["rows"]) and _is_count(entry["bytes"])
        if not (numbers and _is_name(entry["name"], may_climb=may_climb) and _is_hash(entry["sha256"])):
            return False
    names = [entry["name"] for entry in value]
    return len(set(names)) == len(names)


_TEXT: tuple[Callable[[Any], bool], str] = (lambda v: isinstance(v, str), "a string")
_JSON_MAP: tuple[Callable[[Any], bool], str] = (lambda v: isinstance(v, dict), "an object")
_ENTRIES = "a list of {name, rows, bytes, sha256}, counts >= 0, names relative and each once"
RULES: dict[str, tuple[Callable[[Any], bool], str]] = {
    "product": _TEXT,
    "partition": _TEXT,
    "inputs": (_is_text_map, "an object of strings"),
    "settings": _JSON_MAP,
    "code_version": _TEXT,
    "key": _TEXT,
    "files": (lambda v: _are_files(v, may_climb=False), _ENTRIES),
    "dropped_files": (lambda v: _are_files(v, may_climb=True), _ENTRIES),
    "counts": (_is_count_map, "an object of integers >= 0"),
    "dropped": (_is_count_map, "an object of integers >= 0"),
    "checks": (lambda v: isinstance(v, list) and all(isinstance(c, dict) for c in v), "a list of objects"),
    "digest": _TEXT,
    "format": _JSON_MAP,
    "report": _JSON_MAP,
    "version": (lambda v: type(v) is int and v == VERSION, f"{VERSION}"),
    "self": (_is_hash, "64 hex digits"),
}
assert set(RULES) == {f.name for f in fields(Manifest)} | {"self"}


def _check_fields(body: dict[str, Any], *, where: str) -> None:
    """Refuse a body whose fields are not those of RULES."""
    if not RULES["version"][0](body.get("version", VERSION)):
        raise ManifestError(
            f"{where}: version = {body['version']!r}, this loader reads {VERSION}; install a loader that knows it"
        )
    for name in sorted(set(RULES) - set(body) - set(OPTIONAL)):
        raise ManifestError(f"{where}: field {name!r} is missing; {MEND}")
    for name in sorted(set(body) - set(RULES)):
        raise ManifestError(f"{where}: field {name!r} is unknown, known are {sorted(RULES)}; {MEND}")
    for name, (holds, wanted) in RULES.items():
        if name in body and not holds(body[name]):
            raise ManifestError(f"{where}: {name} = {_short(body[name])}, wanted {wanted}; {MEND}")


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 120 else f"{text[:117]}..."
