"""Laws of the door: importing is cheap and knows nobody; every name in `__all__` is there."""

import subprocess
import sys

import pytest

import loader

STRANGERS = ("torch", "dagster", "dataassets", "pyarrow", "pandas", "numba")


def modules_after(code):
    script = f"{code}\nimport sys\nprint(*(name for name in {STRANGERS!r} if name in sys.modules))"
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True).stdout


@pytest.mark.parametrize(
    "code",
    [
        "import loader",
        "import loader.format",
        "import loader; loader.TokenDataset, loader.BatchStream, loader.explain, loader.StateError, dir(loader)",
        "import loader.__main__",
    ],
)
def test_importing_pulls_in_no_stranger(code):
    assert modules_after(code).split() == []


def test_reading_batches_needs_neither_torch_nor_pyarrow(mix):
    code = (
        "from loader import BatchStream, TokenDataset\n"
        f"next(iter(BatchStream(TokenDataset({str(mix.path)!r}, seq_len=32), batch_size=2)))"
    )
    assert modules_after(code).split() == []


def test_explaining_needs_pyarrow_but_no_torch(mix):
    code = f"from loader import TokenDataset\nTokenDataset({str(mix.path)!r}, seq_len=32).documents(0)"
    assert set(modules_after(code).split()) <= {"pyarrow", "pandas"}  # pyarrow itself looks for pandas


def test_every_name_is_there_and_no_other():
    for name in loader.__all__:
        assert getattr(loader, name).__module__.startswith("loader")
        assert name in dir(loader)
    with pytest.raises(AttributeError, match="module 'loader' has no attribute 'Nothing'"):
        loader.Nothing  # noqa: B018 - the access is the test


def test_all_that_is_refused_is_one_kind_of_value_error():
    errors = [getattr(loader, name) for name in loader.__all__ if name.endswith("Error")]
    assert len(errors) == 6
    assert all(issubclass(error, loader.LoaderError) and issubclass(error, ValueError) for error in errors)
