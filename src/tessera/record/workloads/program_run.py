"""Everything that is needed to run a workload once, for any kind of program.

A kind (:mod:`tessera.record.workloads.kinds`) turns a size of a workload into a :class:`ProgramRun`; whoever
records, measures or tests it needs to know nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.record.traces.companion import Companion

#: Images of ``docker/`` that a run can happen in.
TOOLCHAIN, WORKLOADS, VIPS = "toolchain", "workloads", "vips"
#: The program is this machine's own; recorded, it goes into the toolchain with its libraries.
HOST = "host"


@dataclass(frozen=True)
class Finished:
    """The end of a run: exit status, output as text, and the run's folder."""

    returncode: int
    stdout: str
    stderr: str
    folder: Path


def last_line_json(done: Finished) -> dict:
    """The JSON object in the last line of the output, as the kernels of ``artifacts/workloads`` print it.

    Raises:
        TesseraError: no such line, or it says ``"verified": false``.
    """
    lines = done.stdout.strip().splitlines()
    try:
        answer = json.loads(lines[-1]) if lines else None
    except ValueError:
        answer = None
    if not isinstance(answer, dict):
        raise TesseraError(
            "result of the workload",
            "the last line of the program's output is not a JSON object",
            "run the workload alone: tessera workload run",
            exit_code=EXIT_FAILED,
            code="no-result",
        )
    if answer.get("verified") is not True:
        raise TesseraError(
            "result of the workload",
            'the program reported a wrong result ("verified": false)',
            "run the workload alone: tessera workload run; no trace is kept of a run with a wrong result",
            exit_code=EXIT_FAILED,
            code="verifier-failed",
        )
    return answer


@dataclass(frozen=True)
class ProgramRun:
    """One run of a program.

    Attributes:
        argv: the program and its arguments.
        paths: files and folders outside the checkout that it opens.
        environment: variables of the program.
        folder: its working folder; None for the caller's.
        image: where the program is installed, :data:`TOOLCHAIN`, :data:`WORKLOADS`, :data:`VIPS`
            or :data:`HOST`.
        target: path of the executable that gets the layout when ``argv`` starts another one (a shell
            script); None when it is ``argv[0]`` itself.
        roi: region of interest, as in :mod:`tessera.record.traces.options`.
        threads: the program starts threads.
        thread: which of them is recorded, as of :func:`tessera.record.traces.recording.record_program`;
            None: its default.
        companion: what runs beside it and ends it (a server's load).
        verify: takes the finished run and returns its result (a flat dict that can be written as JSON,
            ``verified: true`` in it), or raises a TesseraError.
    """

    argv: tuple[str, ...]
    paths: tuple[Path, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    folder: Path | None = None
    image: str = TOOLCHAIN
    target: str | None = None
    roi: str = "auto"
    threads: bool = False
    thread: str | None = None
    companion: Companion | None = None
    verify: Callable[[Finished], dict] = last_line_json
