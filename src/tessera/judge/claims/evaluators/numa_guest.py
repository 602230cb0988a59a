"""What a guest with our kernel shows about a program: its maps, and its 2MB pages (Mitosis Figure 11).

``kernel/maps/maps.csv`` and ``kernel/fragmented/fragmented.csv`` are measured there. For the speedup in
fragmented memory, the share of 2MB pages is measured, and the costs of both page sizes are simulated
(``studies/numa/placements.csv``).
"""

from __future__ import annotations

import pandas as pd

from tessera.core.errors import TesseraError
from tessera.judge.claims.evaluators.kernel_cost import kernel_table
from tessera.judge.claims.evaluators.numa_placements import PROVENANCE, simulated_rows
from tessera.judge.claims.outcome import GUEST, Missing, Outcome
from tessera.kernel import ALL_PARTS
from tessera.numa.fragmented import FREE
from tessera.numa.map_study import DIFFERENT
from tessera.numa.mixed import gain
from tessera.results.schema.numa import FRAGMENTED, MAPS
from tessera.results.schema.table import Table
from tessera.results.status import other_rows

CONFIGURATION = "TRP-LD"  #: of Figure 11, without its hog, which changes no page


def guest_map_differences(claim, evidence) -> Outcome:
    """Pages and tables that differ between the guest's maps and the rules', over all rules."""
    rows = _rows(evidence, MAPS)
    return Outcome(float(rows[list(DIFFERENT)].to_numpy().sum()), "measured", GUEST)


def fragmented_over_free(claim, evidence) -> Outcome:
    """Greatest quotient of the program's bytes in 2MB pages and the free bytes that may be such pages.

    These are blocks of 2MB and more, and all pages in lists of processors.
    """
    rows = _fragmented(evidence, FREE)
    free = rows["large_free_bytes"] + rows["listed_bytes"]
    return Outcome(float((rows["large_data_bytes"] / free).max()), "measured", GUEST)


def fragmented_speedup(claim, evidence, blocks: str) -> Outcome:
    """Runtime with remote tables over that after they moved, with the guest's share of 2MB pages."""
    rows = _fragmented(evidence, blocks)
    rows = rows[rows["configuration"] == CONFIGURATION]
    if len(rows) != 1:
        raise Missing(
            f"{FRAGMENTED.pattern} has {len(rows)} rows of {CONFIGURATION} with {blocks}", ALL_PARTS
        )
    try:
        found = gain(simulated_rows(evidence), float(rows["share"].iloc[0]), "runtime_cycles")
    except TesseraError as error:
        raise Missing(f"{error.asked}: {error.found}") from None
    return Outcome(found, PROVENANCE)


def _fragmented(evidence, blocks: str) -> pd.DataFrame:
    """Rows of runs in memory that was fragmented."""
    rows = _rows(evidence, FRAGMENTED)
    rows = rows[(rows["blocks"] == blocks) & (rows["least_index"] > 0)]
    if rows.empty:
        raise Missing(f"{FRAGMENTED.pattern} has no run in fragmented memory with {blocks}", ALL_PARTS)
    return rows


def _rows(evidence, table: Table) -> pd.DataFrame:
    """All rows of a table; each of them succeeded."""
    rows = kernel_table(evidence, table, ("workload", "status", "provenance"))
    failed = other_rows(rows)
    if len(failed) or rows.empty:
        said = failed["message"].iloc[0] if len(failed) else "it has no row"
        raise Missing(f"{len(failed)} runs of {table.pattern} failed: {said}", ALL_PARTS)
    return rows


EVALUATORS = {
    "guest_map_differences": guest_map_differences,
    "fragmented_over_free": fragmented_over_free,
    "fragmented_speedup": fragmented_speedup,
}
