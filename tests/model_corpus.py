"""A small corpus for tests of trained models: paragraphs of the language reference, and the same read backwards."""

import gzip
import json
import textwrap
from pathlib import Path

import yaml
from small_corpus import topic_texts

SNAPSHOTS = ("2026-08-01", "2026-09-01")


def write_corpus(folder: Path) -> None:
    """Write `books/*.jsonl.gz`, paragraphs, and `web/{snapshot}/*.jsonl.gz`, two in three of them read backwards."""
    texts = list(dict.fromkeys(p for text in topic_texts() for p in text.split("\n\n") if len(p) > 200))
    web = texts[60:180]
    rows = {
        "books": texts[:60],
        f"web/{SNAPSHOTS[0]}": [t if i % 3 == 0 else t[::-1] for i, t in enumerate(web[:70])],
        f"web/{SNAPSHOTS[1]}": [t if i % 3 == 0 else t[::-1] for i, t in enumerate(web[70:])],
    }
    for name, own in rows.items():
        (folder / name).mkdir(parents=True, exist_ok=True)
        for half in (0, 1):
            lines = "\n".join(json.dumps({"text": text}) for text in own[half::2])
            (folder / name / f"part-{half}.jsonl.gz").write_bytes(gzip.compress(lines.encode(), mtime=0))


def write_recipe(folder: Path, **changes: object) -> Path:
    """Write `recipe.yaml` for that corpus; keyword arguments replace whole sections."""
    recipe = yaml.safe_load(
        textwrap.dedent("""
            root: ./data
            snapshots: {start: "2026-08-01", end: "2026-09-01", cadence: monthly}
            sources:
              books: {format: jsonl, paths: ["books/*.jsonl.gz"], filter: {}}
              web: {format: jsonl, paths: ["web/{snapshot}/*.jsonl.gz"]}
            quality_model: {positive: [books], negative: [web], dim: 8, bucket: 2000, epoch: 20, held_out: 0.2}
            filter: {quality: {min_score: 0.5}}
            mixes: {pretrain: {tokens: 4000, weights: {books: 0.5, web: 0.5}, val_fraction: 0.1}}
            compute: {executor: inline, part_bytes: 4000}
        """)
    )
    recipe.update(changes)
    file = folder / "recipe.yaml"
    file.write_text(yaml.safe_dump(recipe, sort_keys=False), encoding="utf-8")
    return file
