"""Compiled measure of program code in a text: which lines are code, whatever the language, and their characters.

Shapes: D documents, L lines of all of them.
"""

import numpy as np

from dataassets.stages.filter.blocks import CLOSES, COMMENT, DOCSTRING, fence
from dataassets.stages.filter.lines import next_line, strip
from dataassets.stages.filter.repeats import not_zero, place
from dataassets.stages.text import SPACE, Bytes, Hashes, Int, Ints, bare, decode, fnv1a, frozen, inner

BYTES_PER_MARK = 25  # a line is code if it has a mark for so many bytes; measured in docs/how-to/filters/code.md
MOST_WORDS = 4  # of a line that is code for its first word
LONGEST_RUN = 3  # of one character that is a mark; longer ones are rulers
# First words of lines of code that are rarely those of short lines of prose; C, C++, C#, Fortran, Go, Java,
# JavaScript, PHP, Perl, Python, Ruby, Rust, SQL, shells, Swift have them.
KEYWORDS = (
    "CREATE", "FROM", "INSERT", "SELECT", "UPDATE", "WHERE", "assert", "async", "await", "bool", "break", "case",
    "catch", "char", "class", "const", "continue", "def", "default", "define", "del", "done", "double", "echo",
    "elif", "else", "end", "endif", "enum", "esac", "except", "export", "extern", "fi", "finally", "float", "fn",
    "for", "from", "func", "function", "global", "if", "ifdef", "ifndef", "implicit", "import", "include", "inline",
    "int", "integer", "interface", "let", "namespace", "package", "pass", "print", "private", "protected", "public",
    "raise", "require", "return", "static", "struct", "sub", "subroutine", "switch", "template", "then", "throw",
    "try", "typedef", "undef", "union", "use", "using", "var", "void", "while", "yield",
)  # fmt: skip


def _table(chars: str) -> Bytes:
    table = np.zeros(256, np.uint8)
    table[[ord(char) for char in chars]] = 1
    return frozen(table)


