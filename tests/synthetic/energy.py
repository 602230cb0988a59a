"""Energy of a synthetic tree's cells, and a sweep over L3 with rates by formula."""

from __future__ import annotations

from pathlib import Path

from tessera.core.results.cell_tables import CELLS
from tessera.core.results.study_tables import ENERGY, SAVINGS, THREADS_SWEEP
from tessera.core.results.table_io import read_tree_table
from tessera.core.results.tree import ResultsTree
from tessera.lab.energy import cell_energy, power
from tessera.lab.energy.l3_sweep import Locality

from .tables import put

L3 = 30 << 20
LOCALITY = Locality(1.5, 65536.0)


def write(root: Path, workload: str = "gups", platform: str = "sandybridge-sim") -> None:
    """Write ``energy/`` from the tree's cells, and ``studies/threads/``."""
    cells, constants = read_tree_table(CELLS, ResultsTree(root)), power.read_power(power.default_power_file())
    cells = cells[~cells["platform"].str.startswith("host")]
    put(root, ENERGY, cell_energy.energy_table(cells, constants))
    put(root, SAVINGS, cell_energy.savings_of_cells(cells, constants))
    rows = [
        {
            "workload": workload, "platform": platform, "threads": n, "l3_bytes": L3 // n, "status": "ok",
            "message": "", "accesses": 10_000, "dram_loads": 100 * n,
            "hit_rate": float(LOCALITY.hit_rate(L3 / n)), "fitted_hit_rate": float(LOCALITY.hit_rate(L3 / n)),
            "locality_exponent": LOCALITY.exponent, "locality_bytes": LOCALITY.bytes,
            "provenance": "simulated",
        }
        for n in (1, 2, 4)
    ]  # fmt: skip
    put(root, THREADS_SWEEP, rows, workload, platform)
