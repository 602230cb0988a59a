"""Chunk sizes as a figure: the share of mapped memory in chunks of at most so many pages."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from tessera.core import drawing
from tessera.core.mapping.contiguity import ChunkHistogram

_LOOKS = (
    (drawing.BLUE, "-"),
    (drawing.VERMILLION, "--"),
    (drawing.GREEN, "-."),
    (drawing.PURPLE, ":"),
    (drawing.ORANGE, (0, (5, 1, 1, 1, 1, 1))),
    (drawing.INK, (0, (1, 3))),
)


def memory_shares(histogram: ChunkHistogram) -> tuple[np.ndarray, np.ndarray]:
    """Sizes of chunks in pages (ascending) and the part of the memory in chunks of at most this size."""
    pages = np.cumsum(histogram.contiguity * histogram.frequency)
    return histogram.contiguity, pages / pages[-1]


def draw_contiguity(histograms: Mapping[str, ChunkHistogram], path: Path) -> None:
    """Write the SVG; one line for each named histogram that has chunks."""
    figure, axes = drawing.panels(width=drawing.WIDTH, height=3.4)
    largest = 1.0
    for at, (name, histogram) in enumerate(histograms.items()):
        if not histogram.chunks:
            continue
        size, share = memory_shares(histogram)
        largest = max(largest, float(size[-1]))
        colour, dash = _LOOKS[at % len(_LOOKS)]
        axes.step([size[0], *size], [0.0, *share], where="post", color=colour, linestyle=dash, label=name)
    axes.set_xscale("log", base=2)
    axes.set_xlim(0.8, 1.5 * largest)
    axes.set_ylim(0, 1.02)
    axes.axvline(512, color=drawing.MUTED, linewidth=0.8)
    axes.set_xlabel("size of a chunk, pages of 4KB (the line: 512, a 2MB page)")
    axes.set_ylabel("share of mapped memory")
    drawing.percent_axis(axes.yaxis)
    drawing.headline(figure, "Contiguity", "memory in chunks of at most this size")
    drawing.legend_below(figure, [axes])
    drawing.save_svg(
        figure,
        path,
        title="Distribution of chunk sizes",
        description="Share of mapped memory in chunks of at most so many pages, of " + ", ".join(histograms),
    )
