"""Compiled search for blocks of lines: fenced code, comments, docstrings. A block that is never closed is none.

Shapes: D documents, L lines of all of them.
"""

from dataassets.stages.text import Bytes, Int, Ints, bare, inner

# Kinds of blocks, a bit each: what a line may open; shifted by CLOSES, what it may close.
BACKTICKS, TILDES, COMMENT, DOCSTRING = (1 << k for k in range(4))
CLOSES = 4
_KINDS = (1 << CLOSES) - 1


@inner
def fence(buffer: Bytes, start: Int, stop: Int) -> Int:
    """What a stripped line that begins with three backticks or tildes opens and closes; 0 for any other line.

    Source: fenced code blocks of CommonMark 0.31, section 4.5.
    """
    if stop - start < 3 or buffer[start] != buffer[start + 1] or buffer[start] != buffer[start + 2]:
        return 0
    kind = BACKTICKS if buffer[start] == 96 else TILDES if buffer[start] == 126 else 0
    return kind | kind << CLOSES


@bare
def mark_blocks(edges: Bytes, first: Ints, out: Bytes) -> None:
    """Find the lines that lie in a block, its first and last one among them.

    Args:
        edges: uint8 [L], the kinds that each line opens, and those that it closes.
        first: int64 [D + 1]; the lines of document d are those from first[d] up to first[d + 1].
        out: uint8 [L], 1 is written for a line in a block; the others are left as they are.
    """
    for d in range(len(first) - 1):
        line, never_closed = first[d], 0
        while line < first[d + 1]:
            opened = edges[line] & _KINDS & ~never_closed
            if opened == 0:
                line += 1
                continue
            kind = opened & -opened
            last = line + 1
            while last < first[d + 1] and edges[last] & (kind << CLOSES) == 0:
                last += 1
            if last == first[d + 1]:
                never_closed |= kind  # nor is any later one: no line is searched twice for a kind
                continue
            out[line : last + 1] = 1
            line = last + 1
