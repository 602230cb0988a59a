"""The table's runs: huge pages reserved around each program, a worker for it, outcomes as they come."""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

from tessera.allocator_proof.programs.model import FAIL, SKIP, Program, ProgramOutcome
from tessera.allocator_proof.programs.mosaics import LAYOUTS, mosaic, pages_needed
from tessera.core.paths import build_dir, built, repo_root
from tessera.core.python import module_command
from tessera.core.units import PAGE_1GB, PAGE_2MB
from tessera.layouts.model import write_layout
from tessera.machine.container.command import RunOptions
from tessera.machine.container.process import stopped_at_exit
from tessera.machine.container.toolchain import Toolchain, programs_toolchain
from tessera.machine.reserve import HugePagesUnavailable, reserve_huge_pages
from tessera.machine.reserve.pools import huge_pages_free, supported_sizes

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

    def run(self, programs: Sequence[Program], layouts: Sequence[str] = LAYOUTS) -> Iterator[ProgramOutcome]:
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
        self, tools: Toolchain, program: Program, layouts: Sequence[str]
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
            self.notes.append(f"mixed has no 1GB window: {error.asked}: {error.found}")
            return False
        return huge_pages_free(PAGE_1GB) > 0

    def _worker(self, tools: Toolchain, program: Program, layouts: list[str]) -> Iterator[ProgramOutcome]:
        folder = build_dir("programs") / program.name
        folder.mkdir(parents=True, exist_ok=True)
        for name in layouts:
            write_layout(mosaic(name, program, page_1gb=self._page_1gb), folder / f"{name}.csv")
        argv = module_command(
            "tessera.allocator_proof.programs.worker", program.name, "--folder", folder, python="python3"
        )
        paths = []
        if self.launcher is not None:
            argv += ["--launcher", self.launcher]
            paths = [self.launcher.parent]
        env = {"PYTHONPATH": str(repo_root() / "src"), "PYTHONDONTWRITEBYTECODE": "1", "LC_ALL": "C.UTF-8"}
        # Docker's own filter denies userfaultfd, which holds other threads back while a huge page is split or
        # copied for a forked child.
        options = RunOptions(huge_pages=True, unconfined=True)
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

    def _finished(self, outcome: ProgramOutcome, program: Program) -> ProgramOutcome:
        pages = mosaic(outcome.layout, program).pages(PAGE_2MB)
        again = f"./run tessera mosalloc programs {program.name} --layout {outcome.layout}"
        inner = f"\n  inside: {outcome.repeat}" if outcome.repeat else ""
        return replace(outcome, pages_2mb=pages, repeat=again + inner)
