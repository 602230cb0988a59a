"""How figures look: one colour-blind safe palette, one way to write units, SVG that follows light and dark.

Colours are those of Okabe and Ito (2008); every series also has its own marker or dash, so that no figure
needs colour to be read. Ink, paper and grid are three fixed colours that :func:`save_svg` maps to dark ones
by a style sheet inside the SVG (``prefers-color-scheme``); other programs show the light version.
"""

from __future__ import annotations

import io
import re
import textwrap
from itertools import pairwise
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.artist import Artist
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.text import Annotation
from matplotlib.textpath import text_to_path
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from tessera.core.files import write_text
from tessera.core.units import percent_text

INK, MUTED, GRID, PAPER = "#1d2129", "#5b6471", "#dde1e7", "#fefefe"
DARK = {INK: "#e9ecf1", MUTED: "#a4adba", GRID: "#323946", PAPER: "#181c23"}

BLUE, SKY, GREEN, ORANGE = "#0072b2", "#56b4e9", "#009e73", "#e69f00"
VERMILLION, PURPLE, YELLOW, GREY = "#d55e00", "#cc79a7", "#f0e442", "#8d96a3"

#: of a figure with one column of panels, in inches: at 390 pixels its text is still about 10 pixels high
WIDTH = 5.6
#: characters of a line of small text above a panel of that width
_LINE = 74
#: points that a legend needs beside its words: the mark, and the space between columns
_LEGEND_MARK = 30
_LEGEND_SIZE = 8.5
#: points that stay free at both sides of a figure
_MARGIN = 6

_RC: dict[Any, Any] = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9.5,
    "svg.fonttype": "none",
    "svg.hashsalt": "tessera",
    "figure.facecolor": PAPER,
    "axes.facecolor": PAPER,
    "savefig.facecolor": PAPER,
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "axes.titlesize": 9.5,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": GRID,
    "grid.linewidth": 0.7,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "text.color": INK,
    "legend.frameon": False,
    "legend.fontsize": 8.5,
    "legend.labelcolor": INK,
    "lines.linewidth": 1.8,
    "patch.linewidth": 0.6,
}
_FONT_STACK = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"


def context():
    """Tessera's matplotlib settings; `render` draws inside it, a notebook may."""
    return matplotlib.rc_context(_RC)


def panels(rows: int = 1, columns: int = 1, *, width: float = 7.6, height: float = 3.6, **options):
    """A figure with its axes in Tessera's style; without pyplot, so no window and no global state."""
    with context():
        figure = Figure(figsize=(width, height), layout="constrained")
        return figure, figure.subplots(rows, columns, **options)


def empty_figure(*, width: float, height: float) -> Figure:
    """An empty figure in Tessera's style, for nested panels."""
    with context():
        return Figure(figsize=(width, height), layout="constrained")


def headline(figure: Figure, title: str, provenance: str) -> None:
    """Title of a figure in bold; below it whether it is simulated, measured or published."""
    room = figure.get_figwidth() * 72 - 2 * _MARGIN
    with context():
        text = _fitted(title, room, 11, bold=True)
        # The empty last line of the title keeps the place of the provenance free.
        above = figure.suptitle(f"{text}\n ", x=0.01, ha="left", fontsize=11, fontweight="bold")
        below = Annotation(provenance, (0, 0), xycoords=above, fontsize=9, color=MUTED, va="bottom")
        below.set_in_layout(False)
        figure.add_artist(below)


def wrapped(*lines: str) -> str:
    """Each of ``lines`` broken to the width of a panel."""
    return "\n".join(part for line in lines for part in textwrap.wrap(line, _LINE) or [""])


def legend_below(figure: Figure, all_axes, columns: int = 3) -> None:
    """One legend under the panels, each label once, in at most so many columns as the figure is wide."""
    found: dict[str, Artist] = {}
    for axes in all_axes:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    legend_of(figure, list(found.values()), list(found), columns)


def legend_of(figure: Figure, handles: list, labels: list[str], columns: int = 3) -> None:
    """The legend of :func:`legend_below` from its marks and words."""
    if not labels:
        return
    room = figure.get_figwidth() * 72 - 2 * _MARGIN
    widths = [_LEGEND_MARK + text_width(label, _LEGEND_SIZE) for label in labels]
    columns = next(n for n in range(min(columns, len(labels)), 0, -1) if n == 1 or _filled(widths, n) <= room)
    words = [_fitted(label, room - _LEGEND_MARK, _LEGEND_SIZE) for label in labels]
    with context():
        figure.legend(handles, words, loc="outside lower center", ncols=columns, columnspacing=1.2)


def _filled(widths: list[float], columns: int) -> float:
    """Width of a legend: its columns are filled one after the other, the first ones with one more."""
    each, more = divmod(len(widths), columns)
    ends = [each * n + min(n, more) for n in range(columns + 1)]
    return sum(max(widths[low:high]) for low, high in pairwise(ends))


