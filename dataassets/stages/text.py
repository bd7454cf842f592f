"""One definition of characters, words, lines and sentences, plain and compiled; every stage cuts text here.

A word is a longest run of letters, digits and combining marks; any other character that is no white space is a word
of its own, but three or more dots in a row are one. A sentence ends after its end mark and the punctuation that
follows. `words` and `sentences` are the plain form; `word_spans`, `word_hashes` and `sentence_counts` are the same cuts
over UTF-8 bytes. How text is cut is decided by `_next_word` and its twin `_word_places` alone.

numba keeps a compiled caller as long as the caller's own file is unchanged: after an edit here, delete the
`__pycache__/*.nbi` of modules whose kernels call these.

Shapes: D documents, W words of all of them.
"""

import unicodedata
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias, TypeVar, cast

import numba
import numpy as np
import numpy.typing as npt
import pyarrow as pa

Bytes: TypeAlias = npt.NDArray[np.uint8]
Ints: TypeAlias = npt.NDArray[np.int64]
Hashes: TypeAlias = npt.NDArray[np.uint64]
Int: TypeAlias = Any  # int64 in a kernel, which mypy sees as int here and as np.int64 there
_F = TypeVar("_F", bound=Callable[..., Any])
_A = TypeVar("_A", bound=npt.NDArray[Any])

# Classes of a code point, one bit each.
SPACE, WORD, ALPHA, DIGIT, SYMBOL, TERMINAL, PUNCT, LINE_END = (1 << bit for bit in range(8))

# Sentence-final marks of many scripts (Unicode's Sentence_Terminal, less ten, plus three of Khmer), and the marks
# that make a word a "symbol". Runs of code points, hex.  Source: TERMINAL_PUNCTUATION, PUNCTUATION of datatrove 0.10.1
TERMINAL_MARKS = """
    21 2e 3f 589 61d-61f 6d4 700-702 7f9 837 839 83d-83e 964-965 104a-104b 1362 1367-1368 166e 1735-1736 17d4-17d6
    17d9-17da 1803 1809 1944-1945 1aa8-1aab 1b5a-1b5b 1b5e-1b5f 1b7d-1b7e 1c3b-1c3c 1c7e-1c7f 203c-203d 2047-2049 2e2e
    2e3c 2e53-2e54 3002 a4ff a60e-a60f a6f3 a6f7 a876-a877 a8ce-a8cf a92f a9c8-a9c9 aa5d-aa5f aaf0-aaf1 abeb fe52
    fe56-fe57 ff01 ff0e ff1f ff61 10a56-10a57 10f55-10f59 10f86-10f89 11047-11048 110be-110c1 11141-11143 111c5-111c6
    111cd 111de-111df 11238-11239 1123b-1123c 112a9 1144b-1144c 115c2-115c3 115c9-115d7 11641-11642 1173c-1173e 11944
    11946 11a42-11a43 11a9b-11a9c 11c41-11c42 11ef7-11ef8 11f43-11f44 16a6e-16a6f 16af5 16b37-16b38 16b44 16e98 1bc9f
    1da88"""
OTHER_SYMBOLS = """
    0-8 b-1f 21-2f 3a-40 5b-60 7b-9f ab b4 bb 2013-2014 2019 201c-201e 2026 2236 2501 25ba 3001-3002 3008-300d
    3010-3011 ff01 ff05 ff08-ff09 ff0c ff0e ff11 ff1a-ff1b ff1f ff5e"""
LINE_ENDS = "a-d 1c-1e 85 2028-2029"  # where str.splitlines cuts
CODE_POINTS = 0x110000
_TABLE_SIZE = 0x200000  # whatever four bytes can spell, so that damaged UTF-8 cannot read past the table

FNV_BASIS = np.uint64(0xCBF29CE484222325)  # FNV-1a, 64 bits
FNV_PRIME = np.uint64(0x100000001B3)


def compiled(function: _F) -> _F:
    """`numba.njit(cache=True, nogil=True)` that keeps the function's type for mypy."""
    return cast(_F, numba.njit(cache=True, nogil=True)(function))


