"""Call ``mosalloc-run``: the one place that knows its command line.

Real runs happen on the host itself, not in a container: the huge pages, the CPU and the program are the
host's. The launcher and the library are linked so that any host with glibc 2.34 or later can load them.
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NoReturn

from tessera.core.paths import built
from tessera.layouts.model import read_layout
from tessera.mosalloc.front import become, run_forwarding


def command(
    program: Sequence[str],
    layout: Path | str,
    *,
    report: Path | str | None = None,
    target: str | None = None,
    allow_fallback: bool = False,
    prefault: bool = True,
    verbose: bool = False,
    hints: str | None = None,
    stacks: str | None = None,
    protections: str | None = None,
    analyze: Path | str | None = None,
    interval_ms: int | None = None,
) -> list[str]:
    """The argv that runs ``program`` under ``layout``.

    Args:
        program: argv of the program; its first word is looked up in PATH.
        report: JSON file for what was asked and found (:func:`tessera.mosalloc.read_report`).
        target: executable that gets the layout, when ``program`` is a script that starts it.
        allow_fallback: go on with 4KB pages where huge pages can't be had; the report says so.
        prefault: fault windows in before the program starts; without, they grow on demand.
        hints, stacks: ``kernel`` or ``pool``: who gets memory with an address hint, and threads' stacks.
        protections: ``guards``, ``soft`` or ``exact``: when a huge page is split to keep protections.
        analyze: JSON file for the footprint over time (:func:`tessera.mosalloc.read_analysis`).
        interval_ms: time between its samples.

    Raises:
        TesseraError: the layout is malformed, or the launcher is not built.
    """
    read_layout(layout)
    argv = [str(built("mosalloc", "mosalloc-run")), "--layout", str(layout)]
    if report is not None:
        argv += ["--report", str(report)]
    if target is not None:
        argv += ["--target", target]
    argv += ["--allow-fallback"] * allow_fallback
    argv += ["--no-prefault"] * (not prefault)
    argv += ["--verbose"] * verbose
    valued = {
        "--hints": hints,
        "--stacks": stacks,
        "--protections": protections,
        "--analyze": analyze,
        "--interval-ms": interval_ms,
    }
    for option, value in valued.items():
        if value is not None:  # absent options keep the launcher's own defaults
            argv += [option, str(value)]
    return [*argv, "--", *map(str, program)]


def run_under_layout(
    program: Sequence[str],
    layout: Path | str,
    *,
    env: Mapping[str, str] | None = None,
    capture: bool = False,
    cwd: Path | str | None = None,
    then_raise: bool = True,
    **options,
) -> subprocess.CompletedProcess:
    """Run ``program`` under ``layout`` to its end; ``options`` are those of :func:`command`.

    The return code is the program's own, 2 for a wrong request or missing huge pages, 1 if the pages found
    are not the pages asked for; the launcher has then said why on stderr. Signals are passed on, and the
    program ends in its own time. With ``then_raise`` they have their usual effect afterwards.
    """
    argv = command(program, layout, **options)
    return run_forwarding(argv, env=env, capture=capture, cwd=cwd, then_raise=then_raise)


def become_launcher(program: Sequence[str], layout: Path | str, **options) -> NoReturn:
    """Replace this process by the launcher; ``options`` are those of :func:`command`."""
    become(command(program, layout, **options))
