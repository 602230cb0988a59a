"""Micro-benchmarks (marks), which of them calibrate, and their cycles on this machine."""

from __future__ import annotations

import csv
import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.stats import quantile_test

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.files import built
from tessera.core.layouts.layout import Layout, Window, write_layout
from tessera.core.units import MB, PAGE_2MB, round_up
from tessera.lab.study import Amount
from tessera.machine.container import toolchain
from tessera.machine.reserve import reserve_huge_pages
from tessera.measure.counted.counted_run import clock_ns
from tessera.measure.launch import last_words, launcher, start_program
from tessera.record.workloads.program_run import Finished, last_line_json

# Which micro-benchmarks there are, and which of them calibrate: ``marks.csv``.
#
# The table was fixed before any of them was simulated. What judges is never used to set a key. The program
# is ``clockmarks`` of artifacts/workloads, which must have each of them.

CALIBRATE, JUDGE = "calibrate", "judge"


@dataclass(frozen=True)
class Mark:
    """One micro-benchmark.

    Attributes:
        half: :data:`CALIBRATE` or :data:`JUDGE`.
        key: platform key that it sets, or an empty text (a calibrating mark may only be looked at).
        quick: whether the small amount has it.
    """

    name: str
    family: str
    half: str
    key: str
    quick: bool


def all_marks() -> list[Mark]:
    """Every mark, in the order of the table."""
    with Path(__file__).with_name("marks.csv").open() as stream:
        return [
            Mark(row["mark"], row["family"], row["half"], row["key"], row["quick"] == "1")
            for row in csv.DictReader(stream)
        ]


def marks_of(amount: Amount) -> list[Mark]:
    """All marks, or the few of the amount ``quick``."""
    return [mark for mark in all_marks() if amount == "full" or mark.quick]


# Cycles of marks and programs on this machine: clock time times a frequency that is measured beside it.
#
# There are no counters in a guest. So a chain of one-cycle instructions runs right before each measurement,
# and its time gives the frequency of this moment (``clockmarks``). Everything runs on one processor, under
# libmosalloc, so its pages are those that were asked for or it fails. Measurements of all marks take turns.

PAGES = ("4KB", "2MB")
CLOCK = "clock"
NATIVE = "native"  #: source of what this machine did, in tables of measured and simulated rows
Progress = Callable[[str], None]


@dataclass(frozen=True)
class Cycles:
    """Cycles of one round: the median, and its 95% interval without a model of the noise (None: too few)."""

    median: float
    low: float | None
    high: float | None
    runs: int


@dataclass(frozen=True)
class Skipped:
    """Why something was not tried."""

    why: str


Found = Cycles | Skipped | str  #: a measurement, or why there is none (text: it failed)


def median_cycles(values: Sequence[float]) -> Cycles:
    """Median and order-statistic interval of at least one measurement."""
    low, high = quantile_test(values, q=float(np.median(values)), p=0.5).confidence_interval()
    known = [None if np.isnan(bound) else float(bound) for bound in (low, high)]
    return Cycles(float(np.median(values)), *known, len(values))


def layout_of(pages: str, anon_bytes: int, heap_bytes: int = 64 * MB) -> Layout:
    """All 4KB, or both pools in 2MB pages."""
    pools = {"brk": round_up(heap_bytes, PAGE_2MB), "mmap": round_up(anon_bytes, PAGE_2MB)}
    windows = tuple(Window(pool, 0, size, PAGE_2MB) for pool, size in pools.items()) if pages == "2MB" else ()
    return Layout(f"clock-{pages.lower()}", pools, windows)


def run_on_last_processor(layout: Layout, argv: Sequence[str], paths: Sequence[Path] = ()) -> str:
    """Standard output of a program under a layout, on the last processor that this process may use.

    Raises:
        TesseraError: it failed, with its last words.
    """
    processor = str(max(os.sched_getaffinity(0)))
    with tempfile.TemporaryDirectory(prefix="tessera-clock-") as name:
        path = Path(name) / "layout.csv"
        write_layout(layout, path)
        with reserve_huge_pages(layout.pages(PAGE_2MB)):
            end = start_program(
                toolchain(),
                launcher(),
                path,
                argv,
                before=["taskset", "-c", processor],
                paths=paths,
                pinned=False,  # the C library's own routines are marks, too
            )
    if end.status != 0:
        raise TesseraError(
            f"run {Path(argv[0]).name} with {layout.name}",
            f"status {end.status}: {last_words(end.errors) or 'no message'}",
            "run it alone to see more",
            exit_code=EXIT_FAILED,
        )
    return end.output


def _list() -> list[dict[str, str]]:
    table = toolchain().run([str(built("workloads", "clockmarks")), "--list"], capture=True).stdout
    return list(csv.DictReader(line for line in table.splitlines() if not line.startswith("{")))


def units() -> dict[str, int]:
    """What a round of each mark counts, as ``clockmarks --list`` says."""
    return {row["mark"]: int(row["units"]) for row in _list()}


def array_bytes() -> dict[str, int]:
    """The array of each mark, in bytes."""
    return {row["mark"]: int(row["bytes"]) for row in _list()}


def measure_marks(names: Sequence[str], pages: str, rounds: int, processes: int = 1) -> dict[str, Cycles]:
    """Cycles of a round of each mark, over so many rounds in each of so many processes.

    Where code and stack lie differs from process to process, and the time of a call with it.
    """
    sizes = array_bytes()
    anon = sum(round_up(sizes[name], PAGE_2MB) + PAGE_2MB for name in names) + 64 * MB
    argv = [str(built("workloads", "clockmarks")), "--marks", ",".join(names), "--rounds", str(rounds)]
    return parse_marks([run_on_last_processor(layout_of(pages, anon), argv) for _ in range(processes)])


def parse_marks(outputs: Sequence[str]) -> dict[str, Cycles]:
    """From the rows of runs of ``clockmarks``: each time with the frequency measured right before it."""
    found: dict[str, list[float]] = {}
    for output in outputs:
        gigahertz = float("nan")
        for row in csv.DictReader(line for line in output.splitlines() if not line.startswith("{")):
            if row["mark"] == CLOCK:
                gigahertz = int(row["units"]) / int(row["ns"])
            else:
                found.setdefault(row["mark"], []).append(int(row["ns"]) * gigahertz)
    return {name: median_cycles(values) for name, values in found.items()}


def frequency_ghz() -> float:
    """Cycles per nanosecond now: the median of some chains of one-cycle instructions."""
    argv = [str(built("workloads", "clockmarks")), "--marks", "chain-alu", "--rounds", "9"]
    rows = csv.DictReader(run_on_last_processor(layout_of("4KB", 64 * MB), argv).splitlines())
    clock = [int(row["units"]) / int(row["ns"]) for row in rows if row["mark"] == CLOCK]
    return float(np.median(clock))


def roi_ns(output: str) -> int:
    """The time of the region of interest, from the last line of a workload.

    Raises:
        TesseraError: the program did not verify its answer, or printed no time.
    """
    return clock_ns(last_line_json(Finished(0, output, "", Path())))
