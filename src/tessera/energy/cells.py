"""E8: the energy of a cell, and E9: what OPERA D5.10 chapter 1 says of it.

E8: E = L R/f + N_i e_x + sum over levels of (program loads + walker loads) e_level. R, N_i and the loads
are those of the cell; ``*_loads`` count what reached a level, so a miss pays at each level. E9: dE/E =
dR/R.

Not modelled: voltage and frequency that change, lines that are written back or prefetched, the energy of
TLBs and page-walk caches themselves, instruction fetches. L and the energies are assumed, so the joules are
no measurement: only relations of dE and dR are used, over swept constants.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from tessera import platforms
from tessera.core.errors import TesseraError
from tessera.energy.power import KEYS, LEVELS, STATIC, Power

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
    found = platforms.load(own if own and own.is_file() else platform)
    return float(found.values[FREQUENCY].value)


def usable(cells: pd.DataFrame) -> pd.DataFrame:
    """The rows with everything that E8 needs: real runs have no cycles, bundles may lack loads."""
    missing = [name for name in NEEDED if name not in cells]
    if missing:
        raise TesseraError("cells", f"columns missing: {', '.join(missing)}", "see docs/contracts.md, Cells")
    return cells[cells[list(NEEDED)].notna().all(axis=1)].reset_index(drop=True)


def events(cells: pd.DataFrame, frequencies_hz: Mapping[str, float]) -> np.ndarray:
    """What each constant of :data:`tessera.energy.power.KEYS` is multiplied by: a row a cell, a column a key.

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
