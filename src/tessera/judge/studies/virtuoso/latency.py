"""Latencies of the simulated faults of a program: quantiles by kind (Figure 2), and combs.

Both follow the rules of measured latencies (:mod:`tessera.faults`). A measured pass touches new pages in
ascending order; a program does so in parts. So a *run* takes the place of a pass: faults of one kind on
consecutive pages, from a multiple of 512 pages on.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from tessera.faults.comb import comb
from tessera.faults.kinds import BATCH, KINDS, TABLE
from tessera.faults.quantiles import quantiles
from tessera.simulate.rows import FAULT_TIME_COLUMNS

ALL = "all"  #: in the column ``kind``: faults of every kind together
#: Faults of the shortest run that counts: those of a last-level page table.
LEAST_RUN = TABLE.period
#: Template -> combs to look for: those of measured kinds, and the batch where a copy joins the LRU lists.
TEETH = {kind.name: kind.teeth for kind in KINDS if kind.faults and kind.teeth}
TEETH |= dict.fromkeys(("write-zero", "write-private", "write-cow"), (BATCH,))


def frame_of_faults(rows: Sequence[dict]) -> pd.DataFrame:
    """Rows of ``tessera simulate --fault-times-out`` as a table."""
    return pd.DataFrame(rows, columns=list(FAULT_TIME_COLUMNS))


def quantile_rows(faults: pd.DataFrame, hertz: float | None) -> list[dict]:
    """A row for each kind and quantile: of all faults together, then of each kind.

    ``time_above`` is the share of these faults' time that slower ones take. Virtuoso's Figure 2 prints it
    for its outliers, whose limit is lost in the text that we have.

    Args:
        hertz: frequency of the platform; None: rows have no time.
    """
    kinds = [(ALL, faults), *faults.groupby("kind", sort=True)] if len(faults) else []
    rows = []
    for kind, mine in kinds:
        cycles = mine["cycles"].to_numpy(dtype=np.int64)
        for one in quantiles([cycles]):
            above = cycles[cycles > one.median].sum() / cycles.sum()
            rows.append(
                {
                    "kind": kind, "share": one.share, "cycles": one.median,
                    "us": None if hertz is None else 1e6 * one.median / hertz,
                    "time_above": float(above), "faults": len(cycles),
                }
            )  # fmt: skip
    return rows


def comb_rows(faults: pd.DataFrame) -> list[dict]:
    """A row for each comb that a kind can have, if the program has a run of that kind."""
    rows = []
    for kind, combs in TEETH.items():
        passes = runs(faults[faults["kind"] == kind])
        for teeth in combs if passes else ():
            found = comb(passes, teeth)
            rows.append(
                {
                    "kind": kind, "reason": teeth.reason, "period": teeth.period, "runs": len(passes),
                    "faults": sum(map(len, passes)), "asked": found.asked, "hits": found.hits,
                    "chance": found.chance, "extra_cycles": found.extra,
                }
            )  # fmt: skip
    return rows


def runs(faults: pd.DataFrame) -> list[np.ndarray]:
    """Cycles of the faults of one kind, run by run, in the order of the program.

    A run has consecutive pages of one size, begins at a multiple of :data:`LEAST_RUN` pages, and has at
    least so many faults.
    """
    if faults.empty:
        return []
    pages, cycles = faults["page"].to_numpy(), faults["cycles"].to_numpy()
    begins = np.flatnonzero(np.diff(pages) != 1) + 1
    found = []
    for begin, end in zip([0, *begins], [*begins, len(pages)], strict=True):
        first = begin + int(-pages[begin] % LEAST_RUN)
        if end - first >= LEAST_RUN:
            found.append(cycles[first:end])
    return found