def text_width(text: str, size: float, *, bold: bool = False) -> float:
    """Points that the longest line of ``text`` is wide at a font size of ``size`` points."""
    font = FontProperties(family="DejaVu Sans", size=size, weight="bold" if bold else "normal")
    lines = text.split("\n")
    return max(text_to_path.get_text_width_height_descent(line, font, False)[0] for line in lines)


def _fitted(text: str, room: float, size: float, *, bold: bool = False) -> str:
    """``text`` with line breaks, so that no line is wider than ``room`` points (but for a longer word)."""
    lines = []
    for line in text.split("\n"):
        characters = len(line)
        while characters > 1 and (found := textwrap.wrap(line, characters, break_long_words=False)):
            if all(text_width(part, size, bold=bold) <= room or " " not in part for part in found):
                line = "\n".join(found)
                break
            characters -= 1
        lines.append(line)
    return "\n".join(lines)


def log_axis(axis) -> None:
    """A logarithmic axis (after its points are drawn) with ticks in plain numbers that have room.

    Over less than two decades 1, 2 and 5 are ticks, else powers of ten. Call :func:`percent_axis`
    afterwards for percentages.
    """
    low, high = sorted(axis.get_view_interval())
    subs = (1, 2, 5) if low > 0 and high / low < 100 else (1,)
    axis.set_major_locator(LogLocator(subs=subs, numticks=9))
    axis.set_major_formatter(FuncFormatter(lambda value, _position: plain_number(value)))
    axis.set_minor_formatter(NullFormatter())


def plain_number(value: float) -> str:
    """``0.02``, ``500``, ``20k``, ``3M``: a tick of a logarithmic axis without an exponent."""
    for unit, word in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if abs(value) >= unit:
            return f"{value / (1e3 if word == 'k' else unit):g}{word}"
    return f"{value:.12f}".rstrip("0").rstrip(".") if 0 < abs(value) < 1e-3 else f"{value:g}"


def percent_axis(axis, *, digits: int | None = None) -> None:
    """Ticks of a fraction axis as percentages (log axes too)."""

    def write(value, _position):
        text = f"{100 * value:.6g}%" if digits is None else percent_text(value, digits)
        return text.replace("-", "\u2212")

    axis.set_major_formatter(FuncFormatter(write))
    axis.set_minor_formatter(NullFormatter())


def count_unit(largest: float) -> tuple[float, str]:
    """Divisor and word for counts up to ``largest``: billions where that reads well."""
    if not largest or largest >= 5e8:
        return 1e9, "billions"
    return (1e6, "millions") if largest >= 5e5 else (1e3, "thousands")


def save_svg(figure: Figure, path: Path, *, title: str, description: str) -> None:
    """Write the text of :func:`svg_text`."""
    write_text(path, svg_text(figure, title=title, description=description))


def svg_text(figure: Figure, *, title: str, description: str) -> str:
    """An SVG, the same bytes for the same input, readable on dark pages and by screen readers."""
    buffer = io.StringIO()
    with context():
        # savefig would draw everything once more without output first; figure.draw lays out by itself.
        canvas = FigureCanvasSVG(figure)
        canvas.print_svg(buffer, metadata={"Date": None, "Creator": "Tessera"})
        if _break_long_labels(figure):
            buffer.seek(0), buffer.truncate()
            canvas.print_svg(buffer, metadata={"Date": None, "Creator": "Tessera"})
    text = re.sub(r"font: ([^;\"]*?)'DejaVu Sans'[^;\"]*", rf"font: \1{_FONT_STACK}", buffer.getvalue())
    head = f"<title>{_escape(title)}</title>\n<desc>{_escape(description)}</desc>\n{_dark_sheet()}"
    return re.sub(r"(<svg\b[^>]*>)", lambda m: f"{m.group(1)}\n{head}", text, count=1)


def _break_long_labels(figure: Figure) -> bool:
    """Whether a label of an axis was longer than its place in the drawn figure; it has line breaks now."""
    changed = False
    width, height = (72 * side for side in figure.get_size_inches())
    for axes in figure.get_axes():
        left, low, right, high = (edge * 72 / figure.dpi for edge in axes.get_window_extent().extents)
        places = (
            (axes.xaxis.label, 2 * min((left + right) / 2, width - (left + right) / 2)),
            (axes.yaxis.label, 2 * min((low + high) / 2, height - (low + high) / 2)),
        )
        for label, room in places:
            text, size = label.get_text(), float(label.get_fontsize())
            if label.get_visible() and text_width(text, size) > room - 2 * _MARGIN:
                label.set_text(_fitted(text, room - 2 * _MARGIN, size))
                changed |= label.get_text() != text
    return changed


def _dark_sheet() -> str:
    """Rules that swap the four neutral colours where the reader prefers dark."""
    rules = [
        f'[style*="{prop}: {light}"]{{{prop}:{dark}!important}}'
        for light, dark in DARK.items()
        for prop in ("fill", "stroke")
    ]
    # Text without a fill of its own is black by default.
    rules.append(f"text:not([style*='fill']){{fill:{DARK[INK]}}}")
    return f"<style>@media (prefers-color-scheme: dark){{{''.join(rules)}}}</style>"


def _escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
