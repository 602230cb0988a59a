"""The core against this machine's clock: tables, formulas, judgements."""

from __future__ import annotations

import csv
import math
import subprocess

import pandas as pd
import pytest

from tessera import platforms
from tessera.core.errors import TesseraError
from tessera.core.paths import built
from tessera.judge.clock import calibrate, native, summary
from tessera.judge.clock.causes import causes
from tessera.judge.clock.marks import CALIBRATE, JUDGE, all_marks, marks_of
from tessera.judge.clock.native import Cycles, Skipped
from tessera.judge.clock.programs import programs_of
from tessera.judge.clock.run import _rows
from tessera.platforms.keys import all_keys
from tessera.results.schema.clock import CLOCK_MARKS
from tessera.results.write import frame_of


def exactly(cycles: float) -> Cycles:
    return Cycles(cycles, cycles, cycles, 9)


def test_the_halves_are_disjoint_and_each_family_is_in_both_or_says_why():
    marks = all_marks()
    assert len({mark.name for mark in marks}) == len(marks) >= 40
    assert {mark.half for mark in marks} == {CALIBRATE, JUDGE}
    judged = {mark.name for mark in marks if mark.half == JUDGE}
    assert judged >= set(summary.NAMED)
    assert all(mark.key == "" for mark in marks if mark.half == JUDGE)
    assert {mark.key for mark in marks if mark.key} <= set(all_keys())
    used = {*calibrate.TIMES.values(), *calibrate.WIDTHS.values(), calibrate.CALLS, calibrate.SHORT}
    used |= {calibrate.LONG, calibrate.READ, calibrate.WRITE, "branch-random"}
    assert used <= {mark.name for mark in marks} - judged, "only the calibrating half sets keys"


def test_the_small_configuration_is_a_part():
    assert 0 < len(marks_of("smoke")) < len(marks_of("default"))
    assert 0 < len(programs_of("smoke")) < len(programs_of("default"))
    assert {mark.half for mark in marks_of("smoke")} == {CALIBRATE, JUDGE}


def test_causes_name_marks_and_programs():
    names = {mark.name for mark in all_marks()} | {program.name for program in programs_of("default")}
    assert set(causes()) <= names
    assert all(causes().values())


def test_median_and_interval_of_measurements():
    # Of 9 values, the 2nd smallest and the 2nd largest bound the median with 96% (binomial, 9 tosses).
    assert native.cycles_of([5, 1, 2, 3, 4, 6, 7, 8, 100]) == Cycles(5, 2, 8, 9)
    assert native.cycles_of([3, 4]) == Cycles(3.5, None, None, 2)


def test_each_time_is_multiplied_with_the_frequency_right_before_it():
    lines = ["mark,round,units,ns", "clock,0,4000,1000", "a,0,7,10", "clock,1,2000,1000", "a,1,7,30", "{}"]
    assert native.parse_marks("\n".join(lines)) == {"a": Cycles(50, None, None, 2)}


def test_keys_follow_from_marks():
    times = {"chain-multiply": 3.2, "chain-l1": 3.9, "width-alu": 0.21, "calls": 5.2}
    times |= {"memset-1kb": 52 / 16, "memset-16kb": 532 / 256}  # 20 + 16 x 2 and 20 + 256 x 2 cycles
    times |= {"stream-read": 9.0, "stream-write": 6.0}
    measured = {name: exactly(cycles * 1000) for name, cycles in times.items()}
    found = {one.key: one.value for one in calibrate.from_marks(measured, dict.fromkeys(times, 1000))}
    assert found == {
        "core.latency.multiply": 3,
        "cache.l1d.load_cycles": 4,
        "core.ports.alu": 5,
        "branch.call_cycles": 3,
        "core.string.begin_cycles": 20,
        "core.string.page_cycles": 128,
        "memory.cycles_per_line": 3,
    }
    assert calibrate.from_marks({}, {}) == []


def test_the_refill_time_is_where_the_line_meets_the_measurement():
    def simulate(refill: int) -> float:
        return 1000 + 50 * refill

    assert calibrate.refill(exactly(1750), simulate).value == 15
    assert calibrate.refill(exactly(900), simulate).value == 0
    assert calibrate.refill(exactly(900), lambda refill: 1000).value == 0


def test_values_stay_within_the_bounds_of_their_keys():
    before = platforms.load("haswell-sim")
    keys = [calibrate.Set("core.dispatch_width", 99, ("width-nop",), "width-nop takes 0.01 cycles a unit")]
    after = calibrate.with_keys(before, "p", keys)
    assert after.values["core.dispatch_width"].value == 16
    assert after.values["core.dispatch_width"].source.startswith("measured: width-nop")
    assert before.values["core.dispatch_width"].value == 4


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
    assert summary.errors(rows, "mark")["error"].isna().all()


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
    found = summary.errors(marks, "mark")
    assert found.set_index("mark")["error"].round(9).to_dict() == {
        "push-pop": 0.09,
        "fib-24": -0.4,
        "x": -0.05,
        "y": 0.02,
    }
    programs = found[found["mark"] == "x"].rename(columns={"mark": "program"})
    aims = {aim.text: aim for aim in summary.aims(found, programs, {})}
    assert aims["median error of the judging micro-benchmarks"].found == pytest.approx(0.09)
    assert aims["median error of the judging micro-benchmarks"].reached
    worst = aims["largest error of a judging micro-benchmark without a named cause"]
    assert (round(worst.found, 9), worst.detail, worst.reached) == (0.4, "fib-24", False)
    assert not aims["error of fib-24"].reached
    assert aims["error of memset-1mb"].found is None and not aims["error of memset-1mb"].reached
    assert aims["median error of the programs"].reached
    explained = {aim.text: aim for aim in summary.aims(found, programs, {"fib-24": "why"})}
    assert explained["largest error of a judging micro-benchmark without a named cause"].reached
    assert summary.calibrating_median(found) == pytest.approx(0.02)


@pytest.mark.toolchain
def test_the_program_has_every_mark_and_checks_its_answers():
    if not built("workloads", "clockmarks").exists():
        pytest.skip("workloads are not built: ./run tessera build workloads")
    listed = subprocess.run(
        [built("workloads", "clockmarks"), "--list"], check=True, capture_output=True, text=True
    )
    rows = list(csv.DictReader(line for line in listed.stdout.splitlines() if not line.startswith("{")))
    assert {row["mark"] for row in rows} == {mark.name for mark in all_marks()}
    assert all(int(row["units"]) > 0 and int(row["bytes"]) >= 4096 for row in rows)
    command = [
        built("workloads", "clockmarks"),
        "--marks",
        "push-pop,branch-pattern,memcpy-16kb",
        "--rounds",
        "3",
    ]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found = native.parse_marks(done.stdout)
    assert {name: one.runs for name, one in found.items()} == {
        "push-pop": 3,
        "branch-pattern": 3,
        "memcpy-16kb": 3,
    }
    assert all(math.isfinite(one.median) and one.median > 0 for one in found.values())
    broken = subprocess.run([*command, "--self-test-corrupt"], capture_output=True, text=True)
    assert broken.returncode == 1
    unknown = subprocess.run(
        [built("workloads", "clockmarks"), "--marks", "nothing"], capture_output=True, text=True
    )
    assert unknown.returncode == 2 and "nothing" in unknown.stderr


def test_a_program_that_did_not_verify_is_refused():
    assert native.roi_ns('x\n{"roi_ns": 12, "verified": true}\n') == 12
    with pytest.raises(TesseraError):
        native.roi_ns('{"roi_ns": 12, "verified": false}')
