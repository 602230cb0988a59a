"""The wait W of one walker load behind the hog, as the archive implies it (Figure 6).

n = (C(RP-LD) - C(LP-LD)) / (remote - local latency), and W = (C(RPI-LD) - C(RP-LD)) / n. The queue of
:mod:`tessera.numa.queue` assumes W; the bounds are the ends of its sweep. Nothing is fitted to these values.
"""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from tessera.numa.archive import Archive, column, cycles_of
from tessera.numa.arithmetic.check import Check
from tessera.numa.arithmetic.tolerances import LEAST_EXTRA
from tessera.numa.machine import Machine, published
from tessera.numa.placement import LOCAL
from tessera.numa.queue import SWEEP, hog_lines, wait_cycles


def implied_waits(rows: pd.DataFrame, page_size: str, machine: Machine) -> pd.DataFrame:
    """Implied waits of Figure 6.

    Args:
        rows: archived rows, as :class:`tessera.numa.archive.Archive` holds them.

    Returns:
        A row for each workload: ``extra`` = C(RP-LD) / C(LP-LD) - 1, and ``wait_cycles``.
    """
    walk = cycles_of(rows, "Figure 6", "walk", page_size)
    local, remote, hogged = (column(walk, name) for name in (LOCAL, "RP-LD", "RPI-LD"))
    loads = (remote - local) / (machine.remote_load_cycles - machine.local_load_cycles)
    return pd.DataFrame({"extra": remote / local - 1, "wait_cycles": (hogged - remote) / loads})


def waits(archive: Archive) -> Iterator[Check]:
    """The hog's queue has the assumed length within a factor of 2."""
    machine = published()
    assumed = wait_cycles(hog_lines(machine), machine.local_cycles_per_line)
    for size, least in LEAST_EXTRA.items():
        for workload, row in implied_waits(archive.good, size, machine).iterrows():
            judged = bool(row["extra"] >= least)
            note = (
                f"{assumed:.0f} assumed"
                if judged
                else f"n is noise: remote tables raise C by {row['extra']:.1%}"
            )
            yield Check(
                "implied wait", str(workload), size, float(row["wait_cycles"]), min(SWEEP) * assumed,
                max(SWEEP) * assumed, "cycles", note, judged,
            )  # fmt: skip
