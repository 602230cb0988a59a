"""How figures look: one colour-blind safe palette, one way to write units, SVG that follows light and dark.

Colours are those of Okabe and Ito (2008); every series also has its own marker or dash, so that no figure
needs colour to be read. Ink, paper and grid are three fixed colours that :func:`save_svg` maps to dark ones
by a style sheet inside the SVG (``prefers-color-scheme``); other programs show the light version.
"""

from __future__ import annotations

import io
import re
import textwrap
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.artist import Artist
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

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
_HEADLINE_PER_INCH = 10

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
    """Title of a figure: what it shows, and whether it is simulated, measured or published."""
    text = f"{title}  \u00b7  {provenance}"
    if len(text) > _HEADLINE_PER_INCH * figure.get_figwidth():
        text = f"{title}\n{provenance}"
    with context():
        figure.suptitle(text, x=0.01, ha="left", fontsize=11, fontweight="bold")


def wrapped(*lines: str) -> str:
    """Each of ``lines`` broken to the width of a panel."""
    return "\n".join(part for line in lines for part in textwrap.wrap(line, _LINE) or [""])


def legend_below(figure: Figure, all_axes, columns: int = 3) -> None:
    """One legend under the panels, each label once."""
    found: dict[str, Artist] = {}
    for axes in all_axes:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    with context():
        figure.legend(
            list(found.values()), list(found), loc="outside lower center", ncols=columns, columnspacing=1.2
        )


def percent_axis(axis, *, digits: int | None = None) -> None:
    """Ticks of a fraction axis as percentages (log axes too)."""
    from matplotlib.ticker import FuncFormatter, NullFormatter

    def write(value, _position):
        text = f"{100 * value:g}%" if digits is None else percent_text(value, digits)
        return text.replace("-", "\u2212")

    axis.set_major_formatter(FuncFormatter(write))
    axis.set_minor_formatter(NullFormatter())


def count_unit(largest: float) -> tuple[float, str]:
    """Divisor and word for counts up to ``largest``: billions where that reads well."""
    if not largest or largest >= 5e8:
        return 1e9, "billions"
    return (1e6, "millions") if largest >= 5e5 else (1e3, "thousands")


def save_svg(figure: Figure, path: Path, *, title: str, description: str) -> None:
    """Write an SVG with the same bytes for the same input, readable on dark pages and by screen readers."""
    buffer = io.StringIO()
    with context():
        # savefig would draw everything once more without output first; figure.draw lays out by itself.
        FigureCanvasSVG(figure).print_svg(buffer, metadata={"Date": None, "Creator": "Tessera"})
    text = re.sub(r"font: ([^;\"]*?)'DejaVu Sans'[^;\"]*", rf"font: \1{_FONT_STACK}", buffer.getvalue())
    head = f"<title>{_escape(title)}</title>\n<desc>{_escape(description)}</desc>\n{_dark_sheet()}"
    text = re.sub(r"(<svg\b[^>]*>)", lambda m: f"{m.group(1)}\n{head}", text, count=1)
    write_text(path, text)


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
