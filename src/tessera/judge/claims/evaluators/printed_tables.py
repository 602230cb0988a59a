"""Checks of one particular published table: counters of xalancbmk, overheads, cross-validation."""

from __future__ import annotations

import pandas as pd

from tessera.judge.claims.outcome import Outcome

OVERHEADS = "opera_table4_overheads"


def published_slope(claim, evidence, table: str) -> Outcome:
    """Runtime difference over walk-cycle difference between the 4KB and the 2MB run."""

    def difference(counter: str) -> float:
        rows = evidence.rows(table, {"counter": counter}).set_index("page_size")["value"]
        return rows["4KB"] - rows["2MB"]

    return Outcome(difference("runtime_cycles") / difference("walk_cycles"), "published")


def published_walk_latency(claim, evidence) -> Outcome:
    """Walker loads of the 4KB run times the latencies of Broadwell's caches, 1e9 cycles."""
    total = 0.0
    for level, latency in (("l1d", "l1d_latency"), ("l2", "l2_latency"), ("l3", "l3_latency_low")):
        loads = {"counter": f"{level}_loads", "agent": "walker", "page_size": "4KB"}
        cycles = {"generation": "broadwell", "quantity": latency}
        total += evidence.number({"table": "opera_table6_xalancbmk", "where": loads}) * (
            evidence.number({"table": "opera_platforms", "where": cycles})
        )
    return Outcome(total, "published")


def published_tables_differ(claim, evidence, first: str, second: str) -> Outcome:
    """Largest difference between two tables of counters, over the rows that both have."""
    keys = ["counter", "agent", "page_size"]
    both = evidence.rows(first).merge(evidence.rows(second), on=keys)
    return Outcome(float((both["value_x"] - both["value_y"]).abs().max()), "published")


def published_cv_over_all(claim, evidence, models: list) -> Outcome:
    """Smallest ratio of printed cross-validation error to printed error on all data."""
    folded = evidence.rows("table6_cv_errors", {"model": models}).set_index("model")["value"]
    where = {"model": models, "location": "Figure 2b"}
    fitted = evidence.rows("printed_errors", where).set_index("model")["value"]
    return Outcome(float((folded / fitted)[models].min()), "published")


def reprinted_overheads(claim, evidence, quantity: str, half_digit: float) -> Outcome:
    """Rows whose printed overhead no unrounded pair of numbers explains (percent, whole)."""
    table = _overheads(evidence, quantity)
    low = 100 * ((table["mosalloc"] - half_digit) / (table["glibc"] + half_digit) - 1) - 0.5
    high = 100 * ((table["mosalloc"] + half_digit) / (table["glibc"] - half_digit) - 1) + 0.5
    return Outcome(int(((table["overhead"] < low) | (table["overhead"] > high)).sum()), "published")


def printed_fixed_overhead(claim, evidence) -> Outcome:
    """Median difference of the printed footprints, MB (1000 to the GB)."""
    table = _overheads(evidence, "memory")
    return Outcome(float((table["mosalloc"] - table["glibc"]).median() * 1000), "published")


def printed_overhead_from(claim, evidence, smallest_gb: float) -> Outcome:
    """Largest printed memory overhead among programs of at least ``smallest_gb``, percent."""
    table = _overheads(evidence, "memory")
    return Outcome(float(table.loc[table["glibc"] >= smallest_gb, "overhead"].max()), "published")


def _overheads(evidence, quantity: str) -> pd.DataFrame:
    rows = evidence.rows(OVERHEADS, {"quantity": quantity})
    return rows.pivot(index="workload", columns="allocator", values="value")


EVALUATORS = {
    "published_slope": published_slope,
    "published_walk_latency": published_walk_latency,
    "published_tables_differ": published_tables_differ,
    "published_cv_over_all": published_cv_over_all,
    "reprinted_overheads": reprinted_overheads,
    "printed_fixed_overhead": printed_fixed_overhead,
    "printed_overhead_from": printed_overhead_from,
}
