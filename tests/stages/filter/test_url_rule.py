"""Laws of the rule `url`: what lists find is a column, limits read columns, what is allowed stays."""

import gzip

import numpy as np
import pyarrow as pa
import pytest

from dataassets.recipe import Filter, RecipeError, Url
from dataassets.recipe.base import FilePath
from dataassets.stages.filter import judge, language, measure, measured_by, schema

URLS = {
    "http://sub.bad.example/x": "url:domain",
    "http://notbad.example/x": "",
    "http://BAD.example:8080": "url:domain",
    "https://www.page.example/a/": "url:url",
    "http://page.example/b": "",
    "http://a.example/casino-night": "url:banned_word",
    "http://a.example/casinos": "",
    "http://a.example/free-spin": "url:soft_words",
    "http://a.example/free-free": "",
    "http://a.example/po_rk": "url:subword",
    "http://a.example/?replyto=1": "url:substring",
    "http://good.bad.example/casino": "",  # allowed
    "http://page.example/allowed/casino": "",  # allowed
    "": "",
    None: "",
}


@pytest.fixture(autouse=True)
def _no_model(monkeypatch):
    """Language has its own tests; here it would be most of the time."""
    monkeypatch.setattr(language, "identify", lambda texts: (["en"] * len(texts), np.ones(len(texts), np.float32)))


@pytest.fixture
def files(tmp_path):
    """Writes a list and gives its path."""

    def write(name, *lines):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        data = "".join(f"{line}\n" for line in lines).encode()
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return (FilePath(str(path)),)

    return write


@pytest.fixture
def every_list(files):
    return Url(
        domains=files("domains.gz", "# list", "bad.example"),
        urls=files("urls", "http://page.example/a"),
        banned_words=files("banned", "Casino"),
        soft_words=files("soft", "free", "spin", "win"),
        subwords=files("sub", "pork"),
        substrings=files("parts", "?replyto="),
        allow=files("allow", "good.bad.example", "page.example/allowed/casino"),
    )


def documents(urls, documents_of):
    table = documents_of(["text"] * len(urls))
    return table.set_column(table.schema.get_field_index("url"), "url", pa.array(urls, pa.large_string()))


def reasons(urls, settings, documents_of):
    table = documents(urls, documents_of)
    signals, _ = measure(table, settings=settings)
    judged, report = judge(table, signals, settings=settings)
    return judged["reason"].to_pylist(), signals, report


def test_each_list_has_its_reason(every_list, documents_of):
    found, _, _ = reasons(list(URLS), Filter(url=every_list), documents_of)
    assert dict(zip(URLS, found, strict=True)) == URLS


def test_signals_tell_what_was_found(every_list, documents_of):
    urls = ["http://sub.bad.example/free-spin", "http://good.bad.example/casino", "http://page.example/a", None]
    _, signals, report = reasons(urls, Filter(url=every_list), documents_of)
    names = schema(Filter(url=every_list)).names[-7:]
    assert names == [
        *(
            "url_domain",
            "url_listed",
            "url_banned_word",
            "url_soft_words",
            "url_subword",
            "url_substring",
            "url_allowed",
        )
    ]
    assert [list(row.values()) for row in signals.select(names).to_pylist()] == [
        ["bad.example", None, None, 2, None, None, False],
        ["bad.example", None, "casino", 0, None, None, True],
        [None, "page.example/a", None, 0, None, None, False],
        [None, None, None, None, None, None, None],
    ]
    assert report.samples["url:domain"][0]["value"] == "bad.example"
    assert report.counts["kept_after:url"] == 2


def test_the_limit_of_soft_words_is_applied_to_the_column(every_list, documents_of):
    urls = ["http://a.example/free", "http://a.example/free-spin", "http://a.example/free-spin-win"]
    strict, lax = (Filter(url=every_list.model_copy(update={"min_soft_words": n})) for n in (1, 3))
    assert measured_by(strict) == measured_by(lax)
    assert reasons(urls, strict, documents_of)[0] == ["url:soft_words"] * 3
    assert reasons(urls, lax, documents_of)[0] == ["", "", "url:soft_words"]


def test_signals_depend_on_what_lists_hold_and_not_on_where_they_lie(files):
    def depends_on(url):
        return measured_by(Filter(url=url))["url"]

    one = depends_on(Url(domains=files("a/list", "a.example")))
    assert depends_on(Url(domains=files("b/list", "a.example"))) == one
    assert depends_on(Url(domains=files("a/list", "b.example"))) != one
    assert depends_on(Url(allow=files("a/list", "a.example"))) != one
    pair = files("a/list", "a.example") + files("b/list", "b.example")
    assert depends_on(Url(domains=pair)) == depends_on(Url(domains=pair[::-1]))


def test_a_folder_holds_domains_and_urls(files, tmp_path, documents_of):
    files("adult/domains.gz", "bad.example")
    files("adult/urls", "page.example/a")
    files("adult/expressions", "(never|read")
    files("games/domains", "game.example")
    (tmp_path / "games" / "urls").touch()
    folders = Filter(url=Url(folders=(FilePath(tmp_path / "adult"), FilePath(tmp_path / "games"))))
    urls = ["http://x.bad.example", "http://page.example/a", "http://page.example/b", "http://game.example"]
    assert reasons(urls, folders, documents_of)[0] == ["url:domain", "url:url", "", "url:domain"]


def test_what_is_not_there_is_told(tmp_path):
    with pytest.raises(RecipeError, match=r"filter\.url\.domains = .*: no such file; mend the path"):
        measured_by(Filter(url=Url(domains=(FilePath(str(tmp_path / "none")),))))
    with pytest.raises(RecipeError, match=r"filter\.url\.folders = .*: holds no file domains or urls"):
        measured_by(Filter(url=Url(folders=(FilePath(str(tmp_path)),))))


def test_a_list_that_changed_is_read_anew(files, documents_of):
    settings = Filter(url=Url(domains=files("list", "a.example")))
    urls = ["http://a.example", "http://bb.example"]
    assert reasons(urls, settings, documents_of)[0] == ["url:domain", ""]
    files("list", "bb.example")
    assert reasons(urls, settings, documents_of)[0] == ["", "url:domain"]


def test_chunks_and_nulls_of_the_column_change_nothing(every_list, documents_of):
    settings = Filter(url=every_list)
    table = documents(list(URLS), documents_of)
    parts = pa.concat_tables([table.slice(0, 4), table.slice(4, 1), table.slice(5)])
    assert measure(parts, settings=settings)[0].equals(measure(table, settings=settings)[0])


def test_no_rule_no_columns():
    assert "url_domain" not in schema(Filter()).names
