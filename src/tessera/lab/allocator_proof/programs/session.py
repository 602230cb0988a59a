"""The table's runs: layouts, huge pages around each program, a worker for it, outcomes as they come."""

from __future__ import annotations

import csv
import json
import subprocess
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

from tessera.core.checks import FAIL, PASS, SKIP
from tessera.core.errors import unknown_name
from tessera.core.files import build_dir, built, repo_root, writing
from tessera.core.layouts.layout import Layout, Window, write_layout
from tessera.core.processes import module_command
from tessera.core.tables import table_text
from tessera.core.units import GB, MB, PAGE_1GB, PAGE_2MB
from tessera.lab.allocator_proof.programs.driver import ProgramOutcome, ProvedProgram
from tessera.machine.container.command import RunOptions
from tessera.machine.container.process import stopped_at_exit
from tessera.machine.container.toolchain import Toolchain, programs_toolchain
from tessera.machine.reserve import HugePagesUnavailable, reserve_huge_pages
from tessera.machine.reserve.pools import huge_pages_free, supported_sizes

# The layouts that every program must live on.

MOSAIC_NAMES = ("4kb", "2mb", "mixed")

#: Room for reservations that are mostly never touched (WebAssembly memories, Java's heap), and for sparse
#: heaps: where the heap pool is full, malloc goes on in scattered pieces and becomes many times slower.
POOL_BYTES = {"brk": 64 * GB, "mmap": 64 * GB}

#: In ``mixed`` 2MB and 4KB parts alternate with this period.
PERIOD_BYTES = 4 * MB

#: In ``mixed``, where a 1GB page can be had: far enough for the 2MB windows to lie below it. Only for
#: programs of one process: few machines have two such pages.
WINDOW_1GB = Window("mmap", 1 * GB, 2 * GB, PAGE_1GB)


def mosaic(name: str, program: ProvedProgram, *, page_1gb: bool = False) -> Layout:
    """Layout ``name`` for the part of the pools that ``program`` uses.

    ``4kb`` has no windows, ``2mb`` one window over that part of both pools, ``mixed`` every second 2MB of it
    and, with ``page_1gb``, a window of 1GB if the program is one process.
    """
    if name not in MOSAIC_NAMES:
        raise unknown_name("layout", name, MOSAIC_NAMES)
    windows: list[Window] = []
    for pool, size in (("brk", program.heap_bytes), ("mmap", program.anon_bytes)):
        if name == "2mb":
            windows.append(Window(pool, 0, size, PAGE_2MB))
        if name == "mixed":
            windows += [Window(pool, at, at + PAGE_2MB, PAGE_2MB) for at in range(0, size, PERIOD_BYTES)]
    if name == "mixed" and page_1gb and program.processes == 1:
        windows.append(WINDOW_1GB)
    return Layout(name, dict(POOL_BYTES), tuple(sorted(windows)))


def pages_needed(name: str, program: ProvedProgram) -> int:
    """2MB pages that one run needs: those of its windows, for each process that can be alive at a time."""
    return mosaic(name, program).pages(PAGE_2MB) * program.processes


# Outcomes as text and as CSV.

OUTCOME_COLUMNS = (
    "program", "layout", "verdict", "seconds", "pages_2mb", "split_pages", "heap_used_bytes",
    "anon_used_bytes", "outside_bytes", "pool_calls", "kernel_calls", "reason",
)  # fmt: skip

_TABLE_HEADS = ("program", "layout", "verdict", "s", "2MB", "split", "heap MB", "anon MB", "outside MB",
          "pool calls", "kernel calls")  # fmt: skip


def write_outcomes(outcomes: Sequence[ProgramOutcome], path: Path) -> None:
    """One row for each outcome; a number that the run didn't give is empty."""
    with writing(path) as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(OUTCOME_COLUMNS)
        for outcome in outcomes:
            row = [getattr(outcome, column) for column in OUTCOME_COLUMNS]
            writer.writerow(["" if value is None else value for value in row])


def outcome_line(outcome: ProgramOutcome) -> str:
    """One finished run, for progress."""
    seconds = "" if outcome.seconds is None else f" ({outcome.seconds:.1f} s)"
    reason = f": {outcome.reason}" if outcome.verdict != PASS else ""
    return f"{outcome.verdict} {outcome.program} {outcome.layout}{seconds}{reason}"


def failure_details(outcome: ProgramOutcome) -> str:
    """The details of a failure: its last lines and the command that repeats it."""
    indented = "\n".join(f"    | {text}" for text in outcome.tail.splitlines())
    return f"{outcome_line(outcome)}\n{indented}\n  repeat: {outcome.repeat}"


def outcomes_table(outcomes: Sequence[ProgramOutcome]) -> str:
    """The table for a terminal, aligned, with a summary line."""
    table = table_text(_TABLE_HEADS, map(_table_cells, outcomes), right=range(3, len(_TABLE_HEADS)))
    counts = Counter(outcome.verdict for outcome in outcomes)
    return f"{table}\n" + ", ".join(f"{counts[verdict]} {verdict}" for verdict in (PASS, FAIL, SKIP))


