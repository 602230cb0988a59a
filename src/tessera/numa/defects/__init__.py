"""Suspicious places of the archive: a rule each, a function of the archive and a line in :data:`RULES`.

Rules describe defects and name no workload, so a corrected archive passes. They look at all rows, also at
those in quarantine. A finding sets no number aside: :mod:`tessera.reference.quarantine` does that for numbers
that cannot be correct. It has the rules for files that repeat each other, copied rows, lost digits, and
Tables 5 and 6.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import astuple

import pandas as pd

from tessera.numa.archive import Archive
from tessera.numa.defects.finding import COLUMNS, Finding
from tessera.numa.defects.not_additive import not_additive
from tessera.numa.defects.not_restored import not_restored, slower_when_moved
from tessera.numa.defects.remote_shares import remote_shares
from tessera.numa.defects.unequal_waits import unequal_waits

Rule = Callable[[Archive], Iterable[Finding]]
RULES: tuple[Rule, ...] = (remote_shares, unequal_waits, not_additive, not_restored, slower_when_moved)


def defects(archive: Archive) -> pd.DataFrame:
    """Findings of all rules; columns are :data:`tessera.numa.defects.finding.COLUMNS`."""
    rows = [[rule.__name__, *astuple(finding)] for rule in RULES for finding in rule(archive)]
    return pd.DataFrame(rows, columns=list(COLUMNS))


__all__ = ["RULES", "Finding", "defects"]
