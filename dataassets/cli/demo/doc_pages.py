"""The demo's static HTML, three kinds of pages in a folder each.

`topics`: the language reference, as pydoc serves it. `projects`: Markdown descriptions of the installed packages, as a
package index shows them. `guides`: what the operations of an API do, some operations on a page, from botocore.
"""

import html
import pydoc
from collections.abc import Callable, Iterator
from pathlib import Path

from markdown_it import MarkdownIt

from dataassets.cli.demo.api_pages import MissingPackageError, read_api, versions
from dataassets.cli.demo.prose import distributions, topics

_OPERATIONS_PER_GUIDE = 6
_SERVICES = (
    "acm apigateway appstream athena autoscaling backup batch budgets cloudformation cloudtrail cloudwatch codebuild "
    "codecommit codedeploy codepipeline cognito-identity comprehend config connect datasync dax directconnect dms ds "
    "ecr ecs efs eks elasticbeanstalk elb elbv2 emr firehose fms fsx gamelift glacier guardduty health"
)


def write_docs(folder: Path, *, tick: Callable[[str, int], None]) -> int:
    """Write `<folder>/<kind>/<name>.html` for each page.

    Args:
        folder: where; it is made.
        tick: called with ("docs", bytes) for each page.

    Returns:
        Bytes in all.

    Raises:
        MissingPackageError: botocore is not installed.
    """
    total = 0
    for kind, pages in (("topics", _topics()), ("projects", _projects()), ("guides", _guides())):
        (folder / kind).mkdir(parents=True, exist_ok=True)
        for name, page in pages:
            body = page.encode("utf-8", "xmlcharrefreplace")
            (folder / kind / f"{name}.html").write_bytes(body)
            tick("docs", len(body))
            total += len(body)
    return total


def _topics() -> Iterator[tuple[str, str]]:
    writer = pydoc.HTMLDoc()
    for name, text in topics():
        heading = writer.heading(f"<strong>{name}</strong>")
        main = writer.bigsection(name, "index", f"<pre>{writer.markup(text)}</pre>")
        yield name, writer.page(name, heading + main)


def _projects() -> Iterator[tuple[str, str]]:
    markdown = MarkdownIt("commonmark").enable("table")
    for name, distribution in distributions():
        meta = distribution.metadata.json
        if str(meta.get("description_content_type")).startswith("text/markdown"):
            summary = html.escape(str(meta.get("summary", "")))
            yield name, _frame(name, f"<h1>{name}</h1>\n<p>{summary}</p>\n{markdown.render(str(meta['description']))}")


def _guides() -> Iterator[tuple[str, str]]:
    for service in _SERVICES.split():
        try:
            version = versions(service)[-1]
        except MissingPackageError:
            continue  # services come and go
        api = read_api(service, version)
        operations = sorted(api.model["operations"].items())
        for at in range(0, len(operations), _OPERATIONS_PER_GUIDE):
            name = f"{service}-{at // _OPERATIONS_PER_GUIDE + 1:02}"
            parts = [f"<h1>{html.escape(api.title)}</h1>\n{'' if at else api.model.get('documentation', '')}"]
            for heading, operation in operations[at : at + _OPERATIONS_PER_GUIDE]:
                parts.append(f"<h2>{heading}</h2>\n{operation.get('documentation', '')}")
            yield name, _frame(f"{api.title}, part {at // _OPERATIONS_PER_GUIDE + 1}", "\n".join(parts))


def _frame(title: str, main: str) -> str:
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head><meta charset="utf-8"><title>{html.escape(title)}</title></head>\n'
        f"<body>\n<main>\n{main}\n</main>\n</body>\n</html>\n"
    )
