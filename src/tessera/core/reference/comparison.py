"""Compare printed numbers with archived ones and with ours, and write ``results/<config>/reference/``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from tessera.core.errors import TesseraError
from tessera.core.reference import archived, records
from tessera.core.reference.published_tables import PRINTED_REGION, load_published
from tessera.core.reference.quarantine import split
from tessera.core.results.kernel_tables import TABLE5
from tessera.core.results.report_tables import REFERENCE
from tessera.core.results.table_io import empty_table, frame_of, read_file, write_table
from tessera.core.results.tree import ResultsTree
from tessera.core.units import parse_bytes

# Compare the numbers printed in the Mitosis paper with those in its archive and with ours.
#
# One row per printed number. ``archived`` is computed from rows that no rule put into quarantine; if a
# number depends on such rows, ``archived_with_quarantined`` is its value with them. ``agrees`` allows the
# rounding of the printed digits. ``obtained`` is our number, with its provenance and unit: instructions, not
# cycles, for Table 5.

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


def compare_printed(good: pd.DataFrame, everything: pd.DataFrame, results: Path | None) -> pd.DataFrame:
    """All printed numbers of the paper with archived and obtained ones; columns: docs/reference/tables.md.

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
    frame = load_published("mitosis_values").rename(columns={"value": "printed"})
    return frame.drop(columns="provenance").to_dict("records")


def _printed_operations() -> list[dict]:
    frame = load_published("mitosis_table5")
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
    """Our ratios of instructions (``tessera lab run kernel-table5``) by the printed row's name."""
    path = TABLE5.place(ResultsTree(results)) if results else None
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


# Write ``results/<config>/reference/``: archived numbers, those in quarantine and why, and the comparison.
#
# ``archived.csv`` (provenance ``published``), ``quarantine.csv``, ``rules.csv``, ``comparison.csv``, and
# ``status.csv``, which states for each record whether it is present. Without the records, the comparison
# still has every printed number.

OFFLINE_NOTE = (
    "reference-results/ has what the papers print and is used alone; "
    "archived data: tessera dev reference fetch"
)


@dataclass(frozen=True)
class WrittenReference:
    """The output of :func:`write_reference`; ``notes`` has a sentence for each missing record."""

    archived: pd.DataFrame
    quarantine: pd.DataFrame
    rules: pd.DataFrame
    comparison: pd.DataFrame
    notes: tuple[str, ...]


def write_reference(results: Path, source: Path | None = None) -> WrittenReference:
    """Read the records that are here (or ``source``, a folder in their form) and write the tables.

    Args:
        results: ``results/<config>``; must exist.
        source: folder with ``figure6/figure6_absolute.csv`` and so on, used instead of a fetched record.

    Raises:
        TesseraError: no such folder, or data that break their layout.
    """
    if not results.is_dir():
        raise TesseraError(
            f"results {results}", "the folder does not exist", "give a folder such as results/default"
        )
    if source is not None and not source.is_dir():
        raise TesseraError(
            f"reference data {source}", "the folder does not exist", "give the unpacked reference folder"
        )
    good, every, aside, rules, status, notes = [], [], [], [], [], []
    for record in (records.load_record(name) for name in records.record_names()):
        if not record.tables:
            continue
        folder = source or record.data_folder
        here = folder.is_dir()
        status.append([record.name, record.doi, "read" if here else "not here", "" if here else OFFLINE_NOTE])
        if not here:
            notes.append(f"{record.name} ({record.doi}) is not here: {OFFLINE_NOTE}")
            continue
        rows = archived.read_archived(record, folder)
        kept, gone, found = split(rows, record)
        good.append(kept)
        every.append(rows)
        aside.append(gone)
        rules.append(found.assign(record=record.name))
    empty = pd.DataFrame(columns=list(archived.COLUMNS))
    done = WrittenReference(
        archived=_stack(good, empty),
        quarantine=_stack(aside, empty.assign(rule="", reason="")),
        rules=_stack(rules, empty_table(REFERENCE["rules"])),
        comparison=compare_printed(_stack(good, empty), _stack(every, empty), results),
        notes=tuple(notes),
    )
    _write_tables(ResultsTree(results), done, frame_of(REFERENCE["status"], status))
    return done


def _stack(parts: list[pd.DataFrame], empty: pd.DataFrame) -> pd.DataFrame:
    return pd.concat(parts, ignore_index=True) if parts else empty


def _write_tables(tree: ResultsTree, done: WrittenReference, status: pd.DataFrame) -> None:
    for name, table in REFERENCE.items():
        write_table(table, status if name == "status" else getattr(done, name), tree.reference(name))