_NAME = _table("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
_LETTER = _table("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
_ALWAYS = _table("{}=;\\$")
_AFTER_KEYWORD = _table(":({;")


@bare
def label_lines(  # noqa: PLR0913 (a kernel takes arrays, not objects)
    buffer: Bytes, starts: Ints, stops: Ints, table: Bytes, keywords: Hashes, out_code: Bytes, out_edges: Bytes,
    out_sizes: Ints, out_first: Ints,
) -> None:  # fmt: skip
    """Judge each line by itself.

    Args:
        buffer: uint8 [bytes], UTF-8.
        starts: int64 [D], first byte of each document.
        stops: int64 [D], the byte after each.
        table: `class_table()`.
        keywords: hashes of KEYWORDS, as `repeats.hash_table` makes them.
        out_code: uint8 [L], filled with whether a line is code.
        out_edges: uint8 [L], filled with the blocks that it opens and closes, as `mark_blocks` takes them.
        out_sizes: int64 [L], filled with its characters, white space not counted.
        out_first: int64 [D + 1], filled with where the lines of each document begin.
    """
    line = np.int64(0)
    for d in range(len(starts)):
        out_first[d], at = line, starts[d]
        while at < stops[d]:
            end, after = next_line(buffer, at, stops[d], table)
            start, stop = strip(buffer, at, end, table)
            out_sizes[line], dense = _density(buffer, start, stop, table)
            plain = not dense and not _is_comment(buffer, start, stop)
            out_code[line] = not plain or _is_statement(buffer, start, stop, table, keywords)
            out_edges[line] = fence(buffer, start, stop) | _text_edges(buffer, start, stop)
            line += 1
            at = after
    out_first[len(starts)] = line


@bare
def count_code(code: Bytes, in_block: Bytes, sizes: Ints, first: Ints, out_D2: Ints) -> None:
    """Fill int64 [D, 2] with the characters of lines of code, and of all lines.

    Args:
        code: uint8 [L], whether a line is code by itself; one between two such lines that is not blank is code too.
        in_block: uint8 [L], whether it is code for the block that it lies in.
        sizes: int64 [L], its characters.
        first: int64 [D + 1]; the lines of document d are those from first[d] up to first[d + 1].
        out_D2: filled.
    """
    for d in range(len(first) - 1):
        for line in range(first[d], first[d + 1]):
            between = first[d] < line < first[d + 1] - 1 and code[line - 1] and code[line + 1]
            out_D2[d, 0] += sizes[line] if code[line] or in_block[line] or between else 0
            out_D2[d, 1] += sizes[line]


@inner
def _density(buffer: Bytes, start: Int, stop: Int, table: Bytes) -> tuple[Int, bool]:
    """Characters of a line, white space not counted, and whether it has marks enough for its bytes."""
    chars, num_bytes, marks, at = np.int64(0), 0, 0, start
    while at < stop:
        end, size = _chunk(buffer, at, stop, table)
        chars += size
        num_bytes += end - at
        marks += _marks(buffer, at, end)
        at = end if end > at else at + decode(buffer, at, stop)[1]
    return chars, marks > 0 and marks * BYTES_PER_MARK >= num_bytes


@inner
def _chunk(buffer: Bytes, at: Int, stop: Int, table: Bytes) -> tuple[Int, Int]:
    """Where the next white space is, and the characters up to it."""
    size = np.int64(0)
    while at < stop:
        point, width = (np.int64(buffer[at]), np.int64(1)) if buffer[at] < 0x80 else decode(buffer, at, stop)
        if table[point] & SPACE:
            break
        size += 1
        at += width
    return at, size


@inner
def _marks(buffer: Bytes, start: Int, stop: Int) -> Int:
    """Marks of code in a text without white space; an address with :// has none."""
    marks, at = np.int64(0), start
    while at < stop:
        byte, end = buffer[at], at + 1
        while end < stop and buffer[end] == byte:
            end += 1
        before = np.int64(buffer[at - 1]) if at > start else 0
        after = np.int64(buffer[end]) if end < stop else 0
        if byte == 58 and after == 47 and end + 1 < stop and buffer[end + 1] == 47:
            return np.int64(0)
        if end - at <= LONGEST_RUN:
            marks += bool(_ALWAYS[byte]) or _is_mark(byte, end - at, before, after)
        at = end
    return marks


@inner
def _is_mark(byte: Int, run: Int, before: Int, after: Int) -> bool:
    """Whether a run of one character, between two others of its word or 0, is a mark for where it stands."""
    behind_name, before_name = bool(_NAME[before]), bool(_NAME[after])
    if byte == 40 or byte == 91:  # ( [ of a call, an index, a text
        return behind_name or before in (41, 93) or after in (34, 39, 41, 93)
    if byte == 95:  # snake_case
        return behind_name and before_name
    if byte == 60:  # a<b, </b, <!b, <?b, <<
        return behind_name or run == 2 or after in (33, 47, 63)
    if byte == 62:  # ->
        return bool(before == 45)
    if byte == 58:  # a::b
        return run == 2 and behind_name and before_name
    return run == 2 and byte in (38, 124)  # && ||


@inner
def _is_comment(buffer: Bytes, start: Int, stop: Int) -> bool:
    """Begins with // or /* or #!."""
    if stop - start < 2:
        return False
    first, second = buffer[start], buffer[start + 1]
    return bool((first == 47 and second in (47, 42)) or (first == 35 and second == 33))


@inner
def _is_statement(buffer: Bytes, start: Int, stop: Int, table: Bytes, keywords: Hashes) -> bool:
    """Few words, no full stop, and the first one is a keyword, behind @ or # perhaps."""
    if start == stop or buffer[stop - 1] == 46:
        return False
    at = start + (buffer[start] == 64 or buffer[start] == 35)
    end = at
    while end < stop and _LETTER[buffer[end]]:
        end += 1
    key = not_zero(fnv1a(buffer, at, end))
    if end == at or keywords[place(keywords, key)] != key:
        return False
    if end < stop and not _AFTER_KEYWORD[buffer[end]]:
        point, _ = decode(buffer, end, stop)
        if not table[point] & SPACE:
            return False
    words, at = 0, start
    while at < stop:
        end, size = _chunk(buffer, at, stop, table)
        words += size > 0
        at = end if size else at + decode(buffer, at, stop)[1]
    return words <= MOST_WORDS


@inner
def _text_edges(buffer: Bytes, start: Int, stop: Int) -> Int:
    r'''Comments and docstrings that a line opens or closes: /* at its begin, */ in it, an odd number of """.'''
    opens = stop - start > 1 and buffer[start] == 47 and buffer[start + 1] == 42
    closes, quotes, at = False, 0, start + 2 * opens
    while at + 1 < stop:
        closes |= buffer[at] == 42 and buffer[at + 1] == 47
        if at + 2 < stop and buffer[at] == 34 and buffer[at + 1] == 34 and buffer[at + 2] == 34:
            quotes += 1
            at += 2
        at += 1
    edges = (COMMENT if opens and not closes else 0) | (COMMENT << CLOSES if closes else 0)
    return edges | (DOCSTRING | DOCSTRING << CLOSES if quotes % 2 else 0)
