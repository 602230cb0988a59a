"""Mitosis Figure 11 for GUPS: what moving the page tables gains in fragmented memory, by share of 2MB pages.

Shares come from a guest with fragmented memory (:mod:`tessera.numa.fragmented`, measured) and from archived
walk cycles (:mod:`tessera.numa.arithmetic.coverage`, published). The gain with a share is simulated
(:mod:`tessera.numa.mixed`); beside it is the quotient of archived runtimes.
"""

from __future__ import annotations

import math

import pandas as pd

from tessera.numa.archive import column, cycles_of
from tessera.numa.arithmetic.coverage import FRAGMENTED, implied_shares
from tessera.numa.mixed import REMOTE, gain
from tessera.numa.placement import MIGRATED
from tessera.results.status import ok_rows

PROGRAM = "GUPS"  #: the only one of Figure 11 that is computed at its size
COLUMNS = (
    "source", "configuration", "share", "share_provenance", "walk_gain", "runtime_gain", "archived_gain",
)  # fmt: skip


def gains(fragmented: pd.DataFrame, placements: pd.DataFrame, archived: pd.DataFrame) -> pd.DataFrame:
    """A row for each share; columns are :data:`COLUMNS`.

    Args:
        fragmented: table ``kernel/fragmented/fragmented.csv``; its control is left out.
        placements: rows of ``studies/numa/placements.csv`` of one workload and platform that succeeded.
        archived: rows of the archive in use; may be empty, then there are no published shares.
    """
    shares = [
        (f"guest, {row.blocks} blocks", row.configuration, float(row.share), "measured")
        for row in ok_rows(fragmented).itertuples()
        if row.least_index > 0
    ]
    published = math.nan
    if len(archived):
        implied = {name: of.get(PROGRAM) for name, of in implied_shares(archived).items()}
        shares += [
            ("archive", f"T{name}", float(share), "published")
            for name, share in implied.items()
            if share is not None and 0 <= share <= 1
        ]
        cycles = cycles_of(archived, FRAGMENTED, "runtime", "2MB")
        quotient = column(cycles, REMOTE) / column(cycles, REMOTE + MIGRATED)
        published = float(quotient.get(PROGRAM, math.nan))
    rows = [
        (*known, *(gain(placements, known[2], f"{what}_cycles") for what in ("walk", "runtime")), published)
        for known in shares
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS))
