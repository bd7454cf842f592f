"""Laws of the demo's corpus: the same bytes each time, files that other libraries read, times within their snapshot."""

import gzip
import hashlib
import io
import json
import os
import subprocess
import sys
from collections import Counter
from datetime import UTC, datetime, timedelta

import pyarrow.parquet as pq
import pytest
import zstandard
from warcio.archiveiterator import ArchiveIterator

from dataassets import recipe
from dataassets.cli.demo import api_pages, web
from dataassets.cli.demo.corpus import write_corpus
from dataassets.recipe import demo_text
from dataassets.recipe.snapshots import next_start

SNAPSHOTS = ("2026-09-01", "2026-10-01")


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """The folder of the corpus, bytes by source, and what `tick` heard."""
    folder, heard = tmp_path_factory.mktemp("demo") / "corpus", Counter()
    sizes = write_corpus(folder, tick=lambda source, n: heard.update({source: n}))
    return folder, sizes, heard


def digests(folder):
    files = sorted(p for p in folder.rglob("*") if p.is_file())
    return {p.relative_to(folder).as_posix(): hashlib.sha256(p.read_bytes()).hexdigest() for p in files}


def within(time, snapshot):
    start = datetime.fromisoformat(snapshot).replace(tzinfo=UTC)
    end = datetime.combine(next_start(start.date(), cadence="monthly"), start.timetz())
    return start <= time <= end - timedelta(days=1)


def test_another_process_with_another_hash_seed_writes_the_same_bytes(demo, tmp_path):
    code = "import sys, pathlib; from dataassets.cli.demo import corpus; corpus.write_corpus(pathlib.Path(sys.argv[1]))"
    subprocess.run([sys.executable, "-c", code, tmp_path], check=True, env={**os.environ, "PYTHONHASHSEED": "12345"})
    assert digests(tmp_path) == digests(demo[0])


def test_there_are_twenty_to_thirty_five_megabytes_of_content(demo):
    _, sizes, heard = demo
    assert 20e6 <= sum(sizes.values()) <= 35e6
    assert set(sizes) == {"web", "docs", "prose", "code"}
    assert min(sizes.values()) > 2e6
    assert heard == sizes


def test_the_recipe_parses_and_its_paths_name_all_that_was_written(demo, tmp_path):
    folder, _, _ = demo
    (tmp_path / "recipe.yaml").write_text(demo_text())
    (tmp_path / "corpus").symlink_to(folder)
    located = recipe.load(tmp_path / "recipe.yaml")
    assert tuple(located.recipe.snapshots.keys(today=datetime(2030, 1, 1, tzinfo=UTC).date())) == SNAPSHOTS
    found = []
    for name, source in located.recipe.sources.items():
        for snapshot in SNAPSHOTS if source.by_snapshot else SNAPSHOTS[:1]:
            for path in source.paths:
                matches = list(tmp_path.glob(path.replace("{snapshot}", snapshot)))
                assert matches, (name, snapshot, path)
                found += matches
    assert sorted(p.relative_to(tmp_path / "corpus").as_posix() for p in found) == list(digests(folder))


def test_nothing_of_this_machine_is_in_it(demo):
    for file in demo[0].rglob("*.*"):
        if file.suffix in (".html", ".jsonl"):
            text = file.read_text(errors="replace")
            assert sys.prefix not in text, file
            assert sys.base_prefix not in text, file


def test_docs_are_whole_pages_of_three_kinds(demo):
    folder = demo[0] / "docs"
    for kind in ("topics", "projects", "guides"):
        pages = [p.read_text(encoding="utf-8") for p in (folder / kind).iterdir()]
        assert len(pages) > 20
        assert all("<html" in page and page.rstrip().endswith("</html>") for page in pages)


@pytest.fixture(scope="module")
def crawls(demo):
    """All records of each crawl, as warcio reads them: (type, url, time, HTTP type, body)."""
    found = {}
    for snapshot in SNAPSHOTS:
        rows = found[snapshot] = []
        for file in sorted((demo[0] / "web" / snapshot).glob("*.warc.gz")):
            with file.open("rb") as stream:
                for record in ArchiveIterator(stream, check_digests="raise"):
                    head, told = record.rec_headers, record.http_headers
                    time = datetime.fromisoformat(head.get_header("WARC-Date"))
                    body = record.content_stream().read()
                    media_type = told and told.get_header("Content-Type")
                    rows.append((record.rec_type, head.get_header("WARC-Target-URI"), time, media_type, body))
    return found


