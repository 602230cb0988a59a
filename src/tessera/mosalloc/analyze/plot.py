"""Footprint of each pool over time, as SVG or PNG."""

from __future__ import annotations

from pathlib import Path

from matplotlib.figure import Figure

from tessera.core import drawing as style
from tessera.core.errors import TesseraError
from tessera.core.units import MB
from tessera.mosalloc.analyze.model import POOLS, Analysis

FORMATS = (".svg", ".png")
COLOURS = {"brk": style.BLUE, "mmap": style.GREEN, "file": style.ORANGE}


def check_format(path: Path) -> None:
    """Refuse a file name whose ending is no format, before the program runs."""
    if path.suffix not in FORMATS:
        raise TesseraError(
            f"--plot {path}", f"the file name must end in one of {', '.join(FORMATS)}", "name it plot.svg"
        )


def plot(found: Analysis, path: Path, title: str) -> None:
    """Draw live bytes (solid) and high-water marks (dashed) of the pools that were used."""
    with style.context():
        figure = Figure(figsize=(7, 3.2), layout="constrained")
        axes = figure.add_subplot()
        seconds = found.samples["time_ms"] / 1000
        for kind, (column, name) in POOLS.items():
            used = found.samples[f"{column}_used_bytes"] / MB
            if used.max() > 0:
                live = found.samples[f"{column}_live_bytes"] / MB
                axes.step(seconds, live, where="post", color=COLOURS[kind], label=f"{name}, live")
                axes.step(
                    seconds,
                    used,
                    where="post",
                    color=COLOURS[kind],
                    ls="--",
                    label=f"{name}, high-water mark",
                )
        axes.set(xlabel="time (s)", ylabel="memory (MB)", title=title)
        axes.set_ylim(bottom=0)
        if axes.lines:
            axes.legend()
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".svg":
            style.save_svg(figure, path, title=title, description="Memory of each pool over time.")
        else:
            figure.savefig(path, dpi=150)
