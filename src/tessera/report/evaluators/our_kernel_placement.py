"""Where page tables and data lie in a guest with our kernel, as sections 3.1 and 8 of Mitosis ask.

From ``kernel/placement/placement.csv``, ``kernel/balancing/balancing.csv``, and the guest's maps of a
program.
"""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from tessera.core.errors import TesseraError
from tessera.core.results import kernel_tables
from tessera.core.results.kernel_tables import BALANCING, FRAGMENTED, MAPS
from tessera.core.results.outcomes import other_rows
from tessera.core.results.schema import Table
from tessera.lab.kernel import ALL_PARTS
from tessera.lab.kernel.page_tables import HOME, remote_leaf_share
from tessera.lab.kernel.placement_experiments import MOMENTS
from tessera.lab.numa.fragmented_memory import FREE
from tessera.lab.numa.guest_map_study import DIFFERENT
from tessera.lab.numa.mitosis_figures import mixed_gain
from tessera.report.claims.claim import GUEST, PLACEMENT, Missing, Outcome
from tessera.report.claims.registry import evaluator
from tessera.report.claims.selection import aggregate
from tessera.report.evaluators.numa_placements import PROVENANCE, simulated_rows
from tessera.report.evaluators.our_system_cost import kernel_table

# Where page tables lie in the guest (``kernel/placement/placement.csv``), as section 3.1 of Mitosis asks.
#
# Policy and first touch decide it, not the processor: a guest with four nodes answers for any machine with
# four. Shares are in percent. Without replicas every socket walks the home tables; with them each walks its
# own tree, or the home tables where it has none.

LEAVES = 1


@evaluator(ours=True)
def first_touch_of_one(claim, evidence, workload: str) -> Outcome:
    """Smallest share of remote leaf entries over all sockets but the one that finds fewest (first touch)."""
    ((_, seen),) = _runs(evidence, "F", [workload])
    return _measured(100 * float(_seen_by_socket(seen).sort_values().iloc[1]))


@evaluator(ours=True)
def remote_leaves(claim, evidence, config: str, how: str) -> Outcome:
    """Share of remote leaf entries over all sockets and workloads of a configuration."""
    return _measured(aggregate(_all_seen(evidence, config), how))


@evaluator(ours=True)
def pooled_remote_leaves(claim, evidence, config: str) -> Outcome:
    """Share of home leaf entries that lie elsewhere, for the socket furthest from the published share.

    Over the entries of all runs of a configuration without replicas together.
    """
    shares = 100 - _pooled(evidence, config, "pointers")
    return _measured(max(shares, key=lambda share: abs(share - claim.published)))


@evaluator(ours=True)
def remote_pointers(claim, evidence, config: str, workloads: list, how: str) -> Outcome:
    """Leaf entries that point to another socket than their table's, over workloads (an empty list: all)."""
    return _measured(aggregate(_pointing_away(evidence, config, workloads), how))


@evaluator(ours=True)
def remote_pointers_furthest(claim, evidence, config: str) -> Outcome:
    """Of the workloads' shares of leaf entries that point away, the one furthest from the published one."""
    shares = _pointing_away(evidence, config, [])
    return _measured(max(shares, key=lambda share: abs(share - claim.published)))


@evaluator(ours=True)
def remote_tables(claim, evidence, config: str) -> Outcome:
    """Largest share of tables, of any level, that a socket finds elsewhere when it walks."""
    worst = 0.0
    for _, seen in _runs(evidence, config, []):
        for socket in sorted(set(seen["socket"])):
            own = seen[seen["observer"].astype(str) == str(socket)]
            tables = _tables(own if len(own) else seen[seen["observer"] == HOME])
            elsewhere = tables[tables["socket"] != socket]["pages"].sum()
            worst = max(worst, 100 * float(elsewhere) / _total(tables, "pages"))
    return _measured(worst)


@evaluator(ours=True)
def fullest_socket(claim, evidence, config: str, workloads: list, how: str) -> Outcome:
    """Share of the leaf tables that lies on the socket with most of them, over workloads (empty: all)."""
    return _measured(aggregate([_spread(seen).max() for _, seen in _runs(evidence, config, workloads)], how))


@evaluator(ours=True)
def unevenness(claim, evidence, config: str) -> Outcome:
    """Furthest that a socket's share of the leaf tables is from an even share, percentage points.

    Over the tables of all runs of a configuration together: each thread takes the nodes in turn by a count of
    its own, so that the few tables of a single run scatter.
    """
    shares = _pooled(evidence, config, "pages")
    return _measured(float((shares - 100 / len(shares)).abs().max()))


