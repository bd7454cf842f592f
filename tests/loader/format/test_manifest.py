"""Laws of a manifest: it reads back equal; its bytes are one; anything else is refused with the reason."""

import hashlib
import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loader.errors import ManifestError
from loader.format import FileEntry, Manifest, canonical_json

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=8,
)
MANIFEST = Manifest(
    product="mixed",
    partition="demo",
    inputs={"tokenized/2026-10-01|web": "d1"},
    settings={"tokens": 10, "weights": {"web": 1.0}},
    code_version="1",
    key="0123456789abcdef",
    files=(FileEntry("train/shard_00000.bin", 2, 6, "a" * 64),),
    dropped_files=(FileEntry("../dropped/part.parquet", 1, 9, "b" * 64),),
    counts={"documents": 2},
    dropped={"mix:over_target": 1},
    checks=[{"name": "counts", "passed": True}],
    digest="d2",
    format={"dtype": "uint16", "vocab_size": 50257},
)
GOLDEN = (
    '{"checks":[{"name":"counts","passed":true}],"code_version":"1","counts":{"documents":2},"digest":"d2",'
    '"dropped":{"mix:over_target":1},"dropped_files":[{"bytes":9,"name":"../dropped/part.parquet","rows":1,'
    f'"sha256":"{"b" * 64}"}}],"files":[{{"bytes":6,"name":"train/shard_00000.bin","rows":2,"sha256":"{"a" * 64}"}}],'
    '"format":{"dtype":"uint16","vocab_size":50257},"inputs":{"tokenized/2026-10-01|web":"d1"},'
    '"key":"0123456789abcdef","partition":"demo","product":"mixed",'
    '"settings":{"tokens":10,"weights":{"web":1.0}},"version":1}'
)


def signed(body):
    body = {name: value for name, value in body.items() if name != "self"}
    return canonical_json({**body, "self": hashlib.sha256(canonical_json(body)).hexdigest()})


def test_golden_bytes():
    self_digest = hashlib.sha256(GOLDEN.encode()).hexdigest()
    expected = GOLDEN.replace('"settings"', f'"self":"{self_digest}","settings"')
    assert MANIFEST.to_bytes().decode() == expected
    assert Manifest.from_bytes(expected.encode(), where="m") == MANIFEST


@given(
    inputs=st.dictionaries(text, text, max_size=3),
    settings=st.dictionaries(text, json_values, max_size=3),
    counts=st.dictionaries(text, st.integers(0, 2**70), max_size=3),
    checks=st.lists(st.dictionaries(text, json_values, max_size=2), max_size=2),
    form=st.none() | st.dictionaries(text, json_values, max_size=2),
)
def test_a_manifest_reads_back_equal(inputs, settings, counts, checks, form):
    manifest = replace(MANIFEST, inputs=inputs, settings=settings, counts=counts, checks=checks, format=form)
    data = manifest.to_bytes()
    assert Manifest.from_bytes(data, where="m") == manifest
    assert (b'"format"' in data) == (form is not None or '"format"' in json.dumps([inputs, settings, counts, checks]))


@given(json_values)
def test_canonical_json_is_one_text_and_reads_back(value):
    data = canonical_json(value)
    assert json.loads(data) == value
    assert canonical_json(json.loads(data)) == data


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {1: 2}, {"a": [{None: 1}]}, {1, 2}, b"x", "\ud800"])
def test_what_json_cannot_carry_is_refused(value):
    with pytest.raises(ManifestError):
        canonical_json(value)


@given(st.data())
def test_a_changed_byte_is_refused(data):
    damaged = bytearray(MANIFEST.to_bytes())
    damaged[data.draw(st.integers(0, len(damaged) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    with pytest.raises(ManifestError, match=r"^here/manifest\.json: "):
        Manifest.from_bytes(bytes(damaged), where="here/manifest.json")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": 2}, r"version = 2, this loader reads 1"),
        ({"version": True}, r"version = True"),
        ({"extra": 1}, r"field 'extra' is unknown"),
        ({"inputs": {"a": 1}}, r"inputs = \{'a': 1\}, wanted an object of strings"),
        ({"counts": {"a": -1}}, r"counts = .* wanted an object of integers >= 0"),
        ({"counts": {"a": True}}, r"counts"),
        ({"dropped": {"a": 1.0}}, r"dropped"),
        ({"checks": [1]}, r"checks = \[1\], wanted a list of objects"),
        ({"format": None}, r"format = None, wanted an object"),
        ({"digest": 7}, r"digest = 7, wanted a string"),
        ({"files": [{"name": "a", "rows": 1, "bytes": 2}]}, r"files = "),
    ],
)
def test_a_field_of_the_wrong_kind_is_refused(change, message):
    with pytest.raises(ManifestError, match=message):
        Manifest.from_bytes(signed({**json.loads(MANIFEST.to_bytes()), **change}), where="m")


@pytest.mark.parametrize("name", ["product", "files", "digest", "version", "self"])
def test_a_missing_field_is_refused(name):
    body = {key: value for key, value in json.loads(MANIFEST.to_bytes()).items() if key != name}
    data = canonical_json(body) if name == "self" else signed(body)
    with pytest.raises(ManifestError, match=f"field '{name}' is missing"):
        Manifest.from_bytes(data, where="m")


@pytest.mark.parametrize("name", ["", "/etc/passwd", "../up.bin", "a//b", "./a", "a/../b", "a\\b", ".."])
def test_a_name_that_leaves_the_folder_or_is_not_plain_is_refused(name):
    with pytest.raises(ManifestError, match="files = "):
        replace(MANIFEST, files=(FileEntry(name, 1, 1, "a" * 64),)).to_bytes()


def test_dropped_files_may_climb_but_only_in_front():
    replace(MANIFEST, dropped_files=(FileEntry("../../dropped/a.parquet", 1, 1, "a" * 64),)).to_bytes()
    with pytest.raises(ManifestError, match="dropped_files = "):
        replace(MANIFEST, dropped_files=(FileEntry("../a/../b", 1, 1, "a" * 64),)).to_bytes()


def test_a_file_named_twice_is_refused():
    entry = FileEntry("a.bin", 1, 1, "a" * 64)
    with pytest.raises(ManifestError, match="each once"):
        replace(MANIFEST, files=(entry, entry)).to_bytes()


@pytest.mark.parametrize("data", [b"", b"[]", b"{", b"\xff", b"[" * 100_000, b'{"a":NaN}', MANIFEST.to_bytes() + b"\n"])
def test_what_is_no_canonical_object_is_refused(data):
    with pytest.raises(ManifestError, match=r"^m: "):
        Manifest.from_bytes(data, where="m")


def test_spaces_are_not_canonical_and_the_place_is_told():
    with pytest.raises(ManifestError, match=r"not canonical JSON from byte 10 on"):
        Manifest.from_bytes(json.dumps(json.loads(MANIFEST.to_bytes())).encode(), where="m")
