"""Cost of a program with a share of its memory in 2MB pages, from its costs with pages of one size.

If accesses are uniform, a share p of them goes to 2MB pages, so C = p x C(2MB) + (1 - p) x C(4KB), and R in
the same way (Mitosis, Figure 11; the shares that its archive implies:
:mod:`tessera.numa.arithmetic.coverage`).
Not modelled: entries of both page sizes compete for one STLB, and for the caches.
"""

from __future__ import annotations

import pandas as pd

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.numa.judged import DECIDING
from tessera.numa.placement import MIGRATED

REMOTE = "RPI-LD"


def mixed(small: float, large: float, share: float) -> float:
    """Cycles with this share of 2MB pages.

    Raises:
        TesseraError: a share outside 0 to 1.
    """
    if not 0 <= share <= 1:
        raise TesseraError(
            "share of 2MB pages", f"it is {share}", "give a share from 0 to 1", code="numa-share"
        )
    return share * large + (1 - share) * small


def gain(rows: pd.DataFrame, share: float, column: str, configuration: str = REMOTE) -> float:
    """Cycles of a configuration over those with its tables moved (+M), with this share of 2MB pages.

    Args:
        rows: rows of ``studies/numa/placements.csv`` of one workload and platform.
        column: ``walk_cycles`` or ``runtime_cycles``.

    Raises:
        TesseraError: a row is missing or has no such cycles, or a share outside 0 to 1.
    """
    return _cycles(rows, share, column, configuration) / _cycles(
        rows, share, column, configuration + MIGRATED
    )


def _cycles(rows: pd.DataFrame, share: float, column: str, configuration: str) -> float:
    chosen = rows[(rows["configuration"] == configuration) & rows["assumption"].fillna("").isin(DECIDING)]
    by_size = chosen.dropna(subset=[column]).drop_duplicates("page_size").set_index("page_size")[column]
    if not {"4KB", "2MB"} <= set(by_size.index):
        raise TesseraError(
            f"{column} of {configuration} with 4KB and with 2MB pages",
            f"there are those with {', '.join(by_size.index) or 'none'}",
            "simulate them: tessera numa placements",
            exit_code=EXIT_FAILED,
            code="numa-mixed",
        )
    return mixed(float(by_size["4KB"]), float(by_size["2MB"]), share)
