"""E8: the energy of a cell; whether the fastest mosaic saves most energy (E9); and what these tables say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from tessera.core import platforms
from tessera.core.errors import TesseraError
from tessera.core.layouts.layout import ALL_1GB, ALL_2MB, ALL_4KB
from tessera.core.results.cell_tables import CELLS
from tessera.core.results.loader import average_repeats
from tessera.core.results.outcomes import ok_rows
from tessera.core.results.study_tables import ENERGY, SAVINGS
from tessera.core.results.table_io import empty_table, frame_of, read_file
from tessera.core.tables import print_table
from tessera.lab.energy.power import (
    BASELINE,
    KEYS,
    LEVELS,
    STATIC,
    Power,
    default_power_file,
    read_power,
    swept_power,
)
from tessera.lab.study import Run, study

# The energy of a cell, and what OPERA D5.10 chapter 1 says of it.
#
# E8: E = L R/f + N_i e_x + sum over levels of (program loads + walker loads) e_level. R, N_i and the loads
# are those of the cell; ``*_loads`` count what reached a level, so a miss pays at each level. E9: dE/E =
# dR/R.
#
# Not modelled: voltage and frequency that change, lines that are written back or prefetched, the energy of
# TLBs and page-walk caches themselves, instruction fetches. L and the energies are assumed, so the joules
# are no measurement: only relations of dE and dR are used, over swept constants.

FREQUENCY = "core.frequency_hz"
LOADS = tuple(f"{side}_{level}_loads" for level in LEVELS for side in ("program", "walker"))
NEEDED = ("runtime_cycles", "instructions", *LOADS)


def frequency_of(platform: str, detected: Path | None = None) -> float:
    """Hz of a platform.

    Args:
        detected: folder with the files of detected platforms (``platforms`` of a results tree).

    Raises:
        TesseraError: the platform is neither in that folder nor committed.
    """
    own = detected / f"{platform}.yaml" if detected else None
    found = platforms.load_platform(own if own and own.is_file() else platform)
    return float(found.values[FREQUENCY].value)


def usable_cells(cells: pd.DataFrame) -> pd.DataFrame:
    """The rows with everything that E8 needs: real runs have no cycles, bundles may lack loads."""
    missing = [name for name in NEEDED if name not in cells]
    if missing:
        raise TesseraError("cells", f"columns missing: {', '.join(missing)}", "see docs/contracts.md, Cells")
    return cells[cells[list(NEEDED)].notna().all(axis=1)].reset_index(drop=True)


def events(cells: pd.DataFrame, frequencies_hz: Mapping[str, float]) -> np.ndarray:
    """What each constant of :data:`KEYS` is multiplied by: a row a cell, a column a key.

    R/f in seconds, instructions, and loads of program and walker that reached each level.
    """
    seconds = cells["runtime_cycles"] / cells["platform"].map(dict(frequencies_hz))
    loads = [cells[f"program_{level}_loads"] + cells[f"walker_{level}_loads"] for level in LEVELS]
    return np.column_stack([seconds, cells["instructions"], *loads]).astype(float)


def energies(counts: np.ndarray, power: Power) -> tuple[np.ndarray, np.ndarray]:
    """(joules, static share) of each row of :func:`events`."""
    joules = counts @ power.vector()
    static = counts[:, KEYS.index(STATIC)] * power.of(STATIC)
    return joules, np.divide(static, joules, out=np.zeros_like(joules), where=joules > 0)


def frequencies(cells: pd.DataFrame, detected: Path | None = None) -> dict[str, float]:
    """Hz of every platform of the cells; ``detected`` as in :func:`frequency_of`."""
    return {name: frequency_of(name, detected) for name in sorted(set(cells["platform"]))}


# Does the fastest mosaic save most energy? A row per workload, platform and set of constants.
#
# Mosaics are the layouts but ``1gb``, as models see them. A cell's runtime is an estimate with an interval;
# energies of one pair share their samples, so differences between layouts are more precise than the
# intervals.


def say_savings(_: pd.DataFrame, savings: pd.DataFrame) -> None:
    """Print how closely energy follows runtime."""
    if rows := [
        (
            one["constants"], f"{one['static_share']:.3f}", f"{one['ratio']:.3f}", one["fastest"],
            f"{one['reversed']:.4f}",
        )
        for one in by_constants(savings)
    ]:  # fmt: skip
        heads = ["constants", "static share", "energy/runtime saved", "fastest needs least", "reversed"]
        print_table(heads, rows, right=(1, 2, 4))
    for line in sentences(savings):
        print(line)


@study(ENERGY, SAVINGS, show=say_savings)
def energy(run: Run, cells: Path, power: Path | None = None) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Compute E8 for every cell: L R/f, instructions, and loads by level.

    energy.csv has joules with the constants as given; savings.csv has what mosaics save, under each set of
    constants. The default constants are assumed, so use the relations, not the joules.

    Example: ./run tessera lab run energy cells=results/smoke/cells.csv --out /tmp/energy

    Args:
        cells: cells.csv of a run; detected platforms are in the folder `platforms` beside it.
        power: power file, such as one of threads-fit; default: config/machines/power/one-core.yaml.

    Raises:
        TesseraError: unreadable inputs, or an unknown platform.
    """
    table, constants = read_file(CELLS, cells), read_power(power or default_power_file())
    detected = cells.parent / "platforms"
    return energy_table(table, constants, detected), savings_of_cells(table, constants, detected)


