"""What Tessera's own kernel and allocator cost, measured.

Replicated page tables in the guest (tables of ``tessera lab run kernel-table4`` to ``table6``), and the
allocator against glibc in real runs on this machine (``host/allocator.csv``).
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from tessera.core.files import repo_root
from tessera.core.results.kernel_tables import COST_UPDATES, TABLE4_MEASURED, TABLE5, TABLE6
from tessera.core.results.machine_tables import ALLOCATOR
from tessera.core.results.outcomes import is_ok, part_outcomes
from tessera.core.results.schema import Table
from tessera.core.units import MB
from tessera.lab.allocator_proof.overhead import overheads
from tessera.lab.kernel import ALL_PARTS
from tessera.lab.kernel.cost_experiments import table_bytes
from tessera.report.claims import selection
from tessera.report.claims.claim import GUEST, Missing, Outcome
from tessera.report.claims.registry import evaluator
from tessera.report.claims.selection import aggregate
from tessera.report.evaluators.real_machines import THIS_MACHINE

# What replicated page tables cost in the guest: tables of ``tessera lab run kernel-table4`` to ``table6``.
#
# Instructions are counted under emulation; they say how much more work the kernel does, not how long a
# processor takes for it.

OFF_COLUMN = "off_ratio"
REPLICATED_COLUMN = "replicated_ratio"


def kernel_table(evidence, declared: Table, columns: tuple[str, ...]) -> pd.DataFrame:
    """A table of the kernel with these columns filled in every row, and every row measured.

    Raises:
        Missing: no such table (with what its part said, if that failed), or one with other columns or gaps.
    """
    _refuse_failed(evidence, declared.place(evidence.tree))
    table = evidence.table(declared, ALL_PARTS)
    empty = [name for name in columns if table[name].isin([None, ""]).any() or table[name].isna().any()]
    if empty:
        raise Missing(f"{declared.pattern} has rows without {', '.join(empty)}", ALL_PARTS)
    if "provenance" in table and set(table["provenance"]) != {"measured"}:
        raise Missing(f"{declared.pattern} has rows that were not measured", ALL_PARTS)
    return table


def _refuse_failed(evidence, path: Path) -> None:
    """A part may fail and leave a table that shows why; only where it left none is there nothing to judge."""
    part = path.parent.name
    outcome = part_outcomes(evidence.tree.kernel_parts).get(part)
    if outcome and not is_ok(outcome) and not path.exists():
        lines = [line for line in outcome["message"].splitlines() if "what to do:" not in line]
        said = lines[-1].strip().replace(f"{repo_root()}/", "") if lines else "it said nothing"
        raise Missing(f"part {part} of the kernel's results failed: {said}", ALL_PARTS)


@evaluator(ours=True)
def kernel_account_error(claim, evidence) -> Outcome:
    """Largest difference between the kernel's account of page tables and the function of 8.3.1, bytes."""
    columns = ("footprint_bytes", "copies", "page_table_bytes", "provenance")
    table = kernel_table(evidence, TABLE4_MEASURED, columns)
    one = table["footprint_bytes"].map(lambda size: table_bytes(int(size)))
    return Outcome(float((table["page_table_bytes"] - table["copies"] * one).abs().max()), "measured", GUEST)


@evaluator(ours=True)
def instruction_ratio(claim, evidence, operation: str, how: str) -> Outcome:
    """Instructions with 4 copies over those with the mechanism off, over all regions."""
    table = _operations(evidence, REPLICATED_COLUMN)
    rows = table[table["operation"] == operation]
    if rows.empty:
        raise Missing(f"{TABLE5.pattern} has no row of {operation}", ALL_PARTS)
    return Outcome(aggregate(rows[REPLICATED_COLUMN], how), "measured", GUEST)


@evaluator(ours=True)
def instruction_ratio_off(claim, evidence, how: str) -> Outcome:
    """Instructions of the patched kernel, switched off, over the unpatched kernel's, for all operations."""
    return Outcome(aggregate(_operations(evidence, OFF_COLUMN)[OFF_COLUMN], how), "measured", GUEST)


@evaluator(ours=True)
def instruction_ratios(claim, evidence, region: str) -> Outcome:
    """Instructions with 4 copies over those with the mechanism off, by operation, for one region."""
    table = _operations(evidence, REPLICATED_COLUMN)
    rows = table[table["region"] == region]
    found = {
        name: float(value) for name, value in zip(rows["operation"], rows[REPLICATED_COLUMN], strict=True)
    }
    if set(found) != set(claim.published):
        raise Missing(f"{TABLE5.pattern} lacks operations of {region}", ALL_PARTS)
    return Outcome(found, "measured", GUEST)


@evaluator(ours=True)
def whole_run_overhead(claim, evidence, how: str) -> Outcome:
    """Instructions that 4 copies add to a whole run, percent."""
    table = kernel_table(evidence, TABLE6, ("program", "overhead_percent", "provenance"))
    return Outcome(aggregate(table["overhead_percent"], how), "measured", GUEST)


@evaluator(ours=True)
def references_per_copy(claim, evidence, operation: str, pages: str) -> Outcome:
    """Loads and stores that one more copy adds to the update of an entry; the largest of the steps."""
    columns = ("operation", "pages", "copies", "added_references", "provenance")
    table = kernel_table(evidence, COST_UPDATES, columns)
    # 0 and 1: without copies, the mechanism off and on.
    rows = table[(table["operation"] == operation) & (table["pages"] == pages) & (table["copies"] >= 2)]
    steps = rows.sort_values("copies")["added_references"].diff().dropna()
    if steps.empty:
        raise Missing(f"{COST_UPDATES.pattern} has no copies of {pages} entries by {operation}", ALL_PARTS)
    return Outcome(float(steps.max()), "measured", GUEST)


def _operations(evidence, column: str) -> pd.DataFrame:
    columns = ("operation", "region", column, "provenance")
    return kernel_table(evidence, TABLE5, columns)


# What Tessera's allocator costs against glibc (``host/allocator.csv``), in real runs on this machine.
#
# ``tessera lab allocator overhead``, a rule of the main job, writes the table. The papers measure another
# allocator.

COMPARE = "./run tessera lab allocator overhead --out results/default/host/allocator.csv"
COLUMNS = {"memory": "memory_bytes", "runtime": "cpu_ns"}


@evaluator(ours=True)
def allocator_overhead(claim, evidence, quantity: str, how: str) -> Outcome:
    """Overhead of the allocator against glibc, percent; per workload the median of its pairs."""
    return _measured(100 * _costs(evidence, quantity)["overhead"], how)


@evaluator(ours=True)
def allocator_extra_memory(claim, evidence, how: str) -> Outcome:
    """Memory that the allocator needs beyond glibc's, MB; per workload the difference of the medians."""
    rows = _costs(evidence, "memory")
    return _measured((rows["mosalloc"] - rows["glibc"]) / MB, how)


def _costs(evidence, quantity: str):
    table = overheads(evidence.table(ALLOCATOR, COMPARE))
    table = table[table["quantity"] == COLUMNS[quantity]]
    if table.empty:
        raise Missing("host/allocator.csv has no complete pair of runs with glibc and with mosalloc", COMPARE)
    return table


def _measured(values, how: str) -> Outcome:
    spread = selection.describe_distribution(list(values), how, "programs")
    return Outcome(aggregate(values, how), "measured", THIS_MACHINE, distribution=spread)