class Words(NamedTuple):
    """Where the words of some documents lie in their buffer.

    Args:
        starts: int64 [W], first byte of each word.
        stops: int64 [W], the byte after each.
        first: int64 [D + 1]; the words of document d are those from first[d] up to first[d + 1].
    """

    starts: Ints
    stops: Ints
    first: Ints


def code_points(runs: str) -> list[int]:
    """Code points written as hex runs.

    >>> code_points("61-63 7a")
    [97, 98, 99, 122]
    """
    ends = [run.split("-") for run in runs.split()]
    return [point for run in ends for point in range(int(run[0], 16), int(run[-1], 16) + 1)]


@lru_cache(maxsize=1)
def class_table() -> Bytes:
    """Classes of every code point: uint8 [0x200000], read-only, made once a process (0.3 s) from `unicodedata`.

    >>> bool(class_table()[ord("é")] & ALPHA), bool(class_table()[ord("!")] & WORD)
    (True, False)
    """
    chars = [chr(point) for point in range(CODE_POINTS)]
    category = list(map(unicodedata.category, chars))
    table = np.zeros(_TABLE_SIZE, np.uint8)

    def mark(bit: int, members: Iterable[bool]) -> None:
        table[:CODE_POINTS] |= np.fromiter(members, bool, CODE_POINTS).astype(np.uint8) * np.uint8(bit)

    mark(SPACE, map(str.isspace, chars))
    mark(WORD, map(str.isalnum, chars))
    mark(WORD, (c in ("Mn", "Mc") for c in category))
    mark(ALPHA, map(str.isalpha, chars))
    mark(DIGIT, map(str.isdecimal, chars))
    mark(PUNCT, (c[0] == "P" for c in category))
    table[code_points(TERMINAL_MARKS)] |= TERMINAL | SYMBOL
    table[code_points(OTHER_SYMBOLS)] |= SYMBOL
    table[code_points(LINE_ENDS)] |= LINE_END
    return frozen(table)


def utf8_buffers(array: pa.Array | pa.ChunkedArray) -> tuple[Bytes, Ints]:
    """The bytes of a column of strings and where each document lies in them, without a copy where it is one chunk.

    Args:
        array: large_string or string, no nulls; several chunks are joined.

    Returns:
        uint8 buffer and int64 [D + 1] offsets, both read-only; document d is buffer[offsets[d]:offsets[d + 1]].

    >>> buffer, offsets = utf8_buffers(pa.array(["ab", "", "c"], pa.large_string()).slice(1))
    >>> offsets.tolist(), bytes(buffer[offsets[1]:offsets[2]])
    ([2, 2, 3], b'c')
    """
    if isinstance(array, pa.ChunkedArray):
        array = array.chunk(0) if array.num_chunks == 1 else array.combine_chunks()
    if isinstance(array, pa.ChunkedArray):  # older pyarrow: combining no chunks, or too many, gives chunks
        array = pa.concat_arrays(array.chunks) if array.num_chunks else pa.array([], pa.large_string())
    if not pa.types.is_large_string(array.type):
        array = array.cast(pa.large_string())
    assert array.null_count == 0, "a column of texts has no nulls"
    _, offsets, data = array.buffers()
    return _view(data, np.uint8), _view(offsets, np.int64)[array.offset : array.offset + len(array) + 1]


def frozen(array: _A) -> _A:
    """The same array, read-only, as kernels take every input: numba compiles once for each kind."""
    array.flags.writeable = False
    return array


def _view(buffer: pa.Buffer | None, dtype: type) -> npt.NDArray[Any]:
    """A read-only array over an Arrow buffer; an empty column may have none, its one offset is 0."""
    if buffer is not None and buffer.size:
        return frozen(np.frombuffer(buffer, dtype))
    return frozen(np.zeros(1, dtype))


def words(text: str) -> list[str]:
    """The words of a text, in order: the plain form of the compiled cuts.

    >>> words("It's 3.14… e-mail me!... naïve")
    ['It', "'", 's', '3', '.', '14', '…', 'e', '-', 'mail', 'me', '!', '...', 'naïve']
    """
    return [text[start:stop] for start, stop in _word_places(text)]


