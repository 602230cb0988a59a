"""Where page tables lie in the guest (``kernel/placement/placement.csv``), as section 3.1 of Mitosis asks.

Policy and first touch decide it, not the processor: a guest with four nodes answers for any machine with
four. Shares are in percent. Without replicas every socket walks the home tables; with them each walks its
own tree, or the home tables where it has none.
"""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from tessera.judge.claims.evaluators.kernel_cost import kernel_table
from tessera.judge.claims.outcome import GUEST, PLACEMENT, Missing, Outcome
from tessera.judge.claims.selection import aggregate
from tessera.kernel import ALL_PARTS
from tessera.kernel.placement import HOME, remote_leaf_share
from tessera.results.schema.kernel import PLACEMENT as PLACES_TABLE

LEAVES = 1


def first_touch_of_one(claim, evidence, workload: str) -> Outcome:
    """Smallest share of remote leaf entries over all sockets but the one that finds fewest (first touch)."""
    ((_, seen),) = _runs(evidence, "F", [workload])
    return _measured(100 * float(_seen_by_socket(seen).sort_values().iloc[1]))


def remote_leaves(claim, evidence, config: str, how: str) -> Outcome:
    """Share of remote leaf entries over all sockets and workloads of a configuration."""
    return _measured(aggregate(_all_seen(evidence, config), how))


def pooled_remote_leaves(claim, evidence, config: str) -> Outcome:
    """Share of home leaf entries that lie elsewhere, for the socket furthest from the published share.

    Over the entries of all runs of a configuration without replicas together.
    """
    shares = 100 - _pooled(evidence, config, "pointers")
    return _measured(max(shares, key=lambda share: abs(share - claim.published)))


def remote_pointers(claim, evidence, config: str, workloads: list, how: str) -> Outcome:
    """Leaf entries that point to another socket than their table's, over workloads (an empty list: all)."""
    return _measured(aggregate(_pointing_away(evidence, config, workloads), how))


def remote_pointers_furthest(claim, evidence, config: str) -> Outcome:
    """Of the workloads' shares of leaf entries that point away, the one furthest from the published one."""
    shares = _pointing_away(evidence, config, [])
    return _measured(max(shares, key=lambda share: abs(share - claim.published)))


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


def fullest_socket(claim, evidence, config: str, workloads: list, how: str) -> Outcome:
    """Share of the leaf tables that lies on the socket with most of them, over workloads (empty: all)."""
    return _measured(aggregate([_spread(seen).max() for _, seen in _runs(evidence, config, workloads)], how))


def unevenness(claim, evidence, config: str) -> Outcome:
    """Furthest that a socket's share of the leaf tables is from an even share, percentage points.

    Over the tables of all runs of a configuration together: each thread takes the nodes in turn by a count of
    its own, so that the few tables of a single run scatter.
    """
    shares = _pooled(evidence, config, "pages")
    return _measured(float((shares - 100 / len(shares)).abs().max()))


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
    table = kernel_table(evidence, PLACES_TABLE, PLACES_TABLE.names)
    table = table[table["config"] == config]
    lacking = sorted(set(workloads) - set(table["workload"])) or ([] if len(table) else ["any workload"])
    if lacking:
        raise Missing(f"{PLACES_TABLE.pattern} has no run of {', '.join(lacking)} with {config}", ALL_PARTS)
    for workload, seen in table.groupby("workload", sort=False):
        if not workloads or workload in workloads:
            yield workload, seen


def _seen_by_socket(seen: pd.DataFrame) -> pd.Series:
    shares = remote_leaf_share(seen, sorted(set(seen["socket"])))
    if shares.isna().any() or len(shares) < 2:
        raise Missing(f"{PLACES_TABLE.pattern}: a run has no leaf entries, or one socket only", ALL_PARTS)
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
        raise Missing(f"{PLACES_TABLE.pattern}: a process without {column}", ALL_PARTS)
    return int(rows[column].sum())


EVALUATORS = {
    "first_touch_of_one": first_touch_of_one,
    "remote_leaves": remote_leaves,
    "pooled_remote_leaves": pooled_remote_leaves,
    "remote_pointers": remote_pointers,
    "remote_pointers_furthest": remote_pointers_furthest,
    "remote_tables": remote_tables,
    "fullest_socket": fullest_socket,
    "unevenness": unevenness,
    "leaves_per_upper_entry": leaves_per_upper_entry,
}
