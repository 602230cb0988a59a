"""Record the region of interest of an unmodified program.

The trace appears under its name only when it is complete and the program succeeded: a wrong answer or a
crash leaves no trace.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from tessera.container import RunOptions, toolchain
from tessera.container.process import stopped_at_exit
from tessera.container.toolchain import HostToolchain
from tessera.errors import EXIT_FAILED, TesseraError, unknown_name
from tessera.paths import repo_root
from tessera.traces.companion import Companion, beside
from tessera.traces.guest import QEMU, Guest
from tessera.traces.header import info
from tessera.traces.passing import communicate
from tessera.traces.sysroot import stage
from tessera.units import GB, format_bytes, parse_bytes

ROI_CHOICES = ("auto", "whole", "markers")

#: QEMU keeps a table over reserved pages, touched or not: 64GB cost it 400MB.
MAX_POOL_BYTES = 64 * GB


@dataclass(frozen=True)
class Recorded:
    """A finished recording: the program's exit status (0) and output, and the trace."""

    returncode: int
    stdout: str
    trace: Path


def record(
    argv: Sequence[str | Path],
    out: Path | str,
    *,
    heap_pool: int | str = GB,
    anon_pool: int | str = GB,
    max_accesses: int | None = None,
    roi: str = "auto",
    threads: bool = False,
    show_stdout: bool = False,
    companion: Companion | None = None,
    paths: Sequence[Path] = (),
) -> Recorded:
    """Run ``argv`` in the toolchain under QEMU and write its trace to ``out``.

    Args:
        heap_pool, anon_pool: sizes of libmosalloc's pools (bytes or ``1GB``).
        max_accesses: stop recording after so many accesses; the program runs on to its end.
        roi: ``markers`` (of roi.h), ``whole`` (the program's own code to its end), or ``auto``: markers if
            the executable holds one.
        threads: the program starts threads; the first that enters the region is recorded.
        show_stdout: pass the program's standard output on.
        companion: what runs beside the program, such as the load of a server, and ends it; the program
            then shares this machine's network.
        paths: files and folders outside the checkout that the program opens.

    Raises:
        TesseraError: nothing was recorded, for the reason given; ``out`` does not exist then.
    """
    out = Path(out).absolute()
    program = _executable(str(argv[0]))
    if roi not in ROI_CHOICES:
        raise unknown_name("region of interest", roi, ROI_CHOICES)
    pools = {"heap-pool": _pool(heap_pool, "--heap-pool"), "anon-pool": _pool(anon_pool, "--anon-pool")}
    if max_accesses is not None and max_accesses <= 0:
        raise TesseraError(f"--max-accesses {max_accesses}", "not positive", "give a positive number")
    command_line = shlex.join(str(word) for word in argv)
    out.parent.mkdir(parents=True, exist_ok=True)
    out.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory(prefix=".record-", dir=out.parent) as name:
        folder = Path(name)
        guest = _guest(program, [str(word) for word in argv], folder, pools)
        partial = folder / "trace.tst"
        guest.write_files(
            {
                "out": partial,
                "program": command_line.replace("\n", " "),
                "roi": roi,
                "max_accesses": max_accesses or 0,
                "threads": int(threads),
            }
        )
        status, stdout, stderr = _run(guest, [out.parent, *paths], show_stdout, companion)
        _check(command_line, guest, partial, status, stdout, stderr)
        partial.rename(out)
    seen = info(out)["threads"]
    if seen > 1:
        click.echo(f"warning: {seen} threads ran in the region of interest; the first is recorded", err=True)
    return Recorded(status, stdout, out)


def _pool(size: int | str, owner: str) -> int:
    asked = parse_bytes(size, owner=owner)
    if not 0 < asked <= MAX_POOL_BYTES:
        raise TesseraError(
            f"{owner} {format_bytes(asked)}",
            f"pools of traced programs are at most {format_bytes(MAX_POOL_BYTES)}, and not empty",
            "trace a smaller size of the program",
        )
    return asked


def _executable(name: str) -> Path:
    found = shutil.which(name)
    if found is None:
        raise TesseraError(f"record '{name}'", "no such program", "give its path, or one on $PATH")
    return Path(found).absolute()


def _guest(program: Path, arguments: list[str], folder: Path, pools: dict[str, int]) -> Guest:
    sizes = {"heap_pool_bytes": pools["heap-pool"], "anon_pool_bytes": pools["anon-pool"]}
    on_host = isinstance(toolchain(), HostToolchain)
    if on_host and shutil.which(QEMU) is None:
        raise TesseraError(f"record {program}", f"{QEMU} is not installed", "install qemu-user")
    if on_host or program.resolve().is_relative_to(repo_root()):
        return Guest(program.resolve(), arguments, folder, **sizes)
    sysroot = folder / "sysroot"
    return Guest(stage(program, sysroot), arguments, folder, **sizes, sysroot=sysroot)


def _run(
    guest: Guest, paths: Sequence[Path], show_stdout: bool, companion: Companion | None
) -> tuple[int, str, str]:
    process = toolchain().popen(
        guest.command(),
        paths,
        guest.environment(),
        options=RunOptions(network="host") if companion else None,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
    )
    with stopped_at_exit(process), beside(process, companion):
        stdout, stderr = communicate(process, show_stdout)
    return process.returncode, stdout, stderr


def _check(command: str, guest: Guest, trace: Path, status: int, stdout: str, stderr: str) -> None:
    """Raise unless the program succeeded and left a trace."""
    from tessera.traces.poolmap import pool_usage

    said = re.search(r"^tessera-trace plugin: (.*): (.*)\n\s*what to do: (.*)$", stderr, re.MULTILINE)
    if said:
        raise TesseraError(*said.groups(), exit_code=EXIT_FAILED)
    last = "\n".join(stderr.strip().splitlines()[-5:])
    tail = f":\n{last}" if last else ""
    if status != 0:
        remedy = "run it without tracing; if it ran out of memory, give larger --heap-pool and --anon-pool"
        usage = pool_usage(guest.pool_map)
        found = f"it ended with status {status}{usage}{tail}"
        raise TesseraError(f"record '{command}'", found, remedy, exit_code=EXIT_FAILED)
    if _says_unverified(stdout):
        raise TesseraError(
            f"record '{command}'",
            'its verifier failed ("verified": false)',
            "run it without tracing; a trace of a wrong run is not kept",
            exit_code=EXIT_FAILED,
        )
    if not trace.exists():
        raise TesseraError(
            f"record '{command}'",
            f"it ended well but left no trace{tail}",
            "record the program that it starts: exec and children are not followed",
            exit_code=EXIT_FAILED,
        )


def _says_unverified(stdout: str) -> bool:
    lines = stdout.strip().splitlines()
    try:
        answer = json.loads(lines[-1]) if lines else None
    except ValueError:
        return False
    return isinstance(answer, dict) and answer.get("verified") is False