def sentences(text: str) -> list[str]:
    """The sentences of a text, in order; joined they are the text, white space goes to the sentence that follows it.

    An end mark of ASCII ends a sentence where white space follows it and the punctuation next to it (so not in 3.14),
    those of other scripts always; the sentence goes on through all punctuation that follows.

    >>> sentences('He said "3.14." Then... he left!')
    ['He said "3.14."', ' Then... he left!']
    """
    places = list(_word_places(text))
    cuts, seen = [0], False
    for i, (start, stop) in enumerate(places):
        mark, punct = _is_mark(text[start:stop]), _is_punct(text[start:stop])
        if seen and not punct:
            cuts.append(places[i - 1][1])
            seen = False
        elif mark:
            seen = seen or not text[start].isascii() or _space_after_run(text, places, i)
    return [text[a:b] for a, b in zip(cuts, [*cuts[1:], len(text)], strict=True) if text]


def _word_places(text: str) -> Iterator[tuple[int, int]]:
    """Start and end of each word, code points; the twin of `_next_word`."""
    at = 0
    while at < len(text):
        end = at + 1
        if _is_word(text[at]):
            while end < len(text) and _is_word(text[end]):
                end += 1
        elif text.startswith("...", at):
            while text.startswith(".", end):
                end += 1
        if not text[at].isspace():
            yield at, end
        at = end


def _is_word(char: str) -> bool:
    return char.isalnum() or unicodedata.category(char) in ("Mn", "Mc")


def _is_punct(word: str) -> bool:
    return _is_mark(word) or all(unicodedata.category(char)[0] == "P" for char in word)


def _is_mark(word: str) -> bool:
    return len(word) == 1 and bool(class_table()[ord(word)] & TERMINAL)


def _space_after_run(text: str, places: list[tuple[int, int]], i: int) -> bool:
    """Whether white space, or nothing, follows a word and the punctuation that touches it."""
    end = places[i][1]
    for start, stop in places[i + 1 :]:
        if start != end or not _is_punct(text[start:stop]):
            return start != end
        end = stop
    return True


@compiled
def decode(buffer: Bytes, at: Int, stop: Int) -> tuple[Int, Int]:
    """The code point at a byte of UTF-8 and its width in bytes; a character cut short by `stop` reads as U+FFFD."""
    lead = np.int64(buffer[at])
    if lead < 0x80:
        return lead, np.int64(1)
    if lead < 0xE0:
        point, width = lead & 0x1F, np.int64(2)
    elif lead < 0xF0:
        point, width = lead & 0x0F, np.int64(3)
    else:
        point, width = lead & 0x07, np.int64(4)
    if at + width > stop:
        return np.int64(0xFFFD), stop - at
    for k in range(1, width):
        point = (point << 6) | (np.int64(buffer[at + k]) & 0x3F)
    return point, width


@compiled
def _next_word(buffer: Bytes, at: Int, stop: Int, table: Bytes) -> tuple[Int, Int]:
    """Start and end, in bytes, of the first word at or after a byte; both are `stop` where there is none."""
    while at < stop:
        point, width = decode(buffer, at, stop)
        kind, end = table[point], at + width
        if kind & WORD:
            while end < stop:
                byte = buffer[end]
                if byte >= 0x80:
                    point, width = decode(buffer, end, stop)
                    if not table[point] & WORD:
                        break
                    end += width
                elif table[byte] & WORD:
                    end += 1
                else:
                    break
            return at, end
        if point == 46:
            run = end
            while run < stop and buffer[run] == 46:
                run += 1
            return at, run if run - at >= 3 else end
        if not kind & SPACE:
            return at, end
        at = end
    return stop, stop


@compiled
def word_hashes(buffer: Bytes, start: Int, stop: Int, table: Bytes, out_hashes: Hashes) -> int:
    """Hash each word of one document; for use inside other kernels.

    Args:
        buffer: uint8 [bytes], UTF-8.
        start: first byte of the document.
        stop: the byte after it.
        table: `class_table()`.
        out_hashes: uint64, filled with the FNV-1a of each word's bytes; stop - start places are always enough.

    Returns:
        The number of words.
    """
    num_words = 0
    at, end = _next_word(buffer, start, stop, table)
    while at < end:
        out_hashes[num_words] = fnv1a(buffer, at, end)
        num_words += 1
        at, end = _next_word(buffer, end, stop, table)
    return num_words


