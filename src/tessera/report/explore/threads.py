"""Threads and energy in notebook 08: sliders over the model, energy of the mosaics, both together, runs.

Picture and table are ordinary outputs that the sliders update, so a page shows their first state.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from tessera.core.errors import TesseraError
from tessera.core.layouts.layout import ALL_1GB, ALL_4KB
from tessera.lab.energy import cell_energy, guz_model, power, thread_runs
from tessera.lab.energy.cell_energy import pair_rows
from tessera.lab.energy.sourced_values import ASSUMED
from tessera.report.explore.display import Followed, widget_bar
from tessera.report.explore.source import PairSamples
from tessera.report.figures import style

#: key of the machine -> (words, least, greatest), on a logarithmic scale
RANGES = {
    "locality_exponent": ("a, locality exponent", 1.1, 10.0),
    "locality_bytes": ("w, locality (bytes)", 2.0**10, 2.0**24),
    "cache_bytes": ("S, cache (bytes)", 2.0**18, 2.0**28),
    "static_w": ("L, static power (W)", 0.1, 1000.0),
}


class Sliders(Followed):
    """Sliders and the drawing that follows them."""

    def __init__(self, machine: str):
        self.machine = guz_model.load_machine(machine)

    def view(self):
        """Instructions per second and per joule over one thread, with the chosen values."""
        n = np.unique(np.geomspace(1, self.machine.threads, 200).round())
        figure, axes = style.panels(width=style.WIDTH, height=2.8)
        for name, function in (
            ("instructions per second", guz_model.ips),
            ("instructions per joule", guz_model.ipj),
        ):
            rates = function(self.machine, n)
            axes.plot(n, rates / rates[0], "-" if function is guz_model.ips else "--", label=name)
        axes.set_xlabel("threads")
        axes.set_ylabel("over one thread")
        style.legend_below(figure, [axes], columns=2)
        style.headline(figure, f"The model on {self.machine.name}", ASSUMED)
        return figure

    def changed(self, key: str, value: float) -> None:
        """A slider moved."""
        self.machine = self.machine.changed("assumed: a slider", **{key: value})
        self.update()

    def widgets(self):
        """A slider for each of :data:`RANGES`."""
        return _bar(self)


def sliders(machine: str) -> None:
    """Show the sliders of a machine; nothing is returned, so that the cell prints nothing else."""
    Sliders(machine).show()


def _bar(owner: Sliders):
    import ipywidgets

    rows = []
    for key, (words, least, greatest) in RANGES.items():
        slider = ipywidgets.FloatLogSlider(
            value=getattr(owner.machine, key), min=np.log10(least), max=np.log10(greatest), description=words,
            style={"description_width": "12em"}, layout=ipywidgets.Layout(width="40em"),
            continuous_update=False,
        )  # fmt: skip
        slider.observe(lambda change, key=key: owner.changed(key, change["new"]), names="value")
        rows.append(slider)
    found = widget_bar(rows, [words for words, *_ in RANGES.values()])
    found.sliders = dict(zip(RANGES, rows, strict=True))
    return found


def table(machine: str, threads: Sequence[int]) -> pd.DataFrame:
    """E1 to E7 of a committed machine."""
    return guz_model.threads_curve(guz_model.load_machine(machine), threads, "assumed").drop(
        columns=["workload", "machine"]
    )


def _cells(pair: PairSamples) -> tuple[pd.DataFrame, dict[str, float]]:
    """Usable cells of the pair, and Hz of its platform."""
    rows = pair.samples.assign(workload=pair.workload, platform=pair.platform)
    detected = pair.tree.platform(pair.platform).parent
    return cell_energy.usable_cells(rows), {pair.platform: cell_energy.frequency_of(pair.platform, detected)}


def savings(pair: PairSamples) -> pd.DataFrame:
    """What mosaics of one pair save, a row for each set of constants (``savings.csv``)."""
    rows, hertz = _cells(pair)
    sets = power.swept_power(power.read_power(power.default_power_file()))
    return pd.DataFrame(pair_rows(pair.workload, pair.platform, rows, sets, hertz))


def sentences_of(saved: pd.DataFrame) -> list[str]:
    """What the rows of :func:`savings` say."""
    return cell_energy.sentences(saved)


def _split(pair: PairSamples) -> pd.DataFrame:
    """By layout without 1gb, over the 4KB run: ``time``, ``dynamic`` energy, whole ``energy``."""
    rows, hertz = _cells(pair)
    rows = rows[rows["layout"] != ALL_1GB].drop_duplicates("layout")
    joules, share = cell_energy.energies(
        cell_energy.events(rows, hertz), power.read_power(power.default_power_file())
    )
    found = pd.DataFrame(
        {"time": rows["runtime_cycles"].to_numpy(), "dynamic": joules * (1 - share), "energy": joules},
        index=rows["layout"],
    )
    return found / found.loc[ALL_4KB]


def draw_energy(pair: PairSamples):
    """Energy over runtime of every mosaic, both over the 4KB run; on the line both save alike."""
    found = _split(pair)
    figure, axes = style.panels(width=style.WIDTH, height=3.2)
    least = found["time"].min()
    axes.plot([least, 1], [least, 1], color=style.MUTED, linestyle="--", label="the same percentage")
    axes.plot(found["time"], found["energy"], "o", color=style.BLUE, markersize=3.5, label="mosaics")
    axes.set_xlabel("runtime over the 4KB run")
    axes.set_ylabel("energy over the 4KB run")
    style.legend_below(figure, [axes], columns=2)
    style.headline(figure, pair.title, pair.provenance)
    return figure


def joint(pair: PairSamples, machine: str, threads: Sequence[int], layouts: int = 3) -> pd.DataFrame:
    """Time and energy of threads and mosaics together, over one thread with 4KB pages; least energy first.

    Energy of an instruction: L t + J(n) d, with t = (time of the mosaic) / IPS(n) and d the mosaic's share of
    the dynamic energy. The fastest ``layouts`` and the 4KB run.
    """
    model, found = guz_model.load_machine(machine), _split(pair)
    fastest = found["time"].nsmallest(layouts).index
    rows = []
    for n in threads:
        rate = float(guz_model.ips(model, float(n)))
        joules = float(guz_model.joules_per_instruction(model, float(n)))
        for name in dict.fromkeys([ALL_4KB, *fastest]):
            seconds = found.loc[name, "time"] / rate
            energy = model.static_w * seconds + joules * found.loc[name, "dynamic"]
            rows.append({"threads": n, "layout": name, "time": seconds, "energy": energy})
    table = pd.DataFrame(rows)
    alone = 1 / float(guz_model.ips(model, 1.0))
    base = model.static_w * alone + float(guz_model.joules_per_instruction(model, 1.0))
    table["time"], table["energy"] = table["time"] / alone, table["energy"] / base
    return table.sort_values(["energy", "threads"], kind="stable").reset_index(drop=True)


def measured(path: str) -> str:
    """The fitted constants of a file of runs, as lines; a sentence without a file."""
    if not path:
        return "No runs: set `runs` to the file of tessera lab threads measure."
    try:
        found = power.fit_runs(thread_runs.read_runs(path))
    except TesseraError as error:
        return f"{error.asked}: {error.found}"
    parts = zip(power.FITTED_NAMES, found.values, found.low, found.high, strict=True)
    lines = [f"{name}: {value:.4g} ({low:.4g} to {high:.4g})" for name, value, low, high in parts]
    return "\n".join([*lines, f"residuals: {found.rms_w:.3g} W"])
