"""A bigram model, estimated by counts with a discount of one half, as an ARPA file; stand-ins for KenLM's programs.

`lmplz` and `build_binary` are built from source by who wants them; the tests must run without.
"""

import math
import stat
import sys
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

DISCOUNT = 0.5


def arpa(lines: Iterable[str]) -> str:
    """An ARPA file of the bigrams of some lines, backed off to unigrams; <unk> has the mass of one word seen once."""
    unigrams: Counter[str] = Counter()
    bigrams: Counter[tuple[str, str]] = Counter()
    for line in lines:
        words = ["<s>", *line.split(), "</s>"]
        unigrams.update(words[1:])
        bigrams.update(pairwise(words))
    total = sum(unigrams.values()) + 1
    starts, kinds = Counter(a for a, _ in bigrams.elements()), Counter(a for a, _ in bigrams)
    out = ["\\data\\", f"ngram 1={len(unigrams) + 2}", f"ngram 2={len(bigrams)}", "", "\\1-grams:"]
    for word in ["<unk>", "<s>", *sorted(unigrams)]:
        p = -99.0 if word == "<s>" else math.log10(unigrams.get(word, 1) / total)
        back = math.log10(DISCOUNT * kinds[word] / starts[word]) if starts[word] else 0.0
        out.append(f"{p:.6f}\t{word}\t{back:.6f}")
    out += ["", "\\2-grams:"]
    for (a, b), n in sorted(bigrams.items()):
        p = (n - DISCOUNT) / starts[a] + DISCOUNT * kinds[a] / starts[a] * unigrams[b] / total
        out.append(f"{math.log10(p):.6f}\t{a} {b}")
    return "\n".join([*out, "", "\\end\\", ""])


def score(text: str, model: str) -> float:
    """log10 of the probability of a line by an ARPA file of bigrams, from its definition."""
    p, back = _read(model)
    words = ["<s>", *(w if (w,) in p else "<unk>" for w in text.split()), "</s>"]
    return sum(p.get((a, b), back[(a,)] + p[(b,)]) for a, b in pairwise(words))


@lru_cache
def _read(model: str) -> tuple[dict[tuple[str, ...], float], dict[tuple[str, ...], float]]:
    """Probabilities and back-offs of an ARPA file."""
    p: dict[tuple[str, ...], float] = {}
    back: dict[tuple[str, ...], float] = {}
    for row in model.splitlines():
        if fields := [f for f in row.split("\t") if "\t" in row]:
            gram = tuple(fields[1].split(" "))
            p[gram], back[gram] = float(fields[0]), float(fields[2]) if len(fields) > 2 else 0.0
    return p, back


def install(folder: Path) -> None:
    """Put stand-ins of `lmplz` and `build_binary` into a folder, for PATH."""
    for name in ("lmplz", "build_binary"):
        program = folder / name
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{__file__}" {name} "$@"\n')
        program.chmod(program.stat().st_mode | stat.S_IXUSR)


if __name__ == "__main__":
    if sys.argv[1] == "lmplz":
        assert sys.argv[2:4] == ["-o", "2"], f"the stand-in knows bigrams only: {sys.argv}"
        sys.stdout.write(arpa(sys.stdin))
    else:
        Path(sys.argv[3]).write_bytes(Path(sys.argv[2]).read_bytes())
