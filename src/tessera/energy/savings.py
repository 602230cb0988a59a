"""Does the fastest mosaic save most energy? A row per workload, platform and set of constants.

Mosaics are the layouts but ``1gb``, as models see them. A cell's runtime is an estimate with an interval;
energies of one pair share their samples, so differences between layouts are more precise than the
intervals.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from tessera.energy.cells import energies, events, frequencies, usable
from tessera.energy.power import BASELINE, Power, swept
from tessera.layouts.names import ALL_1GB, ALL_2MB, ALL_4KB
from tessera.results.loader import average
from tessera.results.read import empty
from tessera.results.schema.energy import ENERGY, SAVINGS
from tessera.results.status import ok_rows
from tessera.results.write import frame_of

#: Two energies within this fraction are the same.
SAME = 1e-3


def energy_table(cells: pd.DataFrame, power: Power, detected: Path | None = None) -> pd.DataFrame:
    """The table :data:`ENERGY`: E8 of every usable cell, with the constants as given."""
    rows = _good(cells)
    if rows.empty:
        return empty(ENERGY)
    joules, share = energies(events(rows, frequencies(rows, detected)), power)
    rows = rows.assign(energy_j=joules, static_share=share, provenance=rows["runtime_provenance"])
    return frame_of(ENERGY, rows[list(ENERGY.names)])


def savings_table(cells: pd.DataFrame, power: Power, detected: Path | None = None) -> pd.DataFrame:
    """The table :data:`SAVINGS`, for every set of :func:`tessera.energy.power.swept`."""
    rows = _good(cells)
    found = []
    if len(rows):
        hertz = frequencies(rows, detected)
        for names, part in rows.groupby(["workload", "platform"], sort=False):
            found += pair_rows(*names, part, swept(power), hertz)
    return frame_of(SAVINGS, found) if found else empty(SAVINGS)


def _good(cells: pd.DataFrame) -> pd.DataFrame:
    """Usable rows, repeats averaged."""
    good = ok_rows(cells)
    return usable(average(good) if len(good) else good)


def pair_rows(
    workload: str, platform: str, cells: pd.DataFrame, sets: Sequence[Power], hertz: Mapping[str, float]
) -> list[dict]:
    """Rows of one pair, from its mosaics; none without its 4KB and 2MB cells, or with a cell of 0 J."""
    cells = cells[cells["layout"] != ALL_1GB]
    if not {ALL_4KB, ALL_2MB} <= set(cells["layout"]):
        return []
    names, runtime = cells["layout"].tolist(), cells["runtime_cycles"].to_numpy(dtype=float)
    head = {"workload": workload, "platform": platform, "provenance": cells["runtime_provenance"].iloc[0]}
    counts = events(cells, hertz)
    found = [(one.name, *energies(counts, one)) for one in sets]
    return [head | row(names, runtime, *of_set, name) for name, *of_set in found if (of_set[0] > 0).all()]


def row(
    names: list[str], runtime: np.ndarray, joules: np.ndarray, static_share: np.ndarray, constants: str
) -> dict:
    """What one set of constants says of one pair; arrays have a number for each of the layouts ``names``."""
    small, large = names.index(ALL_4KB), names.index(ALL_2MB)
    fastest, least = int(runtime.argmin()), int(joules.argmin())
    runtime_saved, energy_saved = 1 - runtime / runtime[small], 1 - joules / joules[small]
    excess = float(joules[fastest] / joules[least] - 1)
    return {
        "constants": constants,
        "layouts": len(names),
        "static_share": static_share[small],
        "runtime_saved_2mb": runtime_saved[large],
        "energy_saved_2mb": energy_saved[large],
        "ratio_2mb": energy_saved[large] / runtime_saved[large] if runtime_saved[large] else None,
        "fastest_layout": names[fastest],
        "runtime_saved_fastest": runtime_saved[fastest],
        "energy_saved_fastest": energy_saved[fastest],
        "least_energy_layout": names[least],
        "energy_saved_least": energy_saved[least],
        "excess_of_fastest": excess,
        "fastest_needs_least": excess <= SAME,
        "reversed_share": reversed_share(runtime, joules),
    }


def reversed_share(runtime: np.ndarray, joules: np.ndarray) -> float:
    """Share of pairs of layouts whose faster one needs more energy; both differ by more than SAME."""
    slower = runtime[:, None] > runtime[None, :] * (1 + SAME)
    cheaper = joules[:, None] * (1 + SAME) < joules[None, :]
    compared = len(runtime) * (len(runtime) - 1) / 2
    return float((slower & cheaper).sum() / compared) if compared else 0.0


def baseline(savings: pd.DataFrame) -> pd.DataFrame:
    """Rows of the constants as given."""
    return savings[savings["constants"] == BASELINE]
