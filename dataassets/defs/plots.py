"""Small SVG drawings for Dagster's metadata: they show inline, need no library and no script, and stay below 20 kB.

Each brings its own light panel, so it reads the same on the UI's light and dark themes.
All lengths are in pixels of a drawing 640 wide; x grows to the right, y downwards.
"""

import base64
from collections.abc import Iterable, Mapping, Sequence
from html import escape

from dataassets.report import Histogram

WIDTH = 640
_PAD = 16
_HEAD = 44  # below it starts the drawing
_ROW = 24
_FONT = "system-ui,-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif"
_INK, _FAINT, _RULE, _BAR, _PALE, _MARK = "#1f2933", "#5f6c7b", "#dfe4ea", "#4c6fd6", "#b9c7ee", "#c2410c"
_MOST_ROWS = 20
_MOST_LIMITS = 6  # of a histogram; of more, the first and the last are drawn: every language may have its own
_MOST_CHARS = 44  # of a label
_CHAR = 6.6  # width of a mean character at 12 px; system fonts differ, so columns leave room


def data_uri(svg: str) -> str:
    """An SVG as a data URI, for `dg.MetadataValue.md(f"![funnel]({data_uri(svg)})")`.

    >>> data_uri("<svg/>")
    'data:image/svg+xml;base64,PHN2Zy8+'
    """
    return "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode()


