"""HTML to main text by resiliparse, kept from pages that would hang it.

Measured with resiliparse 2.0.1: main content of 10,000 nested elements takes 2.4 s, of 100,000 minutes (quadratic);
parsing a tag of 100,000 attributes takes 51 s (quadratic).
"""

import re
from typing import NamedTuple

from resiliparse.extract.html2text import extract_plain_text
from resiliparse.parse.html import HTMLTree, traverse_dom
from resiliparse.parse.html.exception import DOMException

from dataassets.records import KEPT

MAX_DEPTH = 1_000  # Chrome's parser stops at 512
MAX_ATTRIBUTES = 5_000  # of one tag: about 20 ms
_START_TAG = re.compile(r"<[A-Za-z][^\s/>]*")
_ATTRIBUTE = re.compile(r"""[\s/]*+[^\s/>=]++(?:\s*=\s*(?:"[^"]*"?|'[^']*'?|[^\s"'>][^\s>]*)?)?""")
_LONG_TAG = re.compile(r"<[A-Za-z](?:[^<>\s/\"']*+[\s/\"']++){2000}")  # first sign of many attributes
_QUOTED_BRACKET = re.compile(r"=\s*(?:\"[^\"<>]*[<>]|'[^'<>]*[<>])")  # hides the tag's true end from it
_TAG = re.compile(r"<(/?)([A-Za-z][^\s/>]*)")
# elements that have no end, or end where the next one begins
_FLAT = frozenset(
    re.findall(
        r"\w+",
        "area base br col embed hr img input link meta param source track wbr "
        "p li dt dd tr td th thead tbody tfoot option optgroup rp rt",
    )
)
_MIN_CHARACTERS = 20_000  # fewer characters hold no dangerous tag


class Page(NamedTuple):
    """Text of a page, or why there is none; `counts` are events for the report."""

    text: str
    reason: str
    counts: dict[str, int]
    value: float | None = None
    limit: float | None = None


def extract(html: str) -> Page:
    r"""Main text of a page: paragraphs apart, list items with bullets.

    Left out: addresses of links, texts of images, forms, comments, date and author of a post.

    A page nested deeper than MAX_DEPTH is taken whole, not its main content only (counter `html:deep`); one with a
    tag of more than MAX_ATTRIBUTES attributes is refused (`clean:attributes`).

    >>> extract("<html><nav><a href=/>Home</a></nav><main><h1>Hello</h1><p>How are you?</main>").text
    'Hello\n\nHow are you?'
    """
    if (num_attributes := most_attributes(html)) > MAX_ATTRIBUTES:
        return Page("", "clean:attributes", {}, num_attributes, MAX_ATTRIBUTES)
    try:
        tree = HTMLTree.parse(html)
        deep = _may_be_deep(html) and _depth(tree) > MAX_DEPTH
        text = extract_plain_text(
            tree,
            main_content=not deep,
            list_bullets=True,
            alt_texts=False,
            links=False,
            form_fields=False,
            noscript=False,
            comments=False,
            post_meta=False,
        )
    except (DOMException, ValueError):
        return Page("", "clean:unparsable", {})
    return Page(text, KEPT, {"html:deep": 1} if deep else {})


def most_attributes(html: str) -> int:
    """The most attributes of one tag; 0 where cheap signs say that there are not many.

    >>> most_attributes("<p a b=1>" * 10_000), most_attributes("<p" + " a" * 6_000 + ">" + " " * 20_000)
    (0, 6000)
    """
    if len(html) < _MIN_CHARACTERS or not (_LONG_TAG.search(html) or _QUOTED_BRACKET.search(html)):
        return 0
    most, at = 0, 0
    while tag := _START_TAG.search(html, at):
        num, at = 0, tag.end()
        while found := _ATTRIBUTE.match(html, at):
            num, at = num + 1, found.end()
        most = max(most, num)
    return most


def _may_be_deep(html: str) -> bool:
    """Whether start tags outnumber end tags of their name by far somewhere: a walk over the tree takes longer."""
    if html.count("<") - html.count("</") <= MAX_DEPTH:
        return False
    num_open: dict[str, int] = {}
    total = 0
    for end, name in _TAG.findall(html):
        name = name.lower()
        if name in _FLAT:
            continue
        step = 1 if not end else -1 if num_open.get(name) else 0
        num_open[name] = num_open.get(name, 0) + step
        total += step
        if total > MAX_DEPTH // 5:  # a cell stands for a table's four levels
            return True
    return False


def _depth(tree: HTMLTree) -> int:
    deepest = 0

    def see(context: object) -> None:
        nonlocal deepest
        deepest = max(deepest, context.depth)  # type: ignore[attr-defined]

    if tree.body is not None:
        traverse_dom(tree.body, start_callback=see, elements_only=True)
    return deepest