#: Two energies within this fraction are the same.
SAME_ENERGY = 1e-3


def energy_table(cells: pd.DataFrame, power: Power, detected: Path | None = None) -> pd.DataFrame:
    """The table :data:`ENERGY`: E8 of every usable cell, with the constants as given."""
    rows = _good(cells)
    if rows.empty:
        return empty_table(ENERGY)
    joules, share = energies(events(rows, frequencies(rows, detected)), power)
    rows = rows.assign(energy_j=joules, static_share=share, provenance=rows["runtime_provenance"])
    return frame_of(ENERGY, rows[list(ENERGY.names)])


def savings_of_cells(cells: pd.DataFrame, power: Power, detected: Path | None = None) -> pd.DataFrame:
    """The table :data:`SAVINGS`, for every set of :func:`tessera.lab.energy.power.swept_power`."""
    rows = _good(cells)
    found = []
    if len(rows):
        hertz = frequencies(rows, detected)
        for names, part in rows.groupby(["workload", "platform"], sort=False):
            found += pair_rows(*names, part, swept_power(power), hertz)
    return frame_of(SAVINGS, found) if found else empty_table(SAVINGS)


def _good(cells: pd.DataFrame) -> pd.DataFrame:
    """Usable rows, repeats averaged."""
    good = ok_rows(cells)
    return usable_cells(average_repeats(good) if len(good) else good)


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
    return [
        head | savings_row(names, runtime, *of_set, name) for name, *of_set in found if (of_set[0] > 0).all()
    ]


def savings_row(
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
        "fastest_needs_least": excess <= SAME_ENERGY,
        "reversed_share": reversed_share(runtime, joules),
    }


def reversed_share(runtime: np.ndarray, joules: np.ndarray) -> float:
    """Share of pairs of layouts whose faster one needs more energy; both differ by more than SAME_ENERGY."""
    slower = runtime[:, None] > runtime[None, :] * (1 + SAME_ENERGY)
    cheaper = joules[:, None] * (1 + SAME_ENERGY) < joules[None, :]
    compared = len(runtime) * (len(runtime) - 1) / 2
    return float((slower & cheaper).sum() / compared) if compared else 0.0


def baseline(savings: pd.DataFrame) -> pd.DataFrame:
    """Rows of the constants as given."""
    return savings[savings["constants"] == BASELINE]


# What the tables of energy say, as rows and sentences for terminal, page and notebook.


def by_constants(savings: pd.DataFrame) -> list[dict]:
    """A row per set of constants: medians and extremes over the pairs."""
    found = []
    for name, part in savings.groupby("constants", sort=False):
        found.append(
            {
                "constants": name,
                "pairs": len(part),
                "static_share": float(part["static_share"].median()),
                "ratio": float(part["ratio_2mb"].median()),
                "ratio_least": float(part["ratio_2mb"].min()),
                "ratio_greatest": float(part["ratio_2mb"].max()),
                "fastest": f"{int(part['fastest_needs_least'].astype(bool).sum())} of {len(part)}",
                "excess": float(part["excess_of_fastest"].max()),
                "reversed": float(part["reversed_share"].max()),
            }
        )
    return found


def sentences(savings: pd.DataFrame) -> list[str]:
    """Conclusions in words; none without rows."""
    if savings.empty:
        return []
    given = baseline(savings)
    ratios = given["ratio_2mb"]
    spread = (
        f" (median of {len(ratios)} pairs; {ratios.min():.2f} to {ratios.max():.2f})"
        if len(ratios) > 1
        else ""
    )
    found = [
        "With the constants as given, 2MB pages save "
        f"{ratios.median():.2f} times as much of the energy as of the runtime{spread}."
    ]
    pairs = savings.groupby(["workload", "platform"])["fastest_needs_least"].apply(
        lambda part: part.astype(bool).all()
    )
    found.append(
        f"The fastest mosaic needs the least energy under every set of constants in {int(pairs.sum())} of "
        f"{len(pairs)} pairs."
    )
    other = savings[~savings["fastest_needs_least"].astype(bool)]
    found += [
        f"Not so on {row.workload}, {row.platform}, with {row.constants}: {row.fastest_layout} is fastest, "
        f"and needs {100 * row.excess_of_fastest:.2f}% more energy than {row.least_energy_layout}."
        for row in other.sort_values("excess_of_fastest", ascending=False).head(5).itertuples()
    ]
    worst = savings.loc[savings["reversed_share"].idxmax()]
    if worst["reversed_share"] > 0:
        found.append(
            f"Among slower layouts the order can differ: with {worst['constants']}, {worst['workload']} on "
            f"{worst['platform']} has {100 * worst['reversed_share']:.2f}% of its pairs of layouts reversed."
        )
    return found
