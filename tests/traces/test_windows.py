"""Windows spread over a region: which accesses they hold, what is counted, and what is refused."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from tessera.cli.main import cli
from tessera.core.errors import TesseraError
from tessera.core.files import build_dir
from tessera.machine.container import RunOptions, toolchain
from tessera.machine.limits import usable_processors
from tessera.record import traces
from tessera.record.traces.options import (
    MIN_GAP_ACCESSES,
    MIN_WINDOW_ACCESSES,
    Options,
    WindowPlan,
    plan_windows,
    refuse_region,
)
from tests.traces.conftest import dumped_lines

#: Loads of a region whose addresses are those of a generator, one a round, and what else is in it.
LOADS = 16_000_000
WORDS = 1 << 20
GENERATOR = f"""int main() {{
  volatile uint64_t* a = (volatile uint64_t*)malloc({WORDS} * 8);
  for (uint64_t i = 0; i < {WORDS}; i++) a[i] = i;
  uint64_t x = 1;
  TESSERA_ROI_BEGIN();
  for (uint64_t i = 0; i < {LOADS}; i++) {{
    x = x * 6364136223846793005u + 1442695040888963407u;
    (void)a[x >> 44];
  }}
  TESSERA_ROI_END();
  printf("{{\\"verified\\":true,\\"base\\":%llu}}\\n", (unsigned long long)(uintptr_t)a); return 0;
}}
"""
WINDOWS, LIMIT = 3, 3 * MIN_WINDOW_ACCESSES


def generated() -> np.ndarray:
    """Positions in the array, in the order of the loads."""
    factor, step = np.array([6364136223846793005], np.uint64), np.array([1442695040888963407], np.uint64)
    found = factor + step  # x = 1, once
    while len(found) < LOADS:  # twice as many: those found, each len(found) steps later
        found = np.concatenate([found, found * factor + step])
        factor, step = factor * factor, step * factor + step
    return found[:LOADS] >> np.uint64(44)


@pytest.fixture
def program(compiled) -> Path:
    return compiled("generator", GENERATOR)


def recorded(program: Path, out: Path, **options) -> traces.Recorded:
    return traces.record_program(
        [program], out, windows=WINDOWS, max_accesses=LIMIT, region_accesses=LOADS, **options
    )


@pytest.mark.toolchain
def test_each_window_holds_the_loads_from_its_position_on(program, dumped, tmp_path: Path):
    done = recorded(program, tmp_path / "t.tst")
    _, accesses = dumped(done.trace)
    base = json.loads(done.stdout)["base"]
    found = [(address - base) // 8 for kind, address in accesses if kind == "load"]
    expected, length = generated(), LIMIT // WINDOWS
    starts = [w * (length + (LOADS - LIMIT) // WINDOWS) for w in range(WINDOWS)]
    assert [found[w * length : (w + 1) * length] for w in range(WINDOWS)] == [
        expected[start : start + length].tolist() for start in starts
    ]
    header = traces.trace_info(done.trace)
    assert header["accesses"] == LIMIT and not header["complete_roi"] and not header["stopped"]
    assert (header["windows"], header["window_accesses"]) == (WINDOWS, length)
    assert header["gap_accesses"] == (LOADS - LIMIT) // WINDOWS
    assert (header["region_accesses_seen"], header["region_ended"]) == (LOADS, True)
    text = described(done.trace)
    assert str(LOADS) in text and "18.75%" in text  # 3 of 16 M


def described(trace: Path) -> str:
    return CliRunner().invoke(cli, ["trace", "info", str(trace)]).output


@pytest.mark.toolchain
def test_windows_are_slices_of_the_whole_recording_and_repeat(program, tmp_path: Path):
    whole, parts = tmp_path / "whole.tst", [tmp_path / "a.tst", tmp_path / "b.tst"]
    traces.record_program([program], whole)
    for part in parts:
        recorded(program, part)
    assert parts[0].read_bytes() == parts[1].read_bytes()
    length, period = LIMIT // WINDOWS, LIMIT // WINDOWS + (LOADS - LIMIT) // WINDOWS
    tool, slices = str(build_dir("tracer") / "tessera-trace"), []
    for w in range(WINDOWS):
        cut = tmp_path / f"{w}.tst"
        words = [tool, "cut", str(whole), str(cut), "--start", str(w * period), "--accesses", str(length)]
        toolchain().run(words, options=RunOptions(writes=(tmp_path,)))
        slices += stream(cut)
    assert stream(parts[0]) == slices


def stream(trace: Path) -> list[str]:
    return [line for line in dumped_lines(trace) if line.startswith(("  load", "  store"))]


@pytest.mark.toolchain
def test_the_region_is_counted_without_a_recording(program):
    counted = traces.count_accesses([program])
    assert counted.accesses == LOADS
    assert counted.instructions % LOADS < 100 and counted.instructions // LOADS in range(4, 12)
    said = CliRunner().invoke(cli, ["trace", "record", "--count", "--", str(program)])
    assert json.loads(said.output) == {"accesses": LOADS, "instructions": counted.instructions}


@pytest.mark.toolchain
def test_stop_when_recorded_ends_the_program_after_the_last_window(program, tmp_path: Path):
    done = recorded(program, tmp_path / "t.tst", stop_when_recorded=True)
    header = traces.trace_info(done.trace)
    assert (done.stopped, header["stopped"], header["region_ended"]) == (True, True, False)
    assert header["accesses"] == LIMIT
    last_begins = (WINDOWS - 1) * (LOADS // WINDOWS)
    assert last_begins + LIMIT // WINDOWS <= header["region_accesses_seen"] < LOADS


@pytest.mark.toolchain
def test_where_a_program_is_stopped_does_not_depend_on_the_load(program, tmp_path: Path):
    """The thread that compresses is slower beside busy processes, and the file is the same."""
    first = recorded(program, tmp_path / "a.tst", stop_when_recorded=True).trace
    with ExitStack() as stack:
        for _ in range(2 * usable_processors()):
            busy = stack.enter_context(subprocess.Popen([sys.executable, "-c", "while True: pass"]))
            stack.callback(busy.kill)
        second = recorded(program, tmp_path / "b.tst", stop_when_recorded=True).trace
    assert traces.trace_info(first) == traces.trace_info(second)
    assert first.read_bytes() == second.read_bytes()


@pytest.mark.toolchain
def test_a_region_within_the_limit_is_recorded_whole(program, tmp_path: Path):
    done = traces.record_program(
        [program], tmp_path / "t.tst", windows=4, max_accesses=LOADS, region_accesses=LOADS
    )
    header = traces.trace_info(done.trace)
    assert header["complete_roi"] and header["accesses"] == LOADS
    assert (header["windows"], header["gap_accesses"], header["region_ended"]) == (1, 0, True)


@pytest.mark.toolchain
def test_another_number_of_accesses_than_declared_is_an_error(program, tmp_path: Path):
    with pytest.raises(TesseraError) as caught:
        traces.record_program([program], tmp_path / "t.tst", max_accesses=1000, region_accesses=2 * LOADS)
    assert caught.value.code == "region-accesses" and str(LOADS) in caught.value.remedy
    assert not (tmp_path / "t.tst").exists()


@pytest.mark.toolchain
def test_a_difference_that_reaches_no_window_is_a_warning(program, tmp_path: Path, capsys):
    traces.record_program([program], tmp_path / "t.tst", max_accesses=1000, region_accesses=LOADS + 1)
    assert f"the region has {LOADS} accesses, and {LOADS + 1} were declared" in capsys.readouterr().err
    assert (tmp_path / "t.tst").exists()


@pytest.mark.toolchain
def test_a_region_in_two_parts_goes_on_counting(compiled, tmp_path: Path):
    """The second half is a region of its own: its accesses are at positions behind those of the first."""
    half = f"i < {LOADS // 2}; i++)"
    body = GENERATOR.replace(f"i < {LOADS}; i++)", half)
    begin, end = body.index("  TESSERA_ROI_BEGIN"), body.index("  printf")
    part = body[begin:end]
    pause = f"  for (uint64_t i = 0; i < {WORDS}; i++) a[i] = i;\n"
    program = compiled("halves", body[:begin] + part + pause + part + body[end:])
    header = traces.trace_info(recorded(program, tmp_path / "t.tst").trace)
    assert (header["accesses"], header["windows"], header["region_accesses_seen"]) == (LIMIT, WINDOWS, LOADS)


def test_the_plan_divides_limit_and_region():
    assert plan_windows(4, 8_000_000, 48_000_000) == WindowPlan(4, 2_000_000, 10_000_000)
    assert plan_windows(4, 8_000_000, 8_000_000) == WindowPlan(1, 8_000_000, 0)
    assert plan_windows(1, 5, 10) == WindowPlan(1, 5, 0)
    assert plan_windows(1, None, None) == WindowPlan(1, 0, 0)


@pytest.mark.parametrize(
    ("numbers", "code"),
    [
        ((-1, 1, 1), "windows-number"),
        ((2, 8_000_000, None), "windows-region"),
        ((1, 8_000_000, 0), "windows-region"),
        ((2, None, 80_000_000), "windows-limit"),
        ((2, 2 * MIN_WINDOW_ACCESSES - 1, 80_000_000), "windows-short"),
        ((2, 8_000_000, 8_000_000 + 2 * MIN_GAP_ACCESSES - 1), "windows-gap"),
    ],
)
def test_numbers_that_do_not_fit_are_refused(numbers, code: str):
    with pytest.raises(TesseraError) as caught:
        plan_windows(*numbers)
    assert caught.value.code == code


def test_the_shortest_windows_and_gaps_are_accepted():
    limit = 2 * MIN_WINDOW_ACCESSES
    assert plan_windows(2, limit, limit + 2 * MIN_GAP_ACCESSES) == WindowPlan(
        2, MIN_WINDOW_ACCESSES, MIN_GAP_ACCESSES
    )


@pytest.mark.parametrize("windows", [{"windows": 0}, {"region_accesses": 5}, {"windows": 2}])
def test_threads_and_the_switch_are_not_counted(windows, tmp_path: Path):
    if windows.get("windows") == 2:
        windows = windows | {"max_accesses": 8_000_000, "region_accesses": 80_000_000}
    with pytest.raises(TesseraError) as caught:
        Options(threads=True, **windows)
    assert caught.value.code == "windows-threads"
    (tmp_path / "switch").write_bytes(b"\0\0\0\0")
    with pytest.raises(TesseraError) as caught:
        Options(roi=f"switch:{tmp_path / 'switch'}", **windows)
    assert caught.value.code == "windows-switch"


def test_only_a_region_that_ended_is_compared_with_the_declared_number():
    header = {"region_accesses_seen": 5, "region_ended": False}
    refuse_region("p", 6, None, header)
    refuse_region("p", None, None, header | {"region_ended": True})
    refuse_region("p", 5, None, header | {"region_ended": True})
    with pytest.raises(TesseraError, match="has 5 accesses"):
        refuse_region("p", 6, None, header | {"region_ended": True})


@pytest.mark.parametrize("declared", [10**9, 10**11])
def test_a_difference_that_reaches_no_window_is_told_and_not_refused(declared):
    most = min(declared // 1000, MIN_GAP_ACCESSES)

    def told(seen: int) -> str | None:
        return refuse_region("p", declared, None, {"region_accesses_seen": seen, "region_ended": True})

    assert told(declared) is None
    for seen in (declared - most, declared + most):
        assert f"{seen} accesses, and {declared} were declared" in told(seen)
    for seen in (declared - most - 1, declared + most + 1):
        with pytest.raises(TesseraError, match="so the windows lie elsewhere"):
            told(seen)


def test_without_windows_the_plugin_gets_one():
    assert (
        Options(max_accesses=7).settings() | {"windows": 1, "window_accesses": 7, "gap_accesses": 0}
        == Options(max_accesses=7).settings()
    )
    assert Options().settings()["count_region"] == 0


def test_windows_may_lie_in_the_beginning_of_a_region():
    most, span = 100_000_000, 2_000_000_000
    spread = Options(windows=10, max_accesses=most, window_span=span).settings()
    assert spread["window_accesses"] == most // 10 and spread["gap_accesses"] == (span - most) // 10
    declared = Options(windows=10, max_accesses=most, window_span=span, region_accesses=5 * span).settings()
    assert declared == spread


def test_a_region_that_ends_within_the_span_is_refused():
    header = {"region_accesses_seen": 5, "region_ended": True}
    refuse_region("p", None, 5, header)
    with pytest.raises(TesseraError) as caught:
        refuse_region("p", None, 6, header)
    assert caught.value.code == "region-accesses"