@evaluator(ours=True)
def leaves_per_upper_entry(claim, evidence, config: str, how: str) -> Outcome:
    """Present leaf entries for each present entry of the levels above, over workloads."""
    ratios = []
    for _, seen in _runs(evidence, config, []):
        home = seen[seen["observer"] == HOME]
        leaves = home[home["level"] == LEAVES]["pointers"].sum()
        ratios.append(leaves / _total(home[home["level"] > LEAVES], "pointers"))
    return _measured(aggregate(ratios, how))


def _measured(value: float) -> Outcome:
    return Outcome(float(value), "measured", GUEST, PLACEMENT)


def _runs(evidence, config: str, workloads: list) -> Iterator[tuple[str, pd.DataFrame]]:
    """(workload, its rows) of a configuration; every one of ``workloads`` is there."""
    table = kernel_table(evidence, kernel_tables.PLACEMENT, kernel_tables.PLACEMENT.names)
    table = table[table["config"] == config]
    lacking = sorted(set(workloads) - set(table["workload"])) or ([] if len(table) else ["any workload"])
    if lacking:
        raise Missing(
            f"{kernel_tables.PLACEMENT.pattern} has no run of {', '.join(lacking)} with {config}", ALL_PARTS
        )
    for workload, seen in table.groupby("workload", sort=False):
        if not workloads or workload in workloads:
            yield workload, seen


def _seen_by_socket(seen: pd.DataFrame) -> pd.Series:
    shares = remote_leaf_share(seen, sorted(set(seen["socket"])))
    if shares.isna().any() or len(shares) < 2:
        raise Missing(
            f"{kernel_tables.PLACEMENT.pattern}: a run has no leaf entries, or one socket only", ALL_PARTS
        )
    return shares


def _all_seen(evidence, config: str) -> list[float]:
    return [100 * share for _, seen in _runs(evidence, config, []) for share in _seen_by_socket(seen)]


def _pointing_away(evidence, config: str, workloads: list) -> list[float]:
    """Of each workload's home leaf entries those to another socket, percent."""
    shares = []
    for _, seen in _runs(evidence, config, workloads):
        leaves = _home_leaves(seen)
        away = leaves[leaves["socket"] != leaves["target_socket"]]["pointers"].sum()
        shares.append(100 * float(away) / _total(leaves, "pointers"))
    return shares


def _tables(rows: pd.DataFrame) -> pd.DataFrame:
    """One row a level and socket: ``pages`` repeats over targets."""
    return rows.drop_duplicates(["level", "socket"])


def _home_leaves(seen: pd.DataFrame) -> pd.DataFrame:
    return seen[(seen["observer"] == HOME) & (seen["level"] == LEAVES)]


def _spread(seen: pd.DataFrame) -> pd.Series:
    """Share of the home leaf tables on each socket, percent."""
    leaves = _tables(_home_leaves(seen)).set_index("socket")
    return 100 * leaves["pages"] / _total(leaves, "pages")


def _pooled(evidence, config: str, column: str) -> pd.Series:
    """Share of the home leaf tables (``pages``) or entries (``pointers``) of all runs by socket, percent."""
    parts = [_home_leaves(seen) for _, seen in _runs(evidence, config, [])]
    rows = pd.concat([_tables(part) for part in parts] if column == "pages" else parts)
    return 100 * rows.groupby("socket")[column].sum() / _total(rows, column)


def _total(rows: pd.DataFrame, column: str) -> int:
    """Sum of ``pages`` or ``pointers``; never zero."""
    if not rows[column].sum():
        raise Missing(f"{kernel_tables.PLACEMENT.pattern}: a process without {column}", ALL_PARTS)
    return int(rows[column].sum())


# A process that moved to another socket, and its data after it (``kernel/balancing/balancing.csv``).
#
# The kernel decides what moves, not the processor: a guest answers for any machine with several sockets. If
# the process did not move, or its data did not follow, the table decides nothing.

#: Share of the data on the process's socket at each moment; the program waits for as much.
LEAST_LOCAL = 0.99


@evaluator(ours=True)
def moved_tables(claim, evidence) -> Outcome:
    """Page tables that lie elsewhere than before, after automatic NUMA balancing moved the data."""
    return _measured(_moments(evidence).loc["balanced", "moved_home_tables"])


