"""How models look: label, colour, marker and dash, their order in tables, what their curves depend on.

The label is the model class's own. The nine models of the paper have fixed looks; every other registered
model gets the next free one, so that no list but the registry names it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from tessera.core.drawing import (
    BLUE,
    GREEN,
    GREY,
    INK,
    MUTED,
    ORANGE,
    PURPLE,
    SKY,
    VERMILLION,
    YELLOW,
)
from tessera.fit.models.registry import EVERY, READINGS


class Look(NamedTuple):
    """How one model is drawn."""

    label: str
    colour: str
    marker: str
    dash: str


#: model -> (colour, marker, dash)
PAPER: dict[str, tuple[str, str, str]] = {
    "basu": (VERMILLION, "v", "--"),
    "gandhi": (ORANGE, "^", "--"),
    "pham": (YELLOW, "<", "--"),
    "alam": (PURPLE, ">", "--"),
    "yaniv": (GREY, "s", "-."),
    "poly1": (SKY, "p", ":"),
    "poly2": (INK, "h", ":"),
    "poly3": (BLUE, "D", "-."),
    "mosmodel": (GREEN, "o", "-"),
}
#: the others take these in turn: 24 looks that differ in marker or dash, from the paper's in the marker
COLOURS = (PURPLE, BLUE, ORANGE, GREEN, VERMILLION, SKY, GREY, INK)
MARKERS = ("*", "X", "P", "d", "H", "8")
DASHES = ("-", "--", "-.", ":")
#: of results of another checkout, whose models this one does not have
UNKNOWN = (MUTED, "x", ":")
COLUMNS = {"C": "walk_cycles", "M": "stlb_misses", "H": "stlb_hits"}


def look(model: str) -> Look:
    """The look of a model; one that is not registered is shown by its name."""
    if model not in EVERY:
        return Look(model, *UNKNOWN)
    return Look(EVERY[model].label, *(PAPER.get(model) or _next(model)))


def ordered(models: Iterable[str]) -> list[str]:
    """Each name once, in the order of the registry, others behind by name."""
    names = set(models)
    return [name for name in EVERY if name in names] + sorted(names - set(EVERY))


def beyond_the_paper(models: Iterable[str]) -> list[str]:
    """Those that no figure of the paper names."""
    return [name for name in ordered(models) if name not in PAPER]


def without_readings(models: Iterable[str]) -> list[str]:
    """In order, without the authors' reading of a model that is there, too."""
    names = ordered(models)
    return [name for name in names if name not in {READINGS.get(one) for one in names}]


def printed_as(model: str) -> str:
    """The model that papers print: of an authors' reading, the model that it reads."""
    return next((name for name, reading in READINGS.items() if reading == model), model)


def is_trained(model: str) -> bool:
    """False for a model that one or two runs define."""
    return model not in EVERY or EVERY[model].cross_validated


def only_input(model: str) -> str | None:
    """The column of a model's only input; None if it has several."""
    inputs = EVERY[model].inputs if model in EVERY else ()
    return COLUMNS[inputs[0]] if len(inputs) == 1 else None


def _next(model: str) -> tuple[str, str, str]:
    place = beyond_the_paper(EVERY).index(model)
    row = place // len(MARKERS)
    return COLOURS[place % len(COLOURS)], MARKERS[place % len(MARKERS)], DASHES[(place + row) % len(DASHES)]
