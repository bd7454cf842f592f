"""HTML pages of web APIs, one for each operation, from the documentation that botocore ships as gzipped JSON.

botocore keeps several versions of some APIs side by side. Their pages repeat each other in part, as real sites do.
"""

import gzip
import html
import json
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any

HOST = "https://apis.example.org"  # reserved for documentation (RFC 2606): nothing here was really fetched
_MEND = "pip install 'botocore>=1.40,<2'"
_NEIGHBOURS = 12  # operations in the menu on each side


class MissingPackageError(ValueError):
    """The demo's corpus wants a package that is not installed."""


@dataclass(frozen=True)
class Api:
    """One version of one service.

    Args:
        service: folder name in botocore, e.g. "sqs".
        version: its version, e.g. "2012-11-05".
        model: the parsed service-2.json.
    """

    service: str
    version: str
    model: dict[str, Any]

    @property
    def title(self) -> str:
        """Full name of the service."""
        return str(self.model["metadata"]["serviceFullName"])


@dataclass(frozen=True)
class Page:
    """A page of the demo's web: its address, its bytes and the charset in its HTTP header ("" = not told)."""

    url: str
    body: bytes
    charset: str


def versions(service: str) -> list[str]:
    """Versions of a service that botocore ships, oldest first.

    Raises:
        MissingPackageError: botocore is not installed, or it no longer ships this service.
    """
    folder = _data() / service
    found = sorted(v.name for v in folder.iterdir() if (v / "service-2.json.gz").is_file()) if folder.is_dir() else []
    if not found:
        raise MissingPackageError(f"botocore ships no service {service!r}; {_MEND}")
    return found


def read_api(service: str, version: str) -> Api:
    """Read one version of a service.

    Args:
        service: folder name in botocore.
        version: one of `versions(service)`.
    """
    packed = (_data() / service / version / "service-2.json.gz").read_bytes()
    return Api(service, version, json.loads(gzip.decompress(packed)))


def pages(api: Api, *, alias: str | None = None, edition: int = 1, charset: str = "utf-8") -> Iterator[Page]:
    """The site of one API: an index page, then a page for each operation, in order of name.

    Args:
        api: what `read_api` gave.
        alias: path in the address instead of the version, e.g. "latest", as sites do; the page stays the same.
        edition: 2 adds a list of possible errors to each page, as a site does that grew in a month.
        charset: encoding of the bytes; characters outside it become character references.
    """
    base = f"{HOST}/{api.service}/{alias or api.version}"
    names = sorted(api.model["operations"])
    yield Page(f"{base}/", _index(api, names, charset=charset).encode(charset, "xmlcharrefreplace"), charset)
    for at, name in enumerate(names):
        menu = names[max(0, at - _NEIGHBOURS) : at + _NEIGHBOURS + 1]
        told = "".join(_operation(api, name, edition=edition))
        text = _frame(api, title=name, menu=menu, main=told, charset=charset)
        yield Page(f"{base}/{name}.html", text.encode(charset, "xmlcharrefreplace"), charset)


def _data() -> Traversable:
    try:
        return resources.files("botocore") / "data"
    except ModuleNotFoundError:
        raise MissingPackageError(
            "the demo's web pages are made from botocore; pip install 'botocore>=1.40,<2'"
        ) from None


def _index(api: Api, names: list[str], *, charset: str) -> str:
    entries = []
    for name in names:
        first = api.model["operations"][name].get("documentation", "").partition("</p>")[0]
        entries.append(f'<li><a href="{name}.html">{name}</a>: {first.removeprefix("<p>")}</li>')
    main = f"<h1>{html.escape(api.title)}</h1>\n{api.model.get('documentation', '')}\n<ul>{''.join(entries)}</ul>"
    return _frame(api, title="API reference", menu=names[:_NEIGHBOURS], main=main, charset=charset)


def _operation(api: Api, name: str, *, edition: int) -> Iterator[str]:
    operation, shapes = api.model["operations"][name], api.model["shapes"]
    yield f"<h1>{name}</h1>\n{operation.get('documentation', '')}\n"
    for heading, side in (("Request parameters", "input"), ("Response elements", "output")):
        shape = shapes.get(operation.get(side, {}).get("shape"), {})
        if members := shape.get("members"):
            yield f"<h2>{heading}</h2>\n<dl>\n"
            yield from _members(members, shapes, required=shape.get("required", ()))
            yield "</dl>\n"
    errors = [e["shape"] for e in operation.get("errors", ()) if shapes[e["shape"]].get("documentation")]
    if edition > 1 and errors:
        yield "<h2>Errors</h2>\n<dl>\n"
        yield from (f"<dt>{e}</dt>\n<dd>{shapes[e]['documentation']}</dd>\n" for e in errors)
        yield "</dl>\n"


def _members(members: dict[str, Any], shapes: dict[str, Any], *, required: Collection[str]) -> Iterator[str]:
    for name, member in members.items():
        shape = shapes[member["shape"]]
        told = member.get("documentation") or shape.get("documentation", "")
        need = "required" if name in required else "optional"
        yield f"<dt>{name} ({shape['type']}, {need})</dt>\n<dd>{told}"
        if shape["type"] == "structure" and (inner := shape.get("members")):
            documented = {n: m for n, m in inner.items() if m.get("documentation")}
            yield "<ul>" + "".join(f"<li>{n}: {m['documentation']}</li>" for n, m in documented.items()) + "</ul>"
        yield "</dd>\n"


def _frame(api: Api, *, title: str, menu: list[str], main: str, charset: str) -> str:
    links = "".join(f'<li><a href="{name}.html">{name}</a></li>' for name in menu)
    full = html.escape(api.title)
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="{charset}">
<title>{title} \u00bb {full}</title>
<style>nav {{ float: left; width: 14em }} main {{ margin-left: 15em }}</style>
</head>
<body>
<header><a href="/">All services</a> \u00bb <a href="./">{full}</a> \u00bb {title}</header>
<nav><ul>{links}</ul></nav>
<main>
{main}
<p>API version {api.version}.</p>
</main>
<footer><p>Cookie preferences \u00b7 Privacy policy \u00b7 Terms of use \u00b7 \u00a9 {full}</p></footer>
</body>
</html>
"""
