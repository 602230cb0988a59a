"""A process that moved to another socket, and its data after it (``kernel/balancing/balancing.csv``).

The kernel decides what moves, not the processor: a guest answers for any machine with several sockets. If the
process did not move, or its data did not follow, the table decides nothing.
"""

from __future__ import annotations

import pandas as pd

from tessera.judge.claims.evaluators.kernel_cost import kernel_table
from tessera.judge.claims.outcome import GUEST, PLACEMENT, Missing, Outcome
from tessera.kernel import ALL_PARTS
from tessera.kernel.experiments.balancing import MOMENTS
from tessera.results.schema.kernel import BALANCING as BALANCING_TABLE

#: Share of the data on the process's socket at each moment; the program waits for as much.
LEAST_LOCAL = 0.99


def moved_tables(claim, evidence) -> Outcome:
    """Page tables that lie elsewhere than before, after automatic NUMA balancing moved the data."""
    return _measured(_rows(evidence).loc["balanced", "moved_home_tables"])


def remote_share_at(claim, evidence, moment: str) -> Outcome:
    """Share of the leaf entries that the process finds on other sockets at a moment, percent."""
    row = _rows(evidence).loc[moment]
    return _measured(100 * row["remote_leaf_entries"] / row["leaf_entries"])


def _measured(value: float) -> Outcome:
    return Outcome(float(value), "measured", GUEST, PLACEMENT)


def _rows(evidence) -> pd.DataFrame:
    """The row of each moment, by its name."""
    table = kernel_table(evidence, BALANCING_TABLE, BALANCING_TABLE.names)
    if tuple(table["moment"]) != MOMENTS:
        found = ", ".join(table["moment"]) or "no row"
        raise Missing(f"{BALANCING_TABLE.pattern} has {found} in place of {', '.join(MOMENTS)}", ALL_PARTS)
    rows = table.set_index("moment")
    if rows.loc["before", "socket"] == rows.loc["balanced", "socket"]:
        raise Missing(f"{BALANCING_TABLE.pattern}: the process stayed on its socket", ALL_PARTS)
    if (rows[["data_pages", "home_tables", "leaf_entries"]] <= 0).any(axis=None):
        raise Missing(f"{BALANCING_TABLE.pattern}: a process without data or page tables", ALL_PARTS)
    for moment, row in rows.iterrows():
        if row["local_data_pages"] < LEAST_LOCAL * row["data_pages"]:
            said = f"{row['local_data_pages']} of {row['data_pages']} data pages are on the process's socket"
            raise Missing(f"{BALANCING_TABLE.pattern}, {moment}: only {said}", ALL_PARTS)
    return rows


EVALUATORS = {"moved_tables": moved_tables, "remote_share_at": remote_share_at}
