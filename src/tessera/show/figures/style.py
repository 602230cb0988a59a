"""How models and platforms look, beside what all drawings share (:mod:`tessera.core.drawing`)."""

from __future__ import annotations

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
    figure,
    headline,
    legend_below,
    panels,
    percent,
    percent_axis,
    save_svg,
    wrapped,
)

#: model -> (label, colour, marker, dash); the paper's order
MODELS: dict[str, tuple[str, str, str, str]] = {
    "basu": ("Basu", VERMILLION, "v", "--"),
    "gandhi": ("Gandhi", ORANGE, "^", "--"),
    "pham": ("Pham", YELLOW, "<", "--"),
    "alam": ("Alam", PURPLE, ">", "--"),
    "yaniv": ("Yaniv", GREY, "s", "-."),
    "poly1": ("poly1", SKY, "p", ":"),
    "poly2": ("poly2", INK, "h", ":"),
    "poly3": ("poly3", BLUE, "D", "-."),
    "mosmodel": ("Mosmodel", GREEN, "o", "-"),
}
#: platform -> (colour, marker); others get the last one
PLATFORMS: dict[str, tuple[str, str]] = {
    "sandybridge": (BLUE, "o"),
    "ivybridge": (PURPLE, "v"),
    "haswell": (ORANGE, "s"),
    "broadwell": (GREEN, "^"),
    "skylake": (VERMILLION, "D"),
    "host": (GREY, "P"),
}
PREEXISTING = ("basu", "gandhi", "pham", "alam", "yaniv")
NEW_MODELS = ("poly1", "poly2", "poly3", "mosmodel")


def platform_mark(platform: str) -> tuple[str, str]:
    """Colour and marker of a platform, by its generation."""
    return PLATFORMS.get(platform.split("-")[0], (INK, "X"))


__all__ = [
    "BLUE",
    "DARK",
    "GREEN",
    "GREY",
    "GRID",
    "INK",
    "MODELS",
    "MUTED",
    "NEW_MODELS",
    "ORANGE",
    "PAPER",
    "PLATFORMS",
    "PREEXISTING",
    "PURPLE",
    "SKY",
    "VERMILLION",
    "WIDTH",
    "YELLOW",
    "context",
    "count_unit",
    "figure",
    "headline",
    "legend_below",
    "panels",
    "percent",
    "percent_axis",
    "platform_mark",
    "save_svg",
    "wrapped",
]