def _table_cells(outcome: ProgramOutcome) -> tuple[str, ...]:
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


# The runs.

#: Seconds that a worker needs beside its programs' own limits: start of the container, clean-up.
WORKER_SECONDS = 60


@dataclass
class Session:
    """Runs rows of the table.

    Attributes:
        launcher: ``mosalloc-run`` to test instead of the checkout's own.
        want_1gb: try to have one 1GB page for ``mixed``.
        notes: what was not as asked and fails nothing, as sentences.
    """

    launcher: Path | None = None
    want_1gb: bool = True
    notes: list[str] = field(default_factory=list)
    _page_1gb: bool = field(default=False, init=False)

    def run(
        self, programs: Sequence[ProvedProgram], layouts: Sequence[str] = MOSAIC_NAMES
    ) -> Iterator[ProgramOutcome]:
        """Outcomes of all rows; huge pages are held meanwhile, and given back however this ends."""
        if self.launcher is None:
            built("mosalloc", "mosalloc-run")  # one error now, not one for each row
        tools = programs_toolchain()
        with ExitStack() as held:
            if "mixed" in layouts and self.want_1gb:
                self._page_1gb = self._reserve_1gb(held)
            for program in programs:
                yield from self._program(tools, program, layouts)

    def _program(
        self, tools: Toolchain, program: ProvedProgram, layouts: Sequence[str]
    ) -> Iterator[ProgramOutcome]:
        """One program's rows, with exactly the 2MB pages that the largest needs: none is spare for forks."""
        with ExitStack() as held:
            runnable, refusal = list(layouts), ""
            try:
                held.enter_context(reserve_huge_pages(max(pages_needed(name, program) for name in layouts)))
            except HugePagesUnavailable as error:
                runnable = [name for name in layouts if not pages_needed(name, program)]
                refusal = str(error).replace("\n  what to do", "; what to do")
            for name in layouts:
                if name not in runnable:
                    yield ProgramOutcome(program.name, name, SKIP, refusal)
            if runnable:
                yield from self._worker(tools, program, runnable)

    def _reserve_1gb(self, held: ExitStack) -> bool:
        if PAGE_1GB not in supported_sizes():
            self.notes.append("mixed has no 1GB window: this machine has no 1GB pages")
            return False
        try:
            held.enter_context(reserve_huge_pages(0, 1))
        except HugePagesUnavailable as error:
            self.notes.append(f"mixed has no 1GB window: {error.problem}")
            return False
        return huge_pages_free(PAGE_1GB) > 0

    def _worker(
        self, tools: Toolchain, program: ProvedProgram, layouts: list[str]
    ) -> Iterator[ProgramOutcome]:
        folder = build_dir("programs") / program.name
        folder.mkdir(parents=True, exist_ok=True)
        for name in layouts:
            write_layout(mosaic(name, program, page_1gb=self._page_1gb), folder / f"{name}.csv")
        argv = module_command(
            "tessera.lab.allocator_proof.programs.worker", program.name, "--folder", folder, python="python3"
        )
        paths = []
        if self.launcher is not None:
            argv += ["--launcher", self.launcher]
            paths = [self.launcher.parent]
        env = {"PYTHONPATH": str(repo_root() / "src"), "PYTHONDONTWRITEBYTECODE": "1", "LC_ALL": "C.UTF-8"}
        # Docker's own filter denies userfaultfd, which holds other threads back while a huge page is split or
        # copied for a forked child.
        options = RunOptions(writes=(folder,), huge_pages=True, unconfined=True)
        left = list(layouts)
        with (folder / "worker.err").open("w") as err:
            process = tools.popen(
                [*argv, *layouts], paths, env, options=options, stdout=subprocess.PIPE, stderr=err, text=True
            )
            limit = WORKER_SECONDS + program.timeout_seconds * (len(layouts) + 1)
            alarm = threading.Timer(limit, process.kill)
            alarm.start()
            try:
                with stopped_at_exit(process):
                    for line in process.stdout:
                        outcome = ProgramOutcome(**json.loads(line))
                        left.remove(outcome.layout)
                        yield self._finished(outcome, program)
            finally:
                alarm.cancel()
        for name in left:  # the worker died, or was killed by the alarm
            tail = (folder / "worker.err").read_text(errors="replace")[-2000:]
            reason = f"the worker ended with status {process.returncode} before this layout"
            yield self._finished(ProgramOutcome(program.name, name, FAIL, reason, tail=tail), program)

    def _finished(self, outcome: ProgramOutcome, program: ProvedProgram) -> ProgramOutcome:
        pages = mosaic(outcome.layout, program).pages(PAGE_2MB)
        again = f"./run tessera lab allocator programs {program.name} --layout {outcome.layout}"
        inner = f"\n  inside: {outcome.repeat}" if outcome.repeat else ""
        return replace(outcome, pages_2mb=pages, repeat=again + inner)
