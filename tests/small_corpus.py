"""A small real corpus for tests of the whole road: the language reference that ships with Python, in two formats."""

import gzip
import json
import pydoc_data.topics
import textwrap
from pathlib import Path

import yaml

SNAPSHOTS = ("2026-08-01", "2026-09-01", "2026-10-01")


def topic_texts() -> list[str]:
    """Long topics of the language reference, in order of their names."""
    topics = pydoc_data.topics.topics
    return [topics[name] for name in sorted(topics) if len(topics[name]) > 1500]


def write_corpus(folder: Path, *, snapshots: tuple[str, ...] = SNAPSHOTS, copies: int = 6) -> None:
    """Write `notes/{snapshot}/*.jsonl.gz`, each with some near-copies, and `books/*.txt`.

    Args:
        folder: the recipe's.
        snapshots: their names.
        copies: how many documents of each snapshot stand again, slightly changed.
    """
    texts = topic_texts()
    share = len(texts) // (len(snapshots) + 1)
    for i, snapshot in enumerate(snapshots):
        mine = texts[i * share : (i + 1) * share]
        again = [f"{text}\nWritten to someone@example.com by hand.\n" for text in mine[:copies]]
        place = folder / "notes" / snapshot
        place.mkdir(parents=True, exist_ok=True)
        for half, rows in enumerate((mine, again)):
            lines = [
                json.dumps({"text": t, "url": f"https://docs.example/{snapshot}/{half}/{n}"})
                for n, t in enumerate(rows)
            ]
            (place / f"part-{half}.jsonl.gz").write_bytes(gzip.compress("\n".join(lines).encode(), mtime=0))
    (folder / "books").mkdir(parents=True, exist_ok=True)
    for n, text in enumerate(texts[len(snapshots) * share :]):
        (folder / "books" / f"book-{n:02d}.txt").write_text(text, encoding="utf-8")


def write_recipe(folder: Path, **changes: object) -> Path:
    """Write `recipe.yaml` for that corpus; keyword arguments replace whole sections."""
    recipe = yaml.safe_load(
        textwrap.dedent("""
            root: ./data
            snapshots: {start: "2026-08-01", end: "2026-10-01", cadence: monthly}
            sources:
              notes: {format: jsonl, paths: ["notes/{snapshot}/*.jsonl.gz"]}
              books: {format: text, paths: ["books/*.txt"]}
            clean: {pii: mask}
            filter: {length: {min: 200}, language: {keep: [en], min_score: 0.3}}
            dedup: {scope: snapshot, exact: true, minhash: {num_perm: 112, bands: 14, threshold: 0.7}}
            tokenize: {tokenizer: gpt2}
            mixes:
              pretrain: {tokens: 60000, weights: {notes: 0.6, books: 0.4}, val_fraction: 0.1, tokens_per_shard: 20000}
            compute: {executor: inline, part_bytes: 60000}
        """)
    )
    recipe.update(changes)
    file = folder / "recipe.yaml"
    file.write_text(yaml.safe_dump(recipe, sort_keys=False), encoding="utf-8")
    return file