def test_warcio_reads_every_record_and_its_digests_hold(demo, crawls):
    kinds = Counter(row[0] for rows in crawls.values() for row in rows)
    assert kinds["warcinfo"] == 4
    assert kinds["response"] == kinds["request"] > 1000
    assert all(within(row[2], snapshot) for snapshot, rows in crawls.items() for row in rows)
    bodies = [row[4] for rows in crawls.values() for row in rows if row[0] == "response"]
    assert sum(map(len, bodies)) == demo[1]["web"]


def test_each_page_is_in_the_charset_that_its_header_or_its_meta_tells(crawls):
    charsets = Counter()
    for kind, _, _, media_type, body in (row for rows in crawls.values() for row in rows):
        if kind == "response":
            charset = media_type.partition("charset=")[2] or "untold"
            charsets[charset] += 1
            in_page = body.partition(b'<meta charset="')[2].partition(b'"')[0].decode()
            assert charset in (in_page, "untold")
            assert "\u00bb" in body.decode(in_page)
    assert set(charsets) == {"utf-8", "iso-8859-1", "untold"}


def test_the_second_crawl_meets_pages_again_the_same_changed_and_new(crawls):
    first, second = ({row[1]: row[4] for row in rows if row[0] == "response"} for rows in crawls.values())
    again = first.keys() & second.keys()
    same = sum(first[url] == second[url] for url in again)
    assert same > 100
    assert len(again) - same > 100
    assert len(second.keys() - first.keys()) > 100
    for snapshot in (first, second):
        assert len(set(snapshot.values())) < len(snapshot)  # one page at two addresses


def json_lines(folder, snapshot):
    for file in sorted((folder / "prose" / snapshot).iterdir()):
        packed = file.read_bytes()
        match file.suffix:
            case ".gz":
                packed = gzip.decompress(packed)
            case ".zst":
                packed = zstandard.ZstdDecompressor().stream_reader(io.BytesIO(packed)).read()
        yield file.name, packed.decode(errors="replace").split("\n")


def test_prose_is_json_lines_in_three_packings_but_for_one_line_cut_in_its_middle(demo):
    broken, kinds = [], Counter()
    for snapshot in SNAPSHOTS:
        for name, lines in json_lines(demo[0], snapshot):
            for at, line in enumerate(filter(None, lines)):
                try:
                    record = json.loads(line)
                except json.JSONDecodeError:
                    broken.append((snapshot, name, at == len(lines) - 1))
                    continue
                time = record["timestamp"]
                time = datetime.fromtimestamp(time, UTC) if isinstance(time, int) else datetime.fromisoformat(time)
                assert within(time, snapshot)
                assert record["text"]
                assert record["url"].startswith("https://")
                kinds[record["kind"]] += 1
    assert broken == [("2026-10-01", "topics.jsonl", True)]
    assert min(kinds[kind] for kind in ("topic", "description", "license", "docstring")) > 50


def test_code_is_parquet_whose_rows_are_the_sources(demo):
    folder, sizes, _ = demo
    tables = [pq.read_table(file) for file in sorted((folder / "code").glob("*.parquet"))]
    texts = {row["path"]: row["content"] for t in tables for row in t.to_pylist()}
    assert sum(len(text.encode()) for text in texts.values()) == sizes["code"]
    compile(texts["textwrap.py"], "textwrap.py", "exec")
    assert len(tables) > 1


def test_without_botocore_the_error_names_the_command(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "botocore", None)
    with pytest.raises(ValueError, match="pip install 'botocore"):
        web.write_web(tmp_path, tick=lambda source, n: None)


def test_a_service_that_botocore_dropped_is_named():
    with pytest.raises(ValueError, match="simpledb-of-1999"):
        api_pages.versions("simpledb-of-1999")
