"""Checks of the archive's and the paper's numbers against algebra; a file and a line here for each.

Verdicts are CONSISTENT and CONTRADICTED: proof-reading, no finding about a mechanism.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pandas as pd

from tessera.numa.archive import Archive
from tessera.numa.arithmetic.additive import additive
from tessera.numa.arithmetic.bounds import bounds
from tessera.numa.arithmetic.check import COLUMNS, CONSISTENT, CONTRADICTED, Check
from tessera.numa.arithmetic.coverage import coverage
from tessera.numa.arithmetic.printed import printed_values
from tessera.numa.arithmetic.table6 import table6
from tessera.numa.arithmetic.unchanged import unchanged
from tessera.numa.arithmetic.waits import waits

#: name on the command line -> checks
PARTS: dict[str, Callable[[Archive], Iterable[Check]]] = {
    "additive": additive,
    "unchanged": unchanged,
    "waits": waits,
    "bounds": bounds,
    "table6": table6,
    "coverage": coverage,
    "printed": printed_values,
}


def arithmetic(archive: Archive, parts: Iterable[str] = PARTS) -> pd.DataFrame:
    """Rows of the named parts; columns are ``part`` and :data:`tessera.numa.arithmetic.check.COLUMNS`."""
    rows = [[name, *check.row()] for name in parts for check in PARTS[name](archive)]
    return pd.DataFrame(rows, columns=["part", *COLUMNS])


__all__ = ["CONSISTENT", "CONTRADICTED", "PARTS", "arithmetic"]
