"""How platforms and models look, beside what all drawings share (:mod:`tessera.core.drawing`)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from tessera.core import platforms
from tessera.core.drawing import (
    BLUE,
    DARK,
    GREEN,
    GREY,
    GRID,
    INK,
    MUTED,
    ORANGE,
    PAPER,
    PURPLE,
    SKY,
    VERMILLION,
    WIDTH,
    YELLOW,
    context,
    count_unit,
    empty_figure,
    headline,
    legend_below,
    legend_of,
    log_axis,
    panels,
    percent_axis,
    save_svg,
    svg_text,
    wrapped,
)
from tessera.core.units import percent_text
from tessera.fit.models.registry import EVERY, READINGS

#: with what all drawings share, so that figures import one module
__all__ = [
    "BLUE",
    "DARK",
    "GREEN",
    "GREY",
    "GRID",
    "INK",
    "INPUT_COLUMNS",
    "MUTED",
    "ORANGE",
    "PAPER",
    "PAPER_MODELS",
    "PLATFORMS",
    "PURPLE",
    "SKY",
    "VERMILLION",
    "WIDTH",
    "YELLOW",
    "ModelLook",
    "context",
    "count_unit",
    "empty_figure",
    "headline",
    "is_trained",
    "legend_below",
    "legend_of",
    "log_axis",
    "model_look",
    "models_beyond_the_paper",
    "models_without_readings",
    "only_input",
    "ordered_models",
    "panels",
    "percent_text",
    "percent_axis",
    "platform_mark",
    "printed_model",
    "save_svg",
    "svg_text",
    "wrapped",
]


# How platforms look: the colour and marker of a generation.

#: generation -> (colour, marker)
PLATFORMS: dict[str, tuple[str, str]] = {
    "sandybridge": (BLUE, "o"),
    "ivybridge": (PURPLE, "v"),
    "haswell": (ORANGE, "s"),
    "broadwell": (GREEN, "^"),
    "skylake": (VERMILLION, "D"),
    "host": (GREY, "P"),
}
#: other platforms take these in turn: 42 marks, none of a generation
OTHER_PLATFORM_COLOURS = (INK, SKY, PURPLE, ORANGE, BLUE, GREEN)
OTHER_PLATFORM_MARKERS = ("X", "*", "p", "h", "<", ">", "d")


def platform_mark(platform: str) -> tuple[str, str]:
    """Colour and marker of a platform: its generation's, or the next free one of `config/platforms`."""
    generation = platform.split("-")[0]
    if generation in PLATFORMS:
        return PLATFORMS[generation]
    others = [name for name in platforms.platform_names() if name.split("-")[0] not in PLATFORMS]
    place = others.index(platform) if platform in others else len(others)
    return OTHER_PLATFORM_COLOURS[place % len(OTHER_PLATFORM_COLOURS)], OTHER_PLATFORM_MARKERS[
        place % len(OTHER_PLATFORM_MARKERS)
    ]


# How models look: label, colour, marker and dash, their order in tables, what their curves depend on.
#
# The label is the model class's own. The nine models of the paper have fixed looks; every other registered
# model gets the next free one, so that no list but the registry names it.


class ModelLook(NamedTuple):
    """How one model is drawn."""

    label: str
    colour: str
    marker: str
    dash: str


#: model -> (colour, marker, dash)
PAPER_MODELS: dict[str, tuple[str, str, str]] = {
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
OTHER_MODEL_COLOURS = (PURPLE, BLUE, ORANGE, GREEN, VERMILLION, SKY, GREY, INK)
OTHER_MODEL_MARKERS = ("*", "X", "P", "d", "H", "8")
OTHER_MODEL_DASHES = ("-", "--", "-.", ":")
#: of results of another checkout, whose models this one does not have
UNKNOWN_MODEL = (MUTED, "x", ":")
INPUT_COLUMNS = {"C": "walk_cycles", "M": "stlb_misses", "H": "stlb_hits"}


def model_look(model: str) -> ModelLook:
    """The look of a model; one that is not registered is shown by its name."""
    if model not in EVERY:
        return ModelLook(model, *UNKNOWN_MODEL)
    return ModelLook(EVERY[model].label, *(PAPER_MODELS.get(model) or _next_model_look(model)))


def ordered_models(models: Iterable[str]) -> list[str]:
    """Each name once, in the order of the registry, others behind by name."""
    names = set(models)
    return [name for name in EVERY if name in names] + sorted(names - set(EVERY))


def models_beyond_the_paper(models: Iterable[str]) -> list[str]:
    """Those that no figure of the paper names."""
    return [name for name in ordered_models(models) if name not in PAPER_MODELS]


def models_without_readings(models: Iterable[str]) -> list[str]:
    """In order, without the authors' reading of a model that is there, too."""
    names = ordered_models(models)
    return [name for name in names if name not in {READINGS.get(one) for one in names}]


def printed_model(model: str) -> str:
    """The model that papers print: of an authors' reading, the model that it reads."""
    return next((name for name, reading in READINGS.items() if reading == model), model)


def is_trained(model: str) -> bool:
    """False for a model that one or two runs define."""
    return model not in EVERY or EVERY[model].cross_validated


def only_input(model: str) -> str | None:
    """The column of a model's only input; None if it has several."""
    inputs = EVERY[model].inputs if model in EVERY else ()
    return INPUT_COLUMNS[inputs[0]] if len(inputs) == 1 else None


def _next_model_look(model: str) -> tuple[str, str, str]:
    place = models_beyond_the_paper(EVERY).index(model)
    row = place // len(OTHER_MODEL_MARKERS)
    return (
        OTHER_MODEL_COLOURS[place % len(OTHER_MODEL_COLOURS)],
        OTHER_MODEL_MARKERS[place % len(OTHER_MODEL_MARKERS)],
        OTHER_MODEL_DASHES[(place + row) % len(OTHER_MODEL_DASHES)],
    )
