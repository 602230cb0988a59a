"""Put archived numbers that cannot be correct into quarantine; a rule gives the reason for each.

A rule is a function of all rows and of the record that yields :class:`QuarantinedNumbers` objects, and has a
line in :data:`RULES`. Rules describe defects and name no file, so a corrected archive passes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import pandas as pd

from tessera.core.reference.published_tables import load_published
from tessera.core.reference.records import ArchivedRecord
from tessera.core.units import parse_bytes

# The finding of a rule: a place in the archive, and why the numbers there cannot be used.


@dataclass(frozen=True)
class QuarantinedNumbers:
    """Numbers of ``file``: of one ``line`` (0: all lines), of one ``quantity`` (empty: all of them)."""

    file: str
    reason: str
    line: int = 0
    quantity: str = ""

    def select(self, rows: pd.DataFrame) -> pd.DataFrame:
        """The rows that it is about."""
        hit = rows["file"] == self.file
        if self.line:
            hit &= rows["line"] == self.line
        if self.quantity:
            hit &= rows["quantity"] == self.quantity
        return rows[hit]

    def blank(self, record: ArchivedRecord, columns: list[str]) -> dict:
        """A row without a value, for a file that has none."""
        table = next(table for table in record.tables if table.file == self.file)
        known = {
            "paper": record.paper,
            "location": table.location,
            "section": table.section,
            "file": self.file,
            "line": 0,
            "value": float("nan"),
            "provenance": "published",
        }
        return dict.fromkeys(columns, "") | known


# Rule: a listed file without a single number (Mitosis: table6).


def empty_file(rows: pd.DataFrame, record: ArchivedRecord) -> Iterator[QuarantinedNumbers]:
    """A file of the record that holds no number."""
    filled = set(rows["file"])
    for table in record.tables:
        if table.file not in filled:
            yield QuarantinedNumbers(table.file, f"{table.location}: the archived file holds no number")


# Rule: two figures whose files hold the same numbers in the same places (Mitosis: 9a and 9b, 10a and 10b).
#
# The first is kept: it has both page sizes, so no number is lost, and each number counts once. It is unknown
# which of the two should have other numbers.

_CONTENT = ["workload", "configuration", "region_bytes", "quantity", "value"]


def same_file_twice(rows: pd.DataFrame, record: ArchivedRecord) -> Iterator[QuarantinedNumbers]:
    """A file that repeats another one number by number."""
    seen: dict[tuple, str] = {}
    for table in record.tables:
        content = tuple(rows.loc[rows["file"] == table.file, _CONTENT].itertuples(index=False, name=None))
        if not content:
            continue
        if content in seen:
            reason = f"the same {len(content)} numbers as {seen[content]}: counted once, there"
            yield QuarantinedNumbers(table.file, reason)
        else:
            seen[content] = table.file


# Rule: two configurations of a workload with the same cycles to the last digit (Mitosis: BTree's TRPI-LD).
#
# Two runs never agree in three counters. The rule treats the later row as the copy: in the known case, that
# row has exactly the same cycles for 2MB pages as for 4KB pages.

_COUNTERS = {"runtime", "walk", "non_walk"}


def copied_row(rows: pd.DataFrame, record: ArchivedRecord) -> Iterator[QuarantinedNumbers]:
    """A configuration with the very runtime, walk and non-walk cycles of an earlier one of its workload."""
    counted = rows[rows["quantity"].isin(_COUNTERS)]
    seen: dict[tuple, str] = {}
    for (file, line), row in counted.groupby(["file", "line"], sort=False):
        first = row.iloc[0]
        key = (file, first["workload"], *row.sort_values("quantity")["value"])
        if key in seen:
            reason = f"{first['workload']} {first['configuration']} repeats {seen[key]} to the last digit"
            yield QuarantinedNumbers(str(file), reason, line=int(line))
        else:
            seen[key] = first["configuration"]


# Rule: runtime isn't walk plus non-walk cycles (Mitosis: Figure 11, GUPS TRPI-LD+M).
#
# If non-walk cycles are the difference without its last digit, only that number goes into quarantine,
# because the other two agree with each other. Otherwise it is unknown which of the three is wrong, and all
# three go.

#: Averages of three runs are printed with up to three decimals.
_ROUNDING_CYCLES = 1.0


def broken_sum(rows: pd.DataFrame, record: ArchivedRecord) -> Iterator[QuarantinedNumbers]:
    """Runtime cycles that differ from walk plus non-walk cycles by more than rounding."""
    counted = rows[rows["quantity"].isin(_COUNTERS)]
    for (file, line), row in counted.groupby(["file", "line"], sort=False):
        values = dict(zip(row["quantity"], row["value"], strict=True))
        wanted = values["runtime"] - values["walk"]
        if abs(wanted - values["non_walk"]) <= _ROUNDING_CYCLES:
            continue
        first = row.iloc[0]
        what = f"{first['workload']} {first['configuration']}: runtime minus walk cycles is {wanted:.0f}"
        if wanted > 0 and f"{wanted:.0f}"[:-1] == f"{values['non_walk']:.0f}":
            reason = f"{what}, non-walk cycles lost its last digit"
            yield QuarantinedNumbers(str(file), reason, line=int(line), quantity="non_walk")
        else:
            yield QuarantinedNumbers(
                str(file), f"{what}, non-walk cycles are {values['non_walk']:.0f}", line=int(line)
            )


# Rule: operations whose cycles contradict the table that the paper prints (Mitosis: most of Table 5).
#
# The printed overhead has one decimal, so on/off may be off by half a digit of rounding; one digit more is
# allowed for the choice of statistic (the paper doesn't say which). Cycles themselves may differ by a factor
# of 2. The paper doesn't say whether its memory is shared or private: both are compared with the same
# printed number. Operations on and off fall together: a ratio needs both.

OVERHEAD_SLACK = 0.15
CYCLES_FACTOR = 2.0


def not_as_printed(rows: pd.DataFrame, record: ArchivedRecord) -> Iterator[QuarantinedNumbers]:
    """Cycles of an operation, or its overhead, that the paper prints otherwise (by over 0.15, or twice)."""
    measured = rows[rows["quantity"] == "avg"]
    if measured.empty:
        return
    printed = load_published("mitosis_table5").set_index(["operation", "region", "quantity"])["value"]
    table = {(name, parse_bytes(region), what): value for (name, region, what), value in printed.items()}
    for (file, label, region), pair in measured.groupby(["file", "workload", "region_bytes"], sort=False):
        found = dict(zip(pair["configuration"], pair["value"], strict=True))
        key = (str(label).removesuffix(" shared"), int(region))
        if (*key, "overhead") not in table or set(found) != {"on", "off"}:
            continue
        reasons = list(_differences(found, {what: table[*key, what] for what in ("off", "on", "overhead")}))
        for line in pair["line"] if reasons else ():
            yield QuarantinedNumbers(
                str(file), f"{label} of {region} bytes: " + "; ".join(reasons), line=int(line)
            )


def _differences(found: dict[str, float], printed: dict[str, float]) -> Iterator[str]:
    overhead = found["on"] / found["off"]
    if abs(overhead - printed["overhead"]) > OVERHEAD_SLACK:
        yield f"overhead {overhead:.2f}, printed {printed['overhead']:.1f}"
    for what in ("off", "on"):
        ratio = found[what] / printed[what]
        if not 1 / CYCLES_FACTOR <= ratio <= CYCLES_FACTOR:
            yield f"{what} {found[what]:.0f} cycles, printed {printed[what]:.0f}"


# All rules, and what they set aside. The name of a rule's function is its name in the tables.

Rule = Callable[[pd.DataFrame, ArchivedRecord], Iterable[QuarantinedNumbers]]
RULES: tuple[Rule, ...] = (empty_file, same_file_twice, copied_row, broken_sum, not_as_printed)


def split(rows: pd.DataFrame, record: ArchivedRecord) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Rows to use, rows in quarantine, and the rules with their findings.

    Returns:
        ``good``: the columns of ``rows``. ``aside``: those and ``rule, reason``; a number that several rules
        set aside is in it once for each, and a file without numbers is a row without a value. ``rules``:
        ``rule, looks_for, findings, numbers``.
    """
    columns = [*rows.columns, "rule", "reason"]
    parts, summary, gone = [pd.DataFrame(columns=columns)], [], set()
    for rule in RULES:
        findings = list(rule(rows, record))
        count = 0
        for finding in findings:
            hit = finding.select(rows)
            gone |= set(hit.index)
            count += len(hit)
            if hit.empty:
                hit = pd.DataFrame([finding.blank(record, list(rows.columns))])
            parts.append(hit.assign(rule=rule.__name__, reason=finding.reason)[columns])
        looks_for = (rule.__doc__ or "").strip().splitlines()[0]
        summary.append([rule.__name__, looks_for, len(findings), count])
    aside = pd.concat([part for part in parts if not part.empty] or parts, ignore_index=True)
    rules = pd.DataFrame(summary, columns=["rule", "looks_for", "findings", "numbers"])
    return rows.drop(index=sorted(gone)).reset_index(drop=True), aside, rules
