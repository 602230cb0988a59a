"""What the study of designs found, in one sentence for each mapping, from its tables."""

from __future__ import annotations

import pandas as pd

from tessera.judge.studies.designs.catalogue import BASELINE, IDEAL, behind_l3


def fewest(cells: pd.DataFrame) -> list[str]:
    """For each mapping the design with the smallest median of misses relative to the baseline."""
    other = cells["design"].isin((BASELINE, IDEAL)) | cells["design"].map(behind_l3)
    rows = cells[cells["misses_to_baseline_percent"].notna() & ~other]
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