def human(x: float) -> str:
    """A number for people: whole up to 9,999, then three digits and a unit; small fractions with three digits.

    >>> [human(x) for x in (0, 9_999, 12_345, 999_999, 3.2e9, 0.65432, 12.0)]
    ['0', '9,999', '12.3 k', '1 M', '3.2 G', '0.654', '12']
    """
    if abs(x) < 9_999.5:
        return f"{x:,.0f}" if x == int(x) or abs(x) >= 1_000 else f"{x:.3g}"
    x = float(f"{x:.3g}")
    power = min((len(f"{abs(x):.0f}") - 1) // 3, 4)
    return f"{x / 1000**power:.3g} {' kMGT'[power]}"


def share(part: float, whole: float) -> str:
    """A part as percent of a whole: one decimal where that says more, a dash where there is no whole.

    >>> [share(1, 1), share(1, 3), share(1, 99_999), share(0, 5), share(1, 0)]
    ['100 %', '33.3 %', '<0.1 %', '0 %', '–']
    """
    if not whole:
        return "–"
    percent = 100 * part / whole
    if 0 < percent < 0.05:
        return "<0.1 %"
    return f"{percent:.1f}".removesuffix(".0") + " %" if percent < 99.95 or part == whole else f"{percent:.0f} %"


def funnel(steps: Sequence[tuple[str, int]], *, title: str, unit: str = "documents", marked: str | None = None) -> str:
    """What is left after each step: bars with counts, and shares of the first and of the previous step.

    Args:
        steps: names and counts, in the order of the road.
        title: heading.
        unit: what is counted.
        marked: name of a step to stand out.

    Returns:
        SVG text.

    >>> funnel([("raw", 10), ("filtered", 4)], title="web").count("40 %")
    2
    """
    if not steps or not any(count for _, count in steps):
        return _empty(title, unit)
    label_end, columns = _label_end(name for name, _ in steps), (486, 556, WIDTH - _PAD)
    most, longest = max(count for _, count in steps), columns[0] - 60 - label_end
    out = _headings((unit, "of first", "of previous"), columns)
    for at, (name, count) in enumerate(steps):
        y, before = _HEAD + 18 + at * _ROW, steps[at - 1][1] if at else 0
        cells = (human(count), share(count, steps[0][1]), share(count, before) if at else "")
        bar = (count / most * longest, _MARK if name == marked else _BAR)
        out += _row(name, y, [bar], label_end, zip(columns, cells, strict=True))
    return _panel(title, _HEAD + 18 + len(steps) * _ROW, out)


def bars(items: Sequence[tuple[str, float]], *, title: str, unit: str) -> str:
    """Amounts by name, with their share of the sum; beyond 20 rows the rest is added up in one.

    Args:
        items: names and amounts (0 or more), in the order to be drawn.
        title: heading.
        unit: of the amounts.

    Returns:
        SVG text.
    """
    if not any(x for _, x in items):
        return _empty(title, unit)
    rows = list(items[:_MOST_ROWS])
    if rest := items[_MOST_ROWS:]:
        rows.append((f"{len(rest)} more", sum(x for _, x in rest)))
    label_end, columns = _label_end(name for name, _ in rows), (556, WIDTH - _PAD)
    total, most, longest = sum(x for _, x in rows), max(x for _, x in rows), columns[0] - 60 - label_end
    out = _headings((unit, "share"), columns)
    for at, (name, x) in enumerate(rows):
        cells = zip(columns, (human(x), share(x, total)), strict=True)
        out += _row(name, _HEAD + 18 + at * _ROW, [(x / most * longest, _BAR)], label_end, cells)
    return _panel(title, _HEAD + 18 + len(rows) * _ROW, out)


def paired_bars(
    items: Sequence[tuple[str, float, float]],
    *,
    labels: tuple[str, str] = ("asked", "achieved"),
    title: str,
    unit: str,
) -> str:
    """Two amounts for each name, one above the other, and the second as a share of the first.

    Args:
        items: names with both amounts (0 or more).
        labels: what the two amounts are.
        title: heading.
        unit: of the amounts.

    Returns:
        SVG text.
    """
    if not any(a or b for _, a, b in items):
        return _empty(title, unit)
    label_end, columns = _label_end(name for name, _, _ in items), (486, 566, WIDTH - _PAD)
    most, longest = max(max(a, b) for _, a, b in items), columns[0] - 60 - label_end
    out = [_rect(label_end, _HEAD + 1, 9, 9, _PALE), _rect(label_end + 9, _HEAD + 1, 9, 9, _BAR)]
    out.append(_text(label_end + 24, _HEAD + 10, f"{labels[0]}, {labels[1]} ({unit})", size=11, fill=_FAINT))
    out += _headings((*labels, "ratio"), columns)
    for at, (name, a, b) in enumerate(items):
        cells = zip(columns, (human(a), human(b), share(b, a)), strict=True)
        lengths = [(a / most * longest, _PALE), (b / most * longest, _BAR)]
        out += _row(name, _HEAD + 18 + at * _ROW, lengths, label_end, cells)
    return _panel(title, _HEAD + 18 + len(items) * _ROW, out)


def histogram(h: Histogram, *, title: str, unit: str) -> str:
    """Counts of a quantity, bins drawn equally wide, and thresholds as lines with their values.

    Args:
        h: bins and counts.
        title: heading.
        unit: of the quantity on the axis.

    Returns:
        SVG text.
    """
    if not any(h.counts):
        return _empty(title, "documents")
    top, height, width = _HEAD + 22, 120.0, WIDTH - 2.0 * _PAD
    base = top + height
    note = f"{human(sum(h.counts))} documents, most in a bin {human(max(h.counts))}"
    out = [_text(WIDTH - _PAD, 26, note, anchor="end", size=11, fill=_FAINT)]
    out += [f'<path class="bars" d="{_skyline(h.counts, _PAD, base, width, height, most=80)}" fill="{_BAR}"/>']
    out.append(f'<path d="M{_PAD} {base:g}H{WIDTH - _PAD}" stroke="{_FAINT}"/>')
    bins = len(h.counts)
    for at in _ticks(bins):
        anchor = "start" if at == 0 else "end" if at == bins else "middle"
        x = _PAD + width * at / bins
        out.append(_text(x, base + 16, human(h.edges[at]), anchor=anchor, size=11, fill=_FAINT))
    out.append(_text(WIDTH / 2, base + 34, unit, anchor="middle", size=11, fill=_FAINT))
    out += _thresholds(h, _PAD, top, width, height, size=11)
    return _panel(title, base + 32, out)


def small_multiples(histograms: Mapping[str, Histogram], *, title: str) -> str:
    """Many small histograms, three in a row, with thresholds; those without documents say so. One is drawn big.

    Args:
        histograms: by name of the quantity, in the order to be drawn.
        title: heading.

    Returns:
        SVG text.
    """
    if not histograms:
        return _empty(title, "quantities")
    if len(histograms) == 1:
        return histogram(next(iter(histograms.values())), title=title, unit=next(iter(histograms)))
    width, height, step = 190.0, 40.0, 96
    out: list[str] = []
    for at, (name, h) in enumerate(histograms.items()):
        x, top = _PAD + (at % 3) * (width + 19), float(_HEAD + (at // 3) * step)
        out.append(_text(x, top + 10, _cut(name, 29), size=12))
        if not any(h.counts):
            out.append(_text(x, top + 40, "no documents", size=11, fill=_FAINT))
            continue
        base = top + 30 + height
        out.append(f'<path d="{_skyline(h.counts, x, base, width, height, most=24)}" fill="{_BAR}"/>')
        out.append(f'<path d="M{x:g} {base:g}h{width:g}" stroke="{_FAINT}"/>')
        bins = len(h.counts)
        out.append(f'<g fill="{_FAINT}" font-size="10">')
        for edge, anchor in ((0, "start"), (bins // 2, "middle"), (bins, "end"))[:: 1 if bins > 1 else 2]:
            out.append(_text(x + width * edge / bins, base + 12, human(h.edges[edge]), anchor=anchor))
        out.append("</g>")
        out += _thresholds(h, x, top + 30, width, height, size=10)
    return _panel(title, _HEAD + step * -(-len(histograms) // 3) - 8, out)


def _ticks(bins: int) -> list[int]:
    """Edges to label, at most 11: evenly apart where the number of bins has a divisor for it."""
    step = next(s for s in range(-(-bins // 10), bins + 1) if bins % s == 0)
    if bins >= 4 * step or bins <= 3:
        return list(range(0, bins + 1, step))
    return sorted({round(k * bins / min(bins, 8)) for k in range(min(bins, 8) + 1)})


def _thresholds(h: Histogram, x: float, top: float, width: float, height: float, *, size: int) -> list[str]:
    """A line for each limit, the first and the last where there are many; one label beside the first line."""
    if not h.limits:
        return []
    drawn = h.limits if len(h.limits) <= _MOST_LIMITS else (h.limits[0], h.limits[-1])
    at_L = [x + width * _position(h.edges, limit) for limit in drawn]
    tops = [top - size, *(top for _ in at_L[1:])]  # the label lies beside the first line and above the others
    path = "".join(f"M{at:.1f} {high:g}V{top + height:g}" for at, high in zip(at_L, tops, strict=True))
    told = f"limit{'s' if len(at_L) > 1 else ''} {' and '.join(map(human, drawn))}"
    if len(h.limits) > 2:
        told = f"{len(h.limits)} limits, {human(drawn[0])} to {human(drawn[-1])}"
    flip = at_L[0] + 4 + len(told) * _CHAR * size / 12 > x + width
    label = _text(
        at_L[0] + (-4 if flip else 4), top - 2, told, anchor="end" if flip else "start", size=size, fill=_MARK
    )
    return [f'<path class="limit" d="{path}" stroke="{_MARK}" stroke-width="1.5"/>', label]


def _position(edges: Sequence[float], value: float) -> float:
    """Where a value lies on an axis of equally wide bins, 0 to 1; values outside lie at the ends."""
    bins = len(edges) - 1
    for at in range(bins):
        if value < edges[at + 1]:
            return max(0.0, at + (value - edges[at]) / (edges[at + 1] - edges[at])) / bins
    return 1.0


def _skyline(counts: Sequence[int], x: float, base: float, width: float, height: float, *, most: int) -> str:
    """Outline of the bars, at most `most` of them (neighbours are added up); none that holds anything is invisible."""
    step, merge = width / len(counts), -(-len(counts) // most)
    merged = [sum(counts[at : at + merge]) for at in range(0, len(counts), merge)]
    path, at_x, at_tall = f"M{x:g} {base:g}", 0.0, 0.0
    for at, count in enumerate(merged):
        tall = round(max(1.0, height * count / max(merged)), 1) if count else 0.0
        end = round(step * min((at + 1) * merge, len(counts)), 1)
        path += f"v{at_tall - tall:.4g}h{end - at_x:.4g}"
        at_x, at_tall = end, tall
    return f"{path}V{base:g}z"


def _row(
    name: str, y: float, lengths: Sequence[tuple[float, str]], label_end: float, cells: Iterable[tuple[float, str]]
) -> list[str]:
    """A label, its bars one above the other, and cells of text that end at their columns."""
    out, thick = [_text(label_end - 8, y + 15, _cut(name, _MOST_CHARS), anchor="end")], 14 / len(lengths)
    for at, (length, fill) in enumerate(lengths):
        if length > 0:
            out.append(_rect(label_end, y + 4 + at * (thick + 1), max(length, 1), thick, fill))
    return out + [_text(x, y + 15, cell, anchor="end") for x, cell in cells if cell]


def _headings(names: Sequence[str], columns: Sequence[float]) -> list[str]:
    return [
        _text(x, _HEAD + 10, name, anchor="end", size=11, fill=_FAINT) for x, name in zip(columns, names, strict=True)
    ]


def _label_end(names: Iterable[str]) -> float:
    return _PAD + 8 + min(290.0, max(len(_cut(name, _MOST_CHARS)) for name in names) * _CHAR)


def _empty(title: str, unit: str) -> str:
    return _panel(title, _HEAD + 20, [_text(_PAD, _HEAD + 12, f"no {unit}", fill=_FAINT)])


def _panel(title: str, height: float, body: Iterable[str]) -> str:
    height = round(height + _PAD)
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
            f'viewBox="0 0 {WIDTH} {height}" role="img" fill="{_INK}" font-family="{_FONT}" font-size="12">',
            f"<title>{_safe(title)}</title>",
            f'<rect x=".5" y=".5" width="{WIDTH - 1}" height="{height - 1}" rx="8" fill="#fff" stroke="{_RULE}"/>',
            _text(_PAD, 26, _cut(title, 70), size=14, weight=600),
            *body,
            "</svg>",
        ]
    )


def _rect(x: float, y: float, width: float, height: float, fill: str) -> str:
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.2f}" height="{height:.1f}" fill="{fill}"/>'


def _text(
    x: float, y: float, told: str, *, anchor: str = "start", size: int = 12, fill: str = _INK, weight: int = 400
) -> str:
    more = "" if anchor == "start" else f' text-anchor="{anchor}"'
    more += "" if fill == _INK else f' fill="{fill}"'
    more += "" if size == 12 else f' font-size="{size}"'
    more += "" if weight == 400 else f' font-weight="{weight}"'
    return f'<text x="{x:.6g}" y="{y:.6g}"{more}>{_safe(told)}</text>'


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _safe(text: str) -> str:
    """Escaped, without the characters that XML cannot hold."""
    return escape("".join(c for c in text if c.isprintable()))
