"""Put archived numbers that cannot be correct into quarantine; a rule gives the reason for each.

A rule is a function of all rows and of the record that yields :class:`Finding` objects. It has its own file
and a line in :data:`RULES`. Rules describe defects and name no file, so a corrected archive passes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pandas as pd

from tessera.reference.quarantine.broken_sum import broken_sum
from tessera.reference.quarantine.copied_row import copied_row
from tessera.reference.quarantine.empty_file import empty_file
from tessera.reference.quarantine.finding import Finding
from tessera.reference.quarantine.not_as_printed import not_as_printed
from tessera.reference.quarantine.same_file_twice import same_file_twice
from tessera.reference.records import Record

Rule = Callable[[pd.DataFrame, Record], Iterable[Finding]]
RULES: tuple[Rule, ...] = (empty_file, same_file_twice, copied_row, broken_sum, not_as_printed)


def split(rows: pd.DataFrame, record: Record) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
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


__all__ = ["RULES", "Finding", "split"]
