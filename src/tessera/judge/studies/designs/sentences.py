"""What the study of designs found, in one sentence for each mapping, from its tables."""

from __future__ import annotations

import pandas as pd

from tessera.judge.studies.designs.catalogue import BASELINE, IDEAL

#: Their misses are reads of tables behind L3, so they are no misses of a TLB before L1D.
BEHIND_L3 = ("hvc-delayed-tlb", "hvc-many-segment")


def fewest(cells: pd.DataFrame) -> list[str]:
    """For each mapping the design with the smallest median of misses relative to the baseline."""
    rows = cells[
        cells["misses_to_baseline_percent"].notna() & ~cells["design"].isin((BASELINE, IDEAL, *BEHIND_L3))
    ]
    found = []
    for mapping, part in rows.groupby("mapping", sort=False):
        workloads = part["workload"].nunique()
        by_design = part.groupby("design", sort=False)["misses_to_baseline_percent"]
        whole = by_design.count() == workloads  # a median over fewer workloads is of other programs
        left = (100 + by_design.median())[whole].sort_values(kind="stable")
        if len(left) < 2:
            continue
        first, second = left.index[:2]
        found.append(
            f"Mapping {mapping}: {first} leaves the fewest misses, {left.iloc[0]:.1f}% of the baseline's "
            f"(median of {workloads} workloads); then {second} with {left.iloc[1]:.1f}%."
        )
    return found
