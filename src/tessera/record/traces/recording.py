"""Record the region of interest of an unmodified program, or count its accesses only.

The trace appears under its name only when it is complete and the program succeeded: a wrong answer or a
crash leaves no trace.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.files import check_target, publish, repo_root, scratch_folder, with_names
from tessera.core.results.outcomes import note_of, note_sentence
from tessera.core.units import GB, format_bytes, parse_bytes
from tessera.machine.container import RunOptions
from tessera.machine.container.command import caller_folder, writable_of_caller
from tessera.machine.container.process import stopped_at_exit
from tessera.machine.container.toolchain import HostToolchain, Toolchain
from tessera.machine.program_paths import FixedNames
from tessera.record.traces.companion import Companion, communicate, run_beside
from tessera.record.traces.failures import NEWER_LEVEL, signal_of, why_it_failed
from tessera.record.traces.guest import Place, TracedProgram
from tessera.record.traces.header import trace_info
from tessera.record.traces.options import Options, refuse_region

#: QEMU keeps a table over reserved pages, touched or not: 64GB cost it 400MB.
MAX_POOL_BYTES = 64 * GB


@dataclass(frozen=True)
class Recorded:
    """A finished recording: the program's exit status (0) and output, and the trace.

    ``stopped``: the program was ended when enough was recorded, so its own verifier never spoke; the result
    of such a run is ``unverified: stopped``.
    """

    returncode: int
    stdout: str
    trace: Path
    stopped: bool = False
    stderr: str = ""


def record_program(
    argv: Sequence[str | Path],
    out: Path | str,
    *,
    heap_pool: int | str = GB,
    anon_pool: int | str = GB,
    max_accesses: int | None = None,
    roi: str = "auto",
    threads: bool = False,
    thread: str | None = None,
    kernel_accesses: bool | None = None,
    stop_when_recorded: bool = False,
    show_stdout: bool = False,
    companion: Companion | None = None,
    paths: Sequence[Path] = (),
    writes: Sequence[Path] = (),
    environment: Mapping[str, str] | None = None,
    where: Toolchain | None = None,
    folder: Path | None = None,
    target: str | None = None,
    fixed_names: bool = False,
    windows: int = 1,
    region_accesses: int | None = None,
    window_span: int | None = None,
    fixed_clocks: bool = False,
    events: bool = False,
) -> Recorded:
    """Run ``argv`` under QEMU and write its trace to ``out``.

    Args:
        heap_pool, anon_pool: sizes of libmosalloc's pools (bytes or ``1GB``).
        max_accesses: stop recording after so many accesses; the program runs on to its end.
        roi: ``markers``, ``whole``, ``auto``, ``skip:N``, ``switch:FILE``, ``closed:NAME`` or
            ``written:NAME`` (:mod:`tessera.record.traces.options`).
        threads: the program starts threads; one of them is recorded.
        thread: ``first``, ``busiest`` or a number; by default ``busiest`` for a program with threads and a
            switch (a server), else ``first``.
        kernel_accesses: also record what system calls read and write of the program's memory; by default for
            programs of an image and for those with a companion (servers).
        stop_when_recorded: end the program once ``max_accesses`` are recorded (``Recorded.stopped``).
        show_stdout: pass the program's standard output on.
        companion: what runs beside the program, such as the load of a server, and ends it; the program
            then shares this machine's network.
        paths: files and folders outside the checkout that the program opens.
        writes: those that it writes, besides ``folder`` and, if it lies outside the checkout, the caller's
            folder.
        environment: further variables of the program.
        where: image that has the program under ``argv[0]``'s own path (``workloads_toolchain()``); by
            default a program of this machine, in the toolchain.
        folder: working folder of the program.
        target: executable to record when ``argv`` is a script that starts it.
        fixed_names: the program sees its files under names that no folder of this machine decides, so that
            recordings repeat (:class:`tessera.machine.program_paths.FixedNames`). Needs a container; without
            one the names stay.
        windows: record so many parts, spread over the region
            (:func:`tessera.record.traces.options.plan_windows`).
        region_accesses: data accesses of the region (:func:`count_accesses`); needed for several windows. If
            the program runs to the end of its region, another number is an error.
        window_span: accesses at the beginning of the region that several windows lie in; all of them if None.
        fixed_clocks: the program sees a clock that advances by one microsecond with each look at it. Not for
            programs that time their own region of interest.
        events: also record the program's calls to memory management as libmosalloc receives them. Imitations
            of an operating system need them, with ``roi="whole"`` and ``kernel_accesses=True``.

    Raises:
        TesseraError: nothing was recorded, for the reason given; ``out`` does not exist then.
    """
    out = check_target(out)
    words = [str(word) for word in argv]
    server = companion is not None
    options = Options(
        roi,
        max_accesses,
        threads,
        thread or ("busiest" if threads and roi.startswith("switch:") else "first"),
        (server or where is not None) if kernel_accesses is None else kernel_accesses,
        stop_when_recorded,
        windows,
        region_accesses,
        window_span,
        fixed_clocks,
        events,
    )
    pools = {
        "heap_pool_bytes": _pool(heap_pool, "--heap-pool"),
        "anon_pool_bytes": _pool(anon_pool, "--anon-pool"),
    }
    folder = Path(folder).absolute() if folder else None
    place = Place(where, folder, target)
    command_line = shlex.join(words)
    visible = [*paths, *([] if folder else caller_folder())]
    written = [*writes, *([folder] if folder else writable_of_caller(caller_folder()))]
    if options.switch:
        written.append(options.switch.parent)
    with scratch_folder(out) as scratch:
        out.unlink(missing_ok=True)
        guest = place.guest(words, scratch, pools)
        guest = replace(guest, variables=dict(environment or {}), events=events)
        partial = scratch / "trace.tst"
        contained = not isinstance(place.engine, HostToolchain)
        names = FixedNames({})
        if fixed_names and contained:
            names = FixedNames.of(repo_root(), scratch, folder, paths)
        if contained:
            guest = replace(guest, preload=names.preloadable)
        header = shlex.join(names.words(words)).replace("\n", " ")  # quoted by the fixed names
        guest.write_files({"out": partial, "program": header, **options.settings()})
        by_hand = options.switch is not None and companion is None  # another shell gives it work and ends it
        grown = None if by_hand else lambda: partial.stat().st_size if partial.exists() else 0
        status, stdout, stderr = _run(
            place, guest, words, visible, show_stdout, companion, names, grown, [scratch, *written]
        )
        stderr = with_names(stderr, names.back())
        stderr = with_names(stderr, {partial: out, f"{scratch}/": ""})
        stopped = partial.exists() and trace_info(partial)["stopped"]
        _check(command_line, place, guest, partial, status, stdout, stderr)
        difference = refuse_region(command_line, region_accesses, window_span, trace_info(partial))
        publish(partial, out)
    if difference:
        click.echo(f"warning: {difference}", err=True)
    if note := note_sentence(note_of(trace_info(out))):
        click.echo(f"warning: {note} (--thread {options.thread})", err=True)
    return Recorded(status, stdout, out, stopped, stderr)


def _pool(size: int | str, owner: str) -> int:
    asked = parse_bytes(size, owner=owner)
    if not 0 < asked <= MAX_POOL_BYTES:
        raise TesseraError(
            f"{owner} {format_bytes(asked)}",
            f"the pool of a traced program must have 1 byte to {format_bytes(MAX_POOL_BYTES)}",
            "record a smaller size of the workload",
        )
    return asked


def _run(
    place: Place,
    guest: TracedProgram,
    argv: list[str],
    paths: Sequence[Path],
    show_stdout: bool,
    companion: Companion | None,
    names: FixedNames,
    grown: Callable[[], int] | None,
    writes: Sequence[Path] = (),
) -> tuple[int, str, str]:
    command, variables = place.command(guest, argv), guest.environment()
    options = RunOptions(writes=tuple(writes), network="host" if companion else "none")
    if not isinstance(place.engine, HostToolchain):
        options = names.mounted(options)
    if names.names:
        command, variables = names.command(command, variables), {}
        options = replace(options, hostname="tessera")
    process = place.engine.popen(
        command,
        paths,
        variables,
        options=options,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
    )
    with stopped_at_exit(process), run_beside(process, companion):
        stdout, stderr = communicate(process, show_stdout, f"record '{shlex.join(argv)}'", grown)
    return process.returncode, stdout, stderr


def _check(
    command: str, place: Place, guest: TracedProgram, trace: Path, status: int, stdout: str, stderr: str
) -> None:
    """Raise unless the program succeeded and left a trace."""
    said = re.search(
        r"^(?:tessera-trace plugin|mosalloc): (.*): (.*)\n\s*what to do: (.*)$", stderr, re.MULTILINE
    )
    if said and NEWER_LEVEL not in stderr:  # then the region never began, because the program did not start
        raise TesseraError(*said.groups(), exit_code=EXIT_FAILED)
    last = "\n".join(stderr.strip().splitlines()[-5:])
    tail = f":\n{last}" if last else ""
    # A script can hide how its program ended.
    if status != 0 or (signal_of(status, stderr) and not trace.exists()):
        found, remedy = why_it_failed(place, guest, status, stderr)
        raise TesseraError(f"record '{command}'", f"{found}{tail}", remedy, exit_code=EXIT_FAILED)
    if _says_unverified(stdout):
        raise TesseraError(
            f"record '{command}'",
            'the program reported a wrong result ("verified": false), so its trace was deleted',
            "run the program without tracing to find the cause",
            exit_code=EXIT_FAILED,
            code="verifier-failed",
        )
    if not trace.exists():
        raise TesseraError(
            f"record '{command}'",
            f"the program exited with status 0 but wrote no trace{tail}",
            "record the program that this one starts: the tracer does not follow exec and child processes",
            exit_code=EXIT_FAILED,
            code="no-trace",
        )


def _says_unverified(stdout: str) -> bool:
    lines = stdout.strip().splitlines()
    try:
        answer = json.loads(lines[-1]) if lines else None
    except ValueError:
        return False
    return isinstance(answer, dict) and answer.get("verified") is False


# Count the accesses of a region of interest without recording them.


@dataclass(frozen=True)
class RegionCounts:
    """A region of interest: its data accesses and its instructions."""

    accesses: int
    instructions: int


def count_accesses(argv: Sequence[str | Path], **options: Any) -> RegionCounts:
    """Run ``argv`` to its end under QEMU and count its region, as positions of windows are counted.

    Args:
        options: those of :func:`record_program` that say which region is meant and where the program runs.

    Raises:
        TesseraError: as of :func:`record_program`: the program failed, or its region never began.
    """
    with tempfile.TemporaryDirectory(prefix="tessera-count-") as folder:
        found = trace_info(record_program(argv, Path(folder) / "count.tst", windows=0, **options).trace)
    return RegionCounts(found["region_accesses_seen"], found["region_instructions_seen"])
