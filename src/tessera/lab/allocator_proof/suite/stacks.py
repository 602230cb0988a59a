"""Stacks in memory of the program: coroutines, threads, forks and handlers that run on a page they change.

Each case runs many times, in turn with stacks of libc outside and inside the windows. A run that does not end
in time is a failure.
"""

from __future__ import annotations

import subprocess
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

from tessera.core.checks import FAIL, PASS, SKIP, Check
from tessera.core.files import built
from tessera.core.layouts.layout import Layout, Window, write_layout
from tessera.core.tables import table_text
from tessera.core.units import MB, PAGE_2MB
from tessera.lab.allocator_proof.suite.section import Findings, ProofSettings, Section, tail
from tessera.machine.container.process import HostProcess, stopped_at_exit
from tessera.machine.reserve import HugePagesUnavailable, reserve_huge_pages
from tessera.measure.mosalloc.launcher import mosalloc_command
from tessera.measure.mosalloc.report import read_report

RUNS, QUICK_RUNS = 1000, 50
#: The program's own alarm comes after 20 s; it does not end a process that blocks signals.
TIMEOUT_SECONDS = 30
STACKS = ("kernel", "pool")
#: The program's blocks, the heap of its forks, and some stacks of libc. A fork finds no free huge page.
WINDOWS = (("brk", 4), ("mmap", 56))
LAYOUT = Layout(
    "stacks",
    {"brk": 512 * MB, "mmap": 1000 * MB},
    tuple(Window(pool, 0, size * MB, PAGE_2MB) for pool, size in WINDOWS),
)


@dataclass
class StackRuns:
    """All runs of one case; ``reason`` is that of the first failure."""

    case: str
    runs: int = 0
    hangs: int = 0
    failures: int = 0
    split_pages: int = 0
    copied_mb: int = 0
    reason: str = ""


def cases() -> list[str]:
    """The names that the program knows."""
    argv = [str(built("mosalloc", "own_stacks"))]
    return subprocess.run(
        argv, capture_output=True, text=True, check=True, timeout=TIMEOUT_SECONDS
    ).stdout.split()


def run(settings: ProofSettings) -> Findings:
    """All cases in turn, until each has had its runs; one that hung or failed is not run again."""
    lines = [StackRuns(case) for case in cases()]
    runs = QUICK_RUNS if settings.quick else RUNS
    try:
        with (
            tempfile.TemporaryDirectory(prefix="tessera-proof-") as folder,
            reserve_huge_pages(LAYOUT.pages(PAGE_2MB)),
        ):
            write_layout(LAYOUT, Path(folder) / "layout.csv")
            for number in range(runs):
                for line in lines:
                    if not line.reason:
                        _once(line, number, Path(folder))
                if (number + 1) % 50 == 0:
                    settings.say(f"stacks: {number + 1} of {runs} runs of {len(lines)} cases")
    except HugePagesUnavailable as error:
        return Findings([Check("huge pages", SKIP, error.sentence)], "no case ran")
    rows = [asdict(line) for line in lines]
    return Findings([_check(line) for line in lines], _text(lines), rows, _notes(lines))


def _once(line: StackRuns, number: int, folder: Path) -> None:
    report, stacks = folder / "report.json", STACKS[number % len(STACKS)]
    report.unlink(missing_ok=True)
    argv = [str(built("mosalloc", "own_stacks")), line.case]
    argv = mosalloc_command(argv, folder / "layout.csv", report=report, allow_fallback=True, stacks=stacks)
    line.runs += 1
    # The output is a file: a process that is left over does not keep us waiting.
    with (folder / "output").open("w+") as output:
        process = HostProcess(argv, stdout=output, stderr=subprocess.STDOUT)
        with stopped_at_exit(process):
            try:
                status = process.wait(TIMEOUT_SECONDS)
            except subprocess.TimeoutExpired:
                line.hangs += 1
                line.reason = f"run {line.runs}, --stacks {stacks}: still running after {TIMEOUT_SECONDS} s"
                return
        output.seek(0)
        text = output.read()
    if status != 0 or "right" not in text.splitlines():
        line.failures += 1
        line.reason = f"run {line.runs}, --stacks {stacks}: status {status}: {tail(text)}"
        return
    counters = read_report(report).counters
    line.split_pages += counters["split_pages"]
    line.copied_mb += counters["fork_copied_bytes"] // MB


def _check(line: StackRuns) -> Check:
    if line.reason:
        return Check(line.case, FAIL, line.reason)
    if line.split_pages == 0 and not line.case.startswith("fork"):
        return Check(line.case, FAIL, "no huge page was split: the case tested nothing")
    return Check(line.case, PASS)


def _notes(lines: list[StackRuns]) -> list[str]:
    """A fork needs copies, and its stack another page, only while few huge pages are free."""
    shared = [line.case for line in lines if line.case.startswith("fork") and line.copied_mb == 0]
    more = "more 2MB pages were free than in use, so that its children shared pages"
    return [f"{case}: {more}; reserve {LAYOUT.pages(PAGE_2MB)} to test copies" for case in shared]


def _text(lines: list[StackRuns]) -> str:
    heads = ("case", "runs", "hangs", "failures", "pages split", "MB copied for children", "verdict")
    rows = []
    for line in lines:
        numbers = (line.runs, line.hangs, line.failures, line.split_pages, line.copied_mb)
        rows.append((line.case, *(f"{number:,}" for number in numbers), _check(line).status))
    return table_text(heads, rows)


SECTION = Section("stacks", "Stacks in memory of the program", run)
