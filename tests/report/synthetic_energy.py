"""Energy of a synthetic tree's cells, and a sweep over L3 with rates by formula."""

from __future__ import annotations

from pathlib import Path

from tessera.energy import power, savings
from tessera.energy.locality import Locality
from tessera.results.read import read
from tessera.results.schema.cells import CELLS
from tessera.results.schema.energy import ENERGY, SAVINGS, THREADS_SWEEP
from tessera.results.tree import Tree
from tessera.results.write import frame_of, write

L3 = 30 << 20
LOCALITY = Locality(1.5, 65536.0)


def write_energy(root: Path, workload: str = "gups", platform: str = "sandybridge-sim") -> None:
    """Write ``energy/`` from the tree's cells, and ``studies/threads/``."""
    tree = Tree(root)
    cells, constants = read(CELLS, tree), power.read(power.default())
    cells = cells[~cells["platform"].str.startswith("host")]
    write(ENERGY, savings.energy_table(cells, constants), ENERGY.place(tree))
    write(SAVINGS, savings.savings_table(cells, constants), SAVINGS.place(tree))
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
    write(THREADS_SWEEP, frame_of(THREADS_SWEEP, rows), THREADS_SWEEP.place(tree, workload, platform))
