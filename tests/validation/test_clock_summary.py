"""What the page says of the core against this machine's clock: errors, aims, causes."""

from __future__ import annotations

import pandas as pd
import pytest

from tessera.core.results.machine_tables import CLOCK_MARKS
from tessera.core.results.table_io import frame_of
from tessera.lab.clock import errors
from tessera.lab.clock.errors import causes
from tessera.lab.clock.marks import CALIBRATE, JUDGE, Cycles, Skipped, all_marks
from tessera.lab.clock.measured import programs_of
from tessera.lab.clock.simulated import _rows


def exactly(cycles: float) -> Cycles:
    return Cycles(cycles, cycles, cycles, 9)


def test_causes_name_marks_and_programs():
    names = {mark.name for mark in all_marks()} | {program.name for program in programs_of("full")}
    assert set(causes()) <= names
    assert all(causes().values())


HEADS = [
    (name, {"mark": name, "family": "f", "half": half}) for name, half in (("a", JUDGE), ("b", CALIBRATE))
]


def table(native_cycles, simulated):
    measured = {"4KB": native_cycles, "2MB": {"a": Skipped("none"), "b": Skipped("none")}}
    return frame_of(CLOCK_MARKS, _rows(HEADS, measured, {"4KB": simulated, "2MB": {}}, "host"))


def test_a_failed_measurement_is_a_row_with_its_reason_and_the_others_go_on():
    rows = table({"a": "it crashed", "b": exactly(100)}, {"a": 110.0, "b": "no trace"})
    assert len(rows) == 8
    said = {(row.mark, row.pages, row.source): (row.status, row.message) for row in rows.itertuples()}
    assert said["a", "4KB", "native"] == ("failed", "it crashed")
    assert said["a", "2MB", "native"] == ("skipped", "none")
    assert said["b", "4KB", "native"] == ("ok", "")
    assert said["b", "4KB", "host"] == ("failed", "no trace")
    assert set(rows[rows["source"] == "native"]["provenance"]) == {"measured"}
    assert errors.errors(rows, "mark")["error"].isna().all()


def test_errors_and_aims():
    marks = pd.DataFrame(
        [
            (name, half, "4KB", source, cycles, "ok", "")
            for name, half, real, simulated in (
                ("push-pop", JUDGE, 100, 109), ("fib-24", JUDGE, 100, 60), ("x", JUDGE, 100, 95),
                ("y", CALIBRATE, 100, 102),
            )
            for source, cycles in (("native", real), ("host", simulated))
        ],
        columns=["mark", "half", "pages", "source", "cycles", "status", "message"],
    )  # fmt: skip
    found = errors.errors(marks, "mark")
    assert found.set_index("mark")["error"].round(9).to_dict() == {
        "push-pop": 0.09,
        "fib-24": -0.4,
        "x": -0.05,
        "y": 0.02,
    }
    programs = found[found["mark"] == "x"].rename(columns={"mark": "program"})
    aims = {aim.text: aim for aim in errors.aims(found, programs, {})}
    assert aims["median error of the judging micro-benchmarks"].found == pytest.approx(0.09)
    assert aims["median error of the judging micro-benchmarks"].reached
    worst = aims["largest error of a judging micro-benchmark without a named cause"]
    assert (round(worst.found, 9), worst.detail, worst.reached) == (0.4, "fib-24", False)
    assert not aims["error of fib-24"].reached
    assert aims["error of memset-1mb"].found is None and not aims["error of memset-1mb"].reached
    assert aims["median error of the programs"].reached
    explained = {aim.text: aim for aim in errors.aims(found, programs, {"fib-24": "why"})}
    assert explained["largest error of a judging micro-benchmark without a named cause"].reached
    assert errors.calibrating_median(found) == pytest.approx(0.02)
