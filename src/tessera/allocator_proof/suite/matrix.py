"""Tests named ``<condition>.<case>`` as a matrix, and the others as one line each."""

from __future__ import annotations

from collections.abc import Sequence

from tessera.allocator_proof.suite.junit import Test
from tessera.allocator_proof.suite.model import FAIL, PASS, SKIP, counts
from tessera.core.tables import table_text

CONDITIONS = ("kernel", "4kb", "qemu", "preload", "2mb", "demand", "exact", "stacks", "1gb")

#: Prefixes of tests that are programs of their own; the others are suites of unit tests, one line each.
_SINGLE = ("sanitized", "differential", "lives", "layout_fuzz")


def split(tests: Sequence[Test]) -> tuple[dict[str, dict[str, Test]], list[Test]]:
    """The matrix (case -> condition -> test) and the tests that are in none of its columns."""
    matrix: dict[str, dict[str, Test]] = {}
    others = []
    for test in tests:
        condition, dot, case = test.name.partition(".")
        if dot and condition in CONDITIONS:
            matrix.setdefault(case, {})[condition] = test
        else:
            others.append(test)
    return matrix, others


def matrix_text(matrix: dict[str, dict[str, Test]]) -> str:
    """A line for each case; ``-`` where the case does not exist (or was not asked for)."""
    if not matrix:
        return ""
    used = [name for name in CONDITIONS if any(name in row for row in matrix.values())]
    rows = []
    for case, row in matrix.items():
        rows.append((case, *(row[name].verdict if name in row else "-" for name in used)))
    return table_text(("case", *used), rows)


def others_text(tests: Sequence[Test]) -> str:
    """Suites with how many of their tests passed, then the single programs."""
    groups: dict[str, list[Test]] = {}
    for test in tests:
        prefix = test.name.partition(".")[0]
        groups.setdefault(test.name if prefix in _SINGLE else prefix, []).append(test)
    heads, rows = ("test", "verdict", "passed", "failed", "skipped", "s"), []
    for name, members in groups.items():
        found = counts(members)
        worst = next(verdict for verdict in (FAIL, SKIP, PASS) if found[verdict])
        numbers = [str(found[verdict]) for verdict in (PASS, FAIL, SKIP)]
        rows.append((name, worst, *numbers, f"{sum(test.seconds for test in members):.1f}"))
    return table_text(heads, rows) if rows else ""
