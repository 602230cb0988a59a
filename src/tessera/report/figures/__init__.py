"""Figures of the report: each one a function from a results tree to a drawing and the table behind it.

A new figure is such a function with :func:`figure` above it, in a file of this folder; nothing lists it.
Bottom-up: :mod:`.style` (colours, units, looks) and :mod:`.published` (printed numbers) < the figures
< :mod:`.registry` (all of them by name) < :mod:`.render` (SVG + CSV on disk).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial


@dataclass(frozen=True)
class ReportFigure:
    """One figure: its name and texts, the page that shows it (empty if ``per_pair``), what draws it."""

    name: str
    title: str
    caption: str
    page: str
    per_pair: bool
    draw: Callable


def figure(
    name: str,
    title: str,
    caption: str,
    *,
    page: str = "models.html",
    per_pair: bool = False,
    argument: str | None = None,
) -> Callable[[Callable], Callable]:
    """Make the decorated function a figure; once for each figure that the function draws.

    The function is ``draw(results, reference)`` and returns ``(matplotlib figure, tidy table)``; ``results``
    is a folder or a ``Results``, ``reference`` the folder of published numbers. The table holds every number
    that is drawn, published ones too, with a ``provenance`` column. Without data it raises ``NotDrawn`` with
    the reason.

    Args:
        page: the page of the report that shows it.
        per_pair: drawn for each pair, on the page of its workload; ``draw`` gets ``workload, platform``, too.
        argument: first argument of a function that draws several figures, before ``results``.
    """

    def mark(function: Callable) -> Callable:
        draw = partial(function, argument) if argument else function
        entry = ReportFigure(name, title, caption, "" if per_pair else page, per_pair, draw)
        # the lowest decorator is applied first: figures are in the order of the file
        function.figures = [entry, *getattr(function, "figures", ())]
        return function

    return mark
