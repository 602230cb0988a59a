"""Outcomes as text and as CSV."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from tessera.allocator_proof.programs.model import FAIL, PASS, SKIP, ProgramOutcome
from tessera.core.files import writing
from tessera.core.tables import table_text
from tessera.core.units import MB

COLUMNS = (
    "program", "layout", "verdict", "seconds", "pages_2mb", "split_pages", "heap_used_bytes",
    "anon_used_bytes", "outside_bytes", "pool_calls", "kernel_calls", "reason",
)  # fmt: skip

_HEADS = ("program", "layout", "verdict", "s", "2MB", "split", "heap MB", "anon MB", "outside MB",
          "pool calls", "kernel calls")  # fmt: skip


def write_csv(outcomes: Sequence[ProgramOutcome], path: Path) -> None:
    """One row for each outcome; a number that the run didn't give is empty."""
    with writing(path) as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(COLUMNS)
        for outcome in outcomes:
            row = [getattr(outcome, column) for column in COLUMNS]
            writer.writerow(["" if value is None else value for value in row])


def line(outcome: ProgramOutcome) -> str:
    """One finished run, for progress."""
    seconds = "" if outcome.seconds is None else f" ({outcome.seconds:.1f} s)"
    reason = f": {outcome.reason}" if outcome.verdict != PASS else ""
    return f"{outcome.verdict} {outcome.program} {outcome.layout}{seconds}{reason}"


def details(outcome: ProgramOutcome) -> str:
    """The details of a failure: its last lines and the command that repeats it."""
    indented = "\n".join(f"    | {text}" for text in outcome.tail.splitlines())
    return f"{line(outcome)}\n{indented}\n  repeat: {outcome.repeat}"


def text(outcomes: Sequence[ProgramOutcome]) -> str:
    """The table for a terminal, aligned, with a summary line."""
    table = table_text(_HEADS, map(_cells, outcomes), right=range(3, len(_HEADS)))
    counts = Counter(outcome.verdict for outcome in outcomes)
    return f"{table}\n" + ", ".join(f"{counts[verdict]} {verdict}" for verdict in (PASS, FAIL, SKIP))


def _cells(outcome: ProgramOutcome) -> tuple[str, ...]:
    def number(value: int | float | None, form: str = "d") -> str:
        return "-" if value is None else format(value, form)

    def megabytes(value: int | None) -> str:
        return "-" if value is None else f"{value / MB:.1f}"

    return (
        outcome.program,
        outcome.layout,
        outcome.verdict,
        number(outcome.seconds, ".1f"),
        number(outcome.pages_2mb),
        number(outcome.split_pages),
        megabytes(outcome.heap_used_bytes),
        megabytes(outcome.anon_used_bytes),
        megabytes(outcome.outside_bytes),
        number(outcome.pool_calls),
        number(outcome.kernel_calls),
    )
