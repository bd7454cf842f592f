"""Each law of the store holds on a local root and behind a URL."""

import pytest
from store.products import fresh_root

from dataassets.store import Store


@pytest.fixture(params=["local", "memory"])
def store(request, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    return Store.at(fresh_root(request.param, tmp_path))
