"""TLB sensitivity decides which workloads are analysed on which platform (MICRO'20 section VI-A).

The paper keeps a workload on a machine if 1GB pages improve its runtime by at least 5%; on Broadwell this
drops bfs-road. Dropped pairs stay in the cells and on the pages of workloads. Model errors, claims about
models, and figures of models do not use them. A pair without a good 4KB or 1GB cell cannot be judged and is
kept.
"""

from __future__ import annotations

import pandas as pd

from tessera.layouts.names import ALL_1GB, ALL_4KB

THRESHOLD = 0.05  #: improvement of the runtime with 1GB pages, as a fraction of that with 4KB pages
COLUMNS = ("workload", "platform", "improvement", "sensitive", "analysed", "reason")


def judge(cells: pd.DataFrame) -> pd.DataFrame:
    """One row per pair of workload and platform in ``cells`` (good rows with canonical layout names).

    Columns (:data:`COLUMNS`): ``improvement`` is a fraction (empty if unknown), ``sensitive`` is ``yes``,
    ``no`` or empty, ``analysed`` a truth value, ``reason`` says why a pair is dropped or not judged.
    """
    rows = cells[cells["runtime_cycles"].notna()]
    runtimes = rows.groupby(["workload", "platform", "layout"])["runtime_cycles"].mean()
    pairs = rows[["workload", "platform"]].drop_duplicates().itertuples(index=False, name=None)
    return pd.DataFrame([_judged(*pair, runtimes) for pair in sorted(pairs)], columns=list(COLUMNS))


def _judged(workload: str, platform: str, runtimes: pd.Series) -> tuple:
    try:
        small, large = (float(runtimes[workload, platform, layout]) for layout in (ALL_4KB, ALL_1GB))
    except KeyError:
        return workload, platform, None, "", True, f"not judged: no good {ALL_4KB} or {ALL_1GB} cell"
    gain = 1 - large / small
    if gain >= THRESHOLD:
        return workload, platform, gain, "yes", True, ""
    reason = f"1GB pages save {100 * gain:.1f}% of the runtime, less than {100 * THRESHOLD:.0f}%"
    return workload, platform, gain, "no", False, reason


def dropped(cells: pd.DataFrame) -> dict[tuple[str, str], str]:
    """(workload, platform) -> reason, of the pairs that are not analysed."""
    table = judge(cells)
    table = table[~table["analysed"].astype(bool)]
    return {(row.workload, row.platform): row.reason for row in table.itertuples()}