@evaluator(ours=True)
def remote_share_at(claim, evidence, moment: str) -> Outcome:
    """Share of the leaf entries that the process finds on other sockets at a moment, percent."""
    row = _moments(evidence).loc[moment]
    return _measured(100 * row["remote_leaf_entries"] / row["leaf_entries"])


def _moments(evidence) -> pd.DataFrame:
    """The row of each moment, by its name."""
    table = kernel_table(evidence, BALANCING, BALANCING.names)
    if tuple(table["moment"]) != MOMENTS:
        found = ", ".join(table["moment"]) or "no row"
        raise Missing(f"{BALANCING.pattern} has {found} in place of {', '.join(MOMENTS)}", ALL_PARTS)
    rows = table.set_index("moment")
    if rows.loc["before", "socket"] == rows.loc["balanced", "socket"]:
        raise Missing(f"{BALANCING.pattern}: the process stayed on its socket", ALL_PARTS)
    if (rows[["data_pages", "home_tables", "leaf_entries"]] <= 0).any(axis=None):
        raise Missing(f"{BALANCING.pattern}: a process without data or page tables", ALL_PARTS)
    for moment, row in rows.iterrows():
        if row["local_data_pages"] < LEAST_LOCAL * row["data_pages"]:
            said = f"{row['local_data_pages']} of {row['data_pages']} data pages are on the process's socket"
            raise Missing(f"{BALANCING.pattern}, {moment}: only {said}", ALL_PARTS)
    return rows


# What a guest with our kernel shows about a program: its maps, and its 2MB pages (Mitosis Figure 11).
#
# ``kernel/maps/maps.csv`` and ``kernel/fragmented/fragmented.csv`` are measured there. For the speedup in
# fragmented memory, the share of 2MB pages is measured, and the costs of both page sizes are simulated
# (``studies/numa/placements.csv``).

CONFIGURATION = "TRP-LD"  #: of Figure 11, without its hog, which changes no page


@evaluator(ours=True)
def guest_map_differences(claim, evidence) -> Outcome:
    """Pages and tables that differ between the guest's maps and the rules', over all rules."""
    rows = _successful_rows(evidence, MAPS)
    return Outcome(float(rows[list(DIFFERENT)].to_numpy().sum()), "measured", GUEST)


@evaluator(ours=True)
def fragmented_over_free(claim, evidence) -> Outcome:
    """Greatest quotient of the program's bytes in 2MB pages and the free bytes that may be such pages.

    These are blocks of 2MB and more, and all pages in lists of processors.
    """
    rows = _fragmented(evidence, FREE)
    free = rows["large_free_bytes"] + rows["listed_bytes"]
    return Outcome(float((rows["large_data_bytes"] / free).max()), "measured", GUEST)


@evaluator(ours=True)
def fragmented_speedup(claim, evidence, blocks: str) -> Outcome:
    """Runtime with remote tables over that after they moved, with the guest's share of 2MB pages."""
    rows = _fragmented(evidence, blocks)
    rows = rows[rows["configuration"] == CONFIGURATION]
    if len(rows) != 1:
        raise Missing(
            f"{FRAGMENTED.pattern} has {len(rows)} rows of {CONFIGURATION} with {blocks}", ALL_PARTS
        )
    try:
        found = mixed_gain(simulated_rows(evidence), float(rows["share"].iloc[0]), "runtime_cycles")
    except TesseraError as error:
        raise Missing(f"{error.asked}: {error.found}") from None
    return Outcome(found, PROVENANCE)


def _fragmented(evidence, blocks: str) -> pd.DataFrame:
    """Rows of runs in memory that was fragmented."""
    rows = _successful_rows(evidence, FRAGMENTED)
    rows = rows[(rows["blocks"] == blocks) & (rows["least_index"] > 0)]
    if rows.empty:
        raise Missing(f"{FRAGMENTED.pattern} has no run in fragmented memory with {blocks}", ALL_PARTS)
    return rows


def _successful_rows(evidence, table: Table) -> pd.DataFrame:
    """All rows of a table; each of them succeeded."""
    rows = kernel_table(evidence, table, ("workload", "status", "provenance"))
    failed = other_rows(rows)
    if len(failed) or rows.empty:
        said = failed["message"].iloc[0] if len(failed) else "it has no row"
        raise Missing(f"{len(failed)} runs of {table.pattern} failed: {said}", ALL_PARTS)
    return rows
