"""How platforms look (models: `looks.py`), beside what all drawings share (:mod:`tessera.core.drawing`)."""

from __future__ import annotations

from tessera import platforms
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
OTHER_COLOURS = (INK, SKY, PURPLE, ORANGE, BLUE, GREEN)
OTHER_MARKERS = ("X", "*", "p", "h", "<", ">", "d")


def platform_mark(platform: str) -> tuple[str, str]:
    """Colour and marker of a platform: its generation's, or the next free one of `config/platforms`."""
    generation = platform.split("-")[0]
    if generation in PLATFORMS:
        return PLATFORMS[generation]
    others = [name for name in platforms.names() if name.split("-")[0] not in PLATFORMS]
    place = others.index(platform) if platform in others else len(others)
    return OTHER_COLOURS[place % len(OTHER_COLOURS)], OTHER_MARKERS[place % len(OTHER_MARKERS)]


__all__ = [
    "BLUE",
    "DARK",
    "GREEN",
    "GREY",
    "GRID",
    "INK",
    "MUTED",
    "ORANGE",
    "PAPER",
    "PLATFORMS",
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
