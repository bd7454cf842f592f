"""Plots small enough that Dagster draws them in place: it folds Markdown of 1,000 characters and more behind a click.

Only a path of bars and plain labels fit; the full drawings are in `plots`.
"""

import base64
from collections.abc import Sequence
from xml.sax.saxutils import escape

from dataassets.defs.plots import human
from dataassets.report import Histogram

LIMIT = 999  # characters of Markdown that Dagster 1.13 still draws in place
ROWS = 8  # bars
_LONGEST, _ROW = 160, 15
_HEIGHT, _BIN = 60, 8


def bars(steps: Sequence[tuple[str, float]]) -> str:
    """Horizontal bars with name and amount.

    Args:
        steps: names and amounts (0 or more); those beyond the eighth are left to the full drawing.

    Returns:
        A Markdown image of at most LIMIT characters; "" where there is nothing to draw.

    >>> bars([("raw", 10), ("filtered", 4)]).startswith("![plot](data:image/svg+xml;base64,")
    True
    """
    most = max((x for _, x in steps), default=0)
    for num_rows in range(min(len(steps), ROWS), 0, -1):
        rows = steps[:num_rows] if most else []
        path = "".join(f"M0 {_ROW * i + 7}h{round(x / most * _LONGEST)}" for i, (_, x) in enumerate(rows))
        labels = "".join(
            f"<text x='{_LONGEST + 6}' y='{_ROW * i + 11}'>{human(x)} {escape(name[:28])}</text>"
            for i, (name, x) in enumerate(rows)
        )
        stroke = f"<path d='{path}' stroke='#4a6fd8' stroke-width='10'/>"
        drawn = _image(stroke + labels, width=_LONGEST + 190, height=_ROW * num_rows)
        if rows and len(drawn) <= LIMIT:
            return drawn
    return ""


def skyline(name: str, h: Histogram) -> str:
    """One histogram: bins equally wide, its first and last edge, the largest count.

    Args:
        name: of the quantity.
        h: counts.

    Returns:
        A Markdown image of at most LIMIT characters; "" where nothing was counted.
    """
    most = max(h.counts, default=0)
    if not most:
        return ""
    tops = [round(n / most * _HEIGHT) for n in h.counts]
    path = f"M0 {_HEIGHT}" + "".join(f"V{_HEIGHT - top}h{_BIN}" for top in tops) + f"V{_HEIGHT}z"
    told = f"{name}: {human(h.edges[0])} to {human(h.edges[-1])}, at most {human(most)} a bin"
    width = max(_BIN * len(tops), 6 * len(told))  # a character is about 6 wide
    body = f"<path d='{path}' fill='#4a6fd8'/><text y='{_HEIGHT + 13}'>{escape(told)}</text>"
    drawn = _image(body, width=width, height=_HEIGHT + 18)
    return drawn if len(drawn) <= LIMIT else ""


def _image(body: str, *, width: int, height: int) -> str:
    head = f"<svg xmlns='http://www.w3.org/2000/svg' width='{width}' height='{height}' font-size='11' fill='#777' "
    svg = f"{head}font-family='sans-serif'>{body}</svg>"
    return f"![plot](data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()})"
