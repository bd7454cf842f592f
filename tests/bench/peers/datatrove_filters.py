"""Runs in the peer's environment: datatrove's four filters over the texts of a JSON file, timed by themselves.

Reads one name of FILTERS, or `chain`, a line; answers each with a line of JSON: processor seconds and the reasons.
"""

import json
import sys
import time
from pathlib import Path

from datatrove.data import Document
from datatrove.pipeline.filters import (
    C4QualityFilter,
    FineWebQualityFilter,
    GopherQualityFilter,
    GopherRepetitionFilter,
)

FILTERS = {
    "gopher_repetition": GopherRepetitionFilter(),
    "gopher_quality": GopherQualityFilter(),
    "c4": C4QualityFilter(filter_no_terminal_punct=False),
    "fineweb": FineWebQualityFilter(),
}


def reason(document: Document, names: list[str]) -> str:
    """First `filter:test` that the document fails, "" where it stays."""
    for name in names:
        found = FILTERS[name].filter(document)
        if found is not True:
            return f"{name}:{found[1]}"
    return ""


def run(texts: list[str], names: list[str]) -> tuple[float, list[str]]:
    """Seconds of this process, and the reasons."""
    documents = [Document(text=text, id=str(row)) for row, text in enumerate(texts)]  # C4 edits the text
    began = time.process_time()
    reasons = [reason(document, names) for document in documents]
    return time.process_time() - began, reasons


if __name__ == "__main__":
    texts = json.loads(Path(sys.argv[1]).read_text())
    run(texts[:20], list(FILTERS))  # spaCy is loaded by the first text
    for line in sys.stdin:
        name = line.strip()
        sys.stdout.write(json.dumps(run(texts, list(FILTERS) if name == "chain" else [name])) + "\n")
        sys.stdout.flush()
