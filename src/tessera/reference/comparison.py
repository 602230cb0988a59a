"""Compare the numbers printed in the Mitosis paper with those in its archive and with ours.

One row per printed number. ``archived`` is computed from rows that no rule put into quarantine; if a number
depends on such rows, ``archived_with_quarantined`` is its value with them. ``agrees`` allows the rounding
of the printed digits. ``obtained`` is our number, with its provenance and unit: instructions, not
cycles, for Table 5.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd

from tessera.core.units import parse_bytes
from tessera.reference.mitosis import PRINTED_REGION
from tessera.reference.tables import load
from tessera.results.read import read_file
from tessera.results.schema.kernel import TABLE5
from tessera.results.schema.shown import REFERENCE
from tessera.results.tree import Tree

#: A statistic of the archived rows; None where they don't hold what it needs.
Statistic = Callable[[pd.DataFrame], float | None]


def _ratios(file: str, over: dict[str, str], workload: str = "") -> Callable[[pd.DataFrame], pd.Series]:
    """Runtime of each configuration (key) over another (value), one number a workload."""

    def compute(rows: pd.DataFrame) -> pd.Series:
        chosen = rows[(rows["file"].str.endswith(file)) & (rows["quantity"] == "runtime")]
        chosen = chosen[chosen["workload"] == workload] if workload else chosen
        wide = chosen.pivot_table(index="workload", columns="configuration", values="value")
        pairs = [(a, b) for a, b in over.items() if a in wide and b in wide]
        return pd.concat([wide[a] / wide[b] for a, b in pairs]).dropna() if pairs else pd.Series(dtype=float)

    return compute


def _walk_share(file: str) -> Callable[[pd.DataFrame], pd.Series]:
    def compute(rows: pd.DataFrame) -> pd.Series:
        chosen = rows[(rows["file"].str.endswith(file)) & (rows["page_size"] == "4KB")]
        wide = chosen.pivot_table(index=["workload", "configuration"], columns="quantity", values="value")
        return (100 * wide["walk"] / wide["runtime"]).dropna() if {"walk", "runtime"} <= set(wide) else wide

    return compute


def _of(series: Callable[[pd.DataFrame], pd.Series], how: str) -> Statistic:
    def compute(rows: pd.DataFrame) -> float | None:
        found = series(rows)
        return float(getattr(found, how)()) if len(found) else None

    return compute


_6, _9, _10 = "figure6_absolute.csv", "figure9a_absolute.csv", "figure10a_absolute.csv"
_LOCAL = "LP-LD"
STATISTICS: dict[str, Statistic] = {
    "walk_share_4kb": _of(_walk_share(_6), "max"),
    "slowdown_remote_data": _of(_ratios(_6, {"LP-RD": _LOCAL, "LP-RDI": _LOCAL}), "max"),
    "slowdown_remote_page_table": _of(_ratios(_6, {"RP-LD": _LOCAL, "RPI-LD": _LOCAL}), "max"),
    "slowdown_all_remote": _of(_ratios(_6, {"RP-RD": _LOCAL, "RPI-RDI": _LOCAL}), "max"),
    "walk_share_multisocket_4kb": _of(_walk_share(_9), "max"),
    "speedup_canneal_4kb": _of(_ratios(_9, {"F": "F+M"}, "Canneal"), "max"),
    "speedup_canneal_2mb": _of(_ratios(_9, {"TF": "TF+M"}, "Canneal"), "max"),
    "speedup_memcached_2mb": _of(_ratios(_9, {"TF": "TF+M"}, "Memcached"), "max"),
    "speedup_btree_2mb": _of(_ratios(_9, {"TF": "TF+M"}, "BTree"), "max"),
    "slowdown_remote_page_table_least": _of(_ratios(_10, {"RPI-LD": _LOCAL}), "min"),
    "slowdown_remote_page_table_most": _of(_ratios(_10, {"RPI-LD": _LOCAL}), "max"),
    "slowdown_remote_page_table_2mb": _of(_ratios(_10, {"TRPI-LD": "TLP-LD"}), "max"),
}


def compare(good: pd.DataFrame, everything: pd.DataFrame, results: Path | None) -> pd.DataFrame:
    """All printed numbers of the paper with archived and obtained ones; columns as in docs/results.md.

    Args:
        good: archived rows that no rule set aside (empty: nothing is archived here).
        everything: the same before the rules.
        results: ``results/<config>``, whose ``kernel/`` tables are ours; None for none.
    """
    rows = []
    for row in _printed_values():
        decimals = len(f"{row['printed']:g}".partition(".")[2])
        rows.append(row | _archived(row, decimals, STATISTICS.get(row["quantity"]), good, everything))
    ours = _instructions(results)
    for row in _printed_operations():  # printed with one decimal, 1.0 included
        found = _archived(row, 1, _overhead(row["quantity"]), good, everything)
        rows.append(row | found | ours.get(row["quantity"], {}))
    return pd.DataFrame(rows).reindex(columns=list(REFERENCE["comparison"].names))


def _archived(row: dict, decimals: int, statistic: Statistic | None, good, everything) -> dict:
    printed, bound = row["printed"], row["bound"]
    if everything.empty:
        return {"archived_status": "nothing archived is here"}
    if statistic is None:
        return {"archived_status": "not in the archive"}
    value, raw = statistic(good), statistic(everything)
    if value is None:
        return {"archived_with_quarantined": raw, "archived_status": "quarantined"}
    slack = 0.5 * 10.0**-decimals
    agrees = value <= printed + slack if bound == "at most" else abs(value - printed) <= slack
    changed = raw is not None and raw != value
    return {
        "archived": value,
        "archived_with_quarantined": raw if changed else None,
        "agrees": agrees,
        "archived_status": "without quarantined rows" if changed else "all rows",
    }


def _printed_values() -> list[dict]:
    frame = load("mitosis_values").rename(columns={"value": "printed"})
    return frame.drop(columns="provenance").to_dict("records")


def _printed_operations() -> list[dict]:
    frame = load("mitosis_table5")
    frame = frame[frame["quantity"] == "overhead"].rename(columns={"value": "printed"})
    names = "overhead of " + frame["operation"] + " " + frame["region"]
    return frame.assign(quantity=names, bound="equal").drop(columns="provenance").to_dict("records")


def _overhead(quantity: str) -> Statistic:
    operation, region = quantity.removeprefix("overhead of ").split()

    def compute(rows: pd.DataFrame) -> float | None:
        found = rows[(rows["workload"] == operation) & (rows["quantity"] == "avg")]
        found = found[found["region_bytes"] == parse_bytes(region)]
        by = dict(zip(found["configuration"], found["value"], strict=True))
        return by["on"] / by["off"] if {"on", "off"} <= set(by) else None

    return compute


def _instructions(results: Path | None) -> dict[str, dict]:
    """Our ratios of instructions (``tessera kernel table5``) by the printed row's name."""
    path = TABLE5.place(Tree(results)) if results else None
    if path is None or not path.is_file():
        return {}
    found = {}
    for _, row in read_file(TABLE5, path).iterrows():
        region = PRINTED_REGION.get(row["region"], row["region"])
        smaller = "" if region == row["region"] else f", {row['region']}"
        found[f"overhead of {row['operation']} {region}"] = {
            "obtained": row["replicated_ratio"],
            "obtained_unit": f"ratio of instructions{smaller}",
            "obtained_provenance": "measured",
        }
    return found
