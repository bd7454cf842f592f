"""Runs in the peer's environment: datatrove's filters with parameters of one's own.

Reads JSON: `texts`, and `filters`, a class name and its arguments each. Writes, for each filter, a list of reason and
text of each document; "" for the reason of one that stays.
"""

import json
import sys

from datatrove.data import Document
from datatrove.pipeline import filters


def judged(one: filters.C4QualityFilter, text: str) -> tuple[str, str]:
    """Reason and text of a document."""
    document = Document(text=text, id="0")
    found = one.filter(document)
    return "" if found is True else found[1], document.text


def made_of(arguments: dict) -> dict:
    """JSON knows no tuples, which str.endswith wants."""
    return {name: tuple(value) if isinstance(value, list) else value for name, value in arguments.items()}


if __name__ == "__main__":
    given = json.load(sys.stdin)
    made = [getattr(filters, name)(**made_of(arguments)) for name, arguments in given["filters"]]
    json.dump([[judged(one, text) for text in given["texts"]] for one in made], sys.stdout)
