"""The demo's crawls: a site of API pages met twice, a month apart, as WARC files with all that real ones hold.

The second crawl finds some pages word for word, some in a newer edition, and new ones. Inside a crawl, versions of
one API that stand side by side repeat each other nearly, and a "latest" address repeats a version exactly.
"""

import gzip
import hashlib
import io
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from fastwarc.warc import WarcRecord, WarcRecordType

from dataassets.cli.demo.api_pages import HOST, Page, pages, read_api, versions

AGENT = "dataassets-demo/1 (built offline, nothing was fetched)"
_GZIP_LEVEL = 6


@dataclass(frozen=True)
class Site:
    """Which pages of a service a crawl meets.

    Args:
        service: folder name in botocore.
        ages: which versions the crawl meets: 0 is the newest, 1 the one before it.
        edition: see `pages`.
        latest: meet the newest version a second time, under the address "latest".
        charset: how its pages are served; latin-1 still makes up a part of the web.
        told: whether the HTTP header names the charset; where not, the page's own <meta> does.
    """

    service: str
    ages: tuple[int, ...] = (0,)
    edition: int = 1
    latest: bool = False
    charset: str = "utf-8"
    told: bool = True


CRAWLS: dict[str, dict[str, list[Site]]] = {
    "2026-09-01": {
        "crawl-00000.warc.gz": [
            Site("ec2", (2, 1)),
            Site("lambda", (1, 0)),
            Site("sqs", latest=True, told=False),
            Site("sns", charset="iso-8859-1"),
        ],
        "crawl-00001.warc.gz": [
            Site("cloudfront", (2, 1)),
            Site("rds", (1,)),
            Site("s3"),
            Site("kms", charset="iso-8859-1"),
            Site("iam"),
        ],
    },
    "2026-10-01": {
        "crawl-00000.warc.gz": [
            Site("ec2", (1,)),
            Site("lambda", latest=True),
            Site("sqs", told=False),
            Site("sns", charset="iso-8859-1"),
            Site("kms", edition=2),
            Site("iam", edition=2),
        ],
        "crawl-00001.warc.gz": [
            Site("cloudfront", (1, 0)),
            Site("rds"),
            Site("logs", told=False),
        ],
    },
}


def write_web(folder: Path, *, tick: Callable[[str, int], None]) -> int:
    """Write both crawls to `<folder>/<snapshot>/<name>.warc.gz`.

    Args:
        folder: where; it is made.
        tick: called with ("web", bytes of HTML) for each page.

    Returns:
        Bytes of HTML in all.

    Raises:
        MissingPackageError: botocore is not installed.
    """
    total = 0
    for snapshot, files in CRAWLS.items():
        (folder / snapshot).mkdir(parents=True, exist_ok=True)
        time = datetime.fromisoformat(snapshot).replace(tzinfo=UTC) + timedelta(days=2)
        for name, sites in files.items():
            with (folder / snapshot / name).open("wb") as out:
                out.write(_member(_warcinfo(name, time)))
                for site in sites:
                    for page in _met(site):
                        time += timedelta(seconds=5)
                        out.writelines(_exchange(page, time, told=site.told))
                        tick("web", len(page.body))
                        total += len(page.body)
    return total


def _met(site: Site) -> Iterator[Page]:
    newest_first = versions(site.service)[::-1]
    for age in site.ages:
        api = read_api(site.service, newest_first[age])
        yield from pages(api, edition=site.edition, charset=site.charset)
        if site.latest and age == 0:
            yield from pages(api, alias="latest", edition=site.edition, charset=site.charset)


def _warcinfo(name: str, time: datetime) -> WarcRecord:
    record = _record(WarcRecordType.warcinfo, time, name, "application/warc-fields")
    record.headers["WARC-Filename"] = name
    record.set_bytes_content(f"software: {AGENT}\r\nformat: WARC File Format 1.1\r\n".encode())
    return record


def _exchange(page: Page, time: datetime, *, told: bool) -> Iterator[bytes]:
    """The request and the response of one page, each a gzip member."""
    media_type = f"text/html; charset={page.charset}" if told else "text/html"
    status = (
        f"HTTP/1.1 200 OK\r\nDate: {time:%a, %d %b %Y %H:%M:%S} GMT\r\nServer: demo\r\n"
        f"Content-Type: {media_type}\r\nContent-Length: {len(page.body)}\r\n\r\n"
    )
    response = _record(WarcRecordType.response, time, page.url, "application/http; msgtype=response")
    response.headers["WARC-Target-URI"] = page.url
    response.set_bytes_content(status.encode() + page.body)
    asked = f"GET {page.url.removeprefix(HOST)} HTTP/1.1\r\nHost: {HOST.split('//')[1]}\r\nUser-Agent: {AGENT}\r\n\r\n"
    request = _record(WarcRecordType.request, time, page.url, "application/http; msgtype=request")
    request.headers["WARC-Target-URI"] = page.url
    request.headers["WARC-Concurrent-To"] = response.headers["WARC-Record-ID"]
    request.set_bytes_content(asked.encode())
    yield _member(request)
    yield _member(response, payload=page.body)


def _record(kind: WarcRecordType, time: datetime, name: str, content_type: str) -> WarcRecord:
    """A record with a date and an id that follow from what it is, not from the clock."""
    record = WarcRecord()
    record.init_headers(kind, f"uuid:{uuid.uuid5(uuid.NAMESPACE_URL, f'{int(kind)} {name} {time}')}".encode())
    record.headers["WARC-Date"] = f"{time:%Y-%m-%dT%H:%M:%SZ}"
    record.headers["Content-Type"] = content_type
    return record


def _member(record: WarcRecord, *, payload: bytes | None = None) -> bytes:
    out = io.BytesIO()
    digest = hashlib.sha1(payload, usedforsecurity=False).digest() if payload is not None else None
    record.write(out, checksum_data=True, payload_digest=digest)
    return gzip.compress(out.getvalue(), compresslevel=_GZIP_LEVEL, mtime=0)