@compiled
def fnv1a(buffer: Bytes, start: Int, stop: Int) -> np.uint64:
    """FNV-1a of some bytes.  Source: Fowler, Noll, Vo; RFC 9923."""
    h = FNV_BASIS
    for at in range(start, stop):
        h = (h ^ np.uint64(buffer[at])) * FNV_PRIME
    return h


def word_spans(buffer: Bytes, offsets: Ints) -> Words:
    """Where the words of some documents lie.

    Args:
        buffer: uint8 [bytes], UTF-8, as `utf8_buffers` gives it.
        offsets: int64 [D + 1]; document d is buffer[offsets[d]:offsets[d + 1]].

    >>> buffer, offsets = utf8_buffers(pa.array(["Hi, you", ""], pa.large_string()))
    >>> [x.tolist() for x in word_spans(buffer, offsets)]
    [[0, 2, 4], [2, 3, 7], [0, 3, 3]]
    """
    first = np.zeros(len(offsets), np.int64)
    np.cumsum(word_counts(buffer, offsets), out=first[1:])
    starts, stops = np.empty(first[-1], np.int64), np.empty(first[-1], np.int64)
    _fill_words(buffer, offsets, class_table(), first, starts, stops)
    return Words(starts, stops, first)


def word_counts(buffer: Bytes, offsets: Ints) -> Ints:
    """Number of words in each of some documents: int64 [D]; arguments as of `word_spans`.

    >>> word_counts(*utf8_buffers(pa.array(["Hi, you", ""], pa.large_string()))).tolist()
    [3, 0]
    """
    counts = np.zeros(len(offsets) - 1, np.int64)
    _count_words(buffer, offsets, class_table(), counts)
    return counts


@compiled
def _count_words(buffer: Bytes, offsets: Ints, table: Bytes, out: Ints) -> None:
    for d in range(len(offsets) - 1):
        num, stop = 0, offsets[d + 1]
        at, end = _next_word(buffer, offsets[d], stop, table)
        while at < end:
            num += 1
            at, end = _next_word(buffer, end, stop, table)
        out[d] = num


@compiled
def _fill_words(buffer: Bytes, offsets: Ints, table: Bytes, first: Ints, starts: Ints, stops: Ints) -> None:
    for d in range(len(offsets) - 1):
        end = offsets[d]
        for w in range(first[d], first[d + 1]):
            at, end = _next_word(buffer, end, offsets[d + 1], table)
            starts[w], stops[w] = at, end


def sentence_counts(buffer: Bytes, starts: Ints, stops: Ints) -> Ints:
    """Number of sentences, as `sentences` cuts them, in each of some texts.

    Args:
        buffer: uint8 [bytes], UTF-8.
        starts: int64 [T], first byte of each text.
        stops: int64 [T], the byte after each.

    Returns:
        int64 [T].

    >>> buffer, offsets = utf8_buffers(pa.array(["Hi. You!", "", "a"], pa.large_string()))
    >>> sentence_counts(buffer, offsets[:-1], offsets[1:]).tolist()
    [2, 0, 1]
    """
    counts = np.zeros(len(starts), np.int64)
    _count_sentences(buffer, starts, stops, class_table(), counts)
    return counts


@compiled
def _count_sentences(buffer: Bytes, starts: Ints, stops: Ints, table: Bytes, out: Ints) -> None:
    for t in range(len(starts)):
        if starts[t] == stops[t]:
            continue
        out[t] = 1
        ended, waiting, last = False, False, starts[t]  # waiting: an ASCII mark whose run of punctuation goes on
        at, end = _next_word(buffer, starts[t], stops[t], table)
        while at < end:
            point, width = decode(buffer, at, end)
            kind = table[point]
            punct = kind & (PUNCT | TERMINAL) != 0
            if waiting and at > last:
                ended, waiting = True, False
            if not punct:
                out[t] += ended
                ended, waiting = False, False
            elif kind & TERMINAL and end - at == width:
                waiting = waiting or point < 0x80
                ended = ended or point >= 0x80
            last = end
            at, end = _next_word(buffer, end, stops[t], table)
