"""Start a program under a layout, once, by the launcher, and what such a run depends on.

Every run under a mosaic that is timed starts here. A run is reused only where all that it depends on is the
same.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tessera.core.files import built, sha256_of
from tessera.core.layouts.layout import Layout
from tessera.core.units import PAGE_1GB, PAGE_2MB
from tessera.machine.container import RunOptions, toolchain
from tessera.machine.container.process import stopped_at_exit
from tessera.machine.container.toolchain import Toolchain
from tessera.machine.container.watchdog import watchdog
from tessera.record.traces.guest import PINNED_TUNABLES
from tessera.simulate.runner import content_key

# One run.
#
# Runs of :mod:`tessera.measure.counted.counted_run` and programs of :mod:`tessera.lab.clock` differ in what
# they ask of the launcher, and in how they judge the end.


@dataclass(frozen=True)
class ProgramEnd:
    """Exit status and output of the launcher and its program; ``seconds`` from start to end."""

    status: int
    output: str
    errors: str
    seconds: float


def start_program(
    where: Toolchain,
    launcher: Path,
    layout: Path,
    program: Sequence[str],
    *,
    asked: Sequence[str | os.PathLike[str]] = (),
    before: Sequence[str | os.PathLike[str]] = (),
    paths: Sequence[Path] = (),
    writes: Sequence[Path] = (),
    environment: Mapping[str, str] | None = None,
    counted: bool = False,
    pinned: bool = True,
) -> ProgramEnd:
    """Run the program to its end; whether it succeeded is not judged.

    Args:
        where: where the program runs.
        asked: further options of the launcher.
        before: words before the launcher (perf, taskset).
        paths: files and folders outside the checkout that are opened; the layout's folder is added.
        writes: folders that launcher and program write.
        environment: variables of the program.
        counted: events are opened. Docker's filter forbids perf_event_open; CAP_PERFMON would lift it, and
            older Dockers don't know it, so the filter is off.
        pinned: glibc uses the routines that the traced run used; else those of this processor.

    Raises:
        ProgramHangs: it was ended because it hung (:mod:`tessera.machine.container.watchdog`).
    """
    began = time.monotonic()
    process = where.popen(
        [*before, launcher, "--layout", layout, *asked, "--", *program],
        [layout.parent, *paths],
        dict(environment or {}) | ({"GLIBC_TUNABLES": PINNED_TUNABLES} if pinned else {}),
        options=RunOptions(writes=tuple(writes), huge_pages=True, unconfined=counted),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
    )
    with stopped_at_exit(process), watchdog(process, f"run '{' '.join(program)}'", lambda: None):
        output, errors = process.communicate()
    return ProgramEnd(process.returncode, output, errors, time.monotonic() - began)


def last_words(errors: str) -> str:
    """The last line of an error output that is not a remedy (those follow the finding)."""
    lines = [line.strip() for line in errors.splitlines() if line.strip()]
    findings = [line for line in lines if not line.startswith("what to do:")]
    return (findings or lines or [""])[-1]


def huge_pages_needed(layouts: Iterable[Layout]) -> tuple[int, int]:
    """Huge pages of 2MB and of 1GB that the most demanding layout of each needs; they run one by one."""
    listed = list(layouts)
    large, largest = (max((one.pages(size) for one in listed), default=0) for size in (PAGE_2MB, PAGE_1GB))
    return large, largest


# What a run depends on.


def launcher() -> Path:
    """The program that starts another under libmosalloc and checks its pages."""
    return built("mosalloc", "mosalloc-run")


def common_key(command: list[str]) -> str:
    """Everything but the layout: programs, libraries, arguments, toolchain, processor and kernel."""
    programs = [launcher(), built("mosalloc", "libmosalloc.so"), Path(command[0])]
    return content_key(
        *[sha256_of(path) for path in programs],
        json.dumps(command[1:]),
        json.dumps(toolchain().describe(), sort_keys=True),
        processor_identity(),
        platform.release(),
    )


def run_key(common: str, layout: Path) -> str:
    """The key of a run under one layout file."""
    return content_key(common, sha256_of(layout))


def processor_identity() -> str:
    """Model name and number of processors; runs are reused if both are equal. psutil has no model name."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{names[0] if names else platform.machine()} x {len(names)}"
