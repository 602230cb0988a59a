"""Runs a program under libmosalloc and writes the mapping of its pools at one moment.

Programs that only start another program are refused by name: the layout is for that one.

See docs/reference/mappings.md.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.files import built, check_target, write_text
from tessera.core.layouts.layout import ALL_4KB, Layout, write_layout
from tessera.core.mapping.capture import Span, capture_pools, check_allowed
from tessera.core.mapping.mapping_file import write_mapping
from tessera.core.mapping.page_mapping import PAGES_OF_2MB, POOLS, MappingRows, PageMapping
from tessera.core.units import GB, PAGE_4KB
from tessera.machine.program_paths import preloadable
from tessera.measure.mosalloc.launcher import forwarding
from tessera.measure.mosalloc.pools import (
    advise_pools,
    clear_pool_map,
    large_page_facts,
    large_pages_wanted,
    read_pool_map,
)
from tessera.measure.mosalloc.stopping import NotStarted, StartedProgram, StopPoint

DEFAULT_POOL_BYTES = 64 * GB  #: address space only, as in traces


@dataclass(frozen=True)
class CapturedProgram:
    """What was captured, and the program's exit status (None while it runs)."""

    rows: MappingRows
    facts: dict[str, object]
    exit_status: int | None = None


def facts_file(out: Path) -> Path:
    """The file beside a captured mapping that says where it comes from."""
    return out.with_name(out.name + ".json")


def capture_program(
    argv: Sequence[str],
    out: Path,
    moment: StopPoint,
    *,
    thp: str = "never",
    pools: Mapping[str, int] | None = None,
    tell: Callable[[CapturedProgram], None] | None = None,
) -> CapturedProgram:
    """Run a program, write the mapping that it has at the moment, and let it run to its end.

    Args:
        thp: ``never``, ``always`` or ``as-is``; the machine's settings are not changed.
        pools: size in bytes of ``brk`` and ``mmap``.
        tell: called when the files are written, before the program continues.

    Raises:
        TesseraError: docs/reference/mappings.md lists the codes. The program gets SIGTERM, and no file is
        written.
    """
    refuse_starters(argv, "tessera mapping capture ...")
    check_target(out)
    check_target(facts_file(out))
    executable = shutil.which(argv[0])
    if executable is None:
        raise _refused(argv, "no such program in PATH", "check its name and its execute permission")
    library = preloadable(built("mosalloc", "libmosalloc.so"))
    check_allowed()
    machine = large_page_facts()
    large = large_pages_wanted(thp, machine["transparent_hugepage"])
    with tempfile.TemporaryDirectory(prefix="tessera-capture-") as name:
        layout, pool_map = Path(name) / f"{ALL_4KB}.csv", Path(name) / "pools"
        sizes = dict(pools or dict.fromkeys(POOLS, DEFAULT_POOL_BYTES))
        write_layout(Layout(ALL_4KB, sizes), layout)
        preload = " ".join(filter(None, (str(library), os.environ.get("LD_PRELOAD"))))
        environment = os.environ | {
            "LD_PRELOAD": preload,
            "MOSALLOC_LAYOUT": str(layout),
            "MOSALLOC_POOL_MAP": str(pool_map),
        }
        at_entry = (lambda pid: advise_pools(pid, pool_map)) if large else None
        program = None
        with forwarding() as forwarder:
            try:
                program = StartedProgram(
                    [executable, *argv[1:]],
                    environment,
                    large_pages=large,
                    at_entry=at_entry,
                    at_exec=lambda: clear_pool_map(pool_map),
                )
                forwarder.follow(program)
                done = _captured(program, argv, out, moment, pool_map, machine | {"thp": thp})
                if tell:
                    tell(done)
                return CapturedProgram(done.rows, done.facts, program.finish())
            except NotStarted as error:
                raise _refused(argv, str(error), "check the program and this machine's policy") from None
            except BaseException:
                if program:
                    program.send_signal(signal.SIGTERM)
                    program.finish()
                raise


def _captured(
    program: StartedProgram, argv: Sequence[str], out: Path, moment: StopPoint, pool_map: Path, machine: dict
) -> CapturedProgram:
    reason = program.run_to(moment)
    _check_moment(program, argv, moment, reason)
    places = read_pool_map(pool_map, program.pid) if pool_map.exists() else []
    used = [Span(place.pool, place.base, place.used_bytes) for place in places if place.used_bytes]
    if not used:
        raise TesseraError(
            f"pools of '{argv[0]}'",
            "the program has no memory in libmosalloc's pools",
            "name the program that does the work, dynamically linked with glibc; or capture later",
            exit_code=EXIT_FAILED,
            code="mapping/no-pools",
        )
    started = time.monotonic()
    found = capture_pools(program.pid, used)
    seconds = time.monotonic() - started
    facts = {
        "provenance": "measured",
        "program": list(argv),
        "moment": {"asked": moment.kind, "stopped_by": reason}
        | ({"seconds": moment.seconds} if moment.kind == "after" else {}),
        **machine,
        "pools": {span.pool: {"used_bytes": span.used_bytes} for span in used},
        "mapped_pages": int(found.rows.pages.sum()),
        "pages_in_2mb": int(found.rows.pages[found.rows.size == PAGES_OF_2MB].sum()),
        "zero_pages": found.zero_pages,
        "page_bytes": PAGE_4KB,
        "capture_seconds": round(seconds, 3),
    }
    write_mapping(PageMapping.fixed(out.stem, found.rows), out)
    write_text(facts_file(out), json.dumps(facts, indent=2) + "\n")
    return CapturedProgram(found.rows, facts)


def _check_moment(program: StartedProgram, argv: Sequence[str], moment: StopPoint, reason: str) -> None:
    """Reject a program that ended too early, failed, or has no marker."""
    if reason == "unmarked":
        raise TesseraError(
            f"--at begin of '{argv[0]}'",
            "the program has no marker of a region of interest",
            "use --at end or --after-seconds",
            code="mapping/unmarked",
        )
    if reason in ("marker", "time"):
        return
    status = program.exit_status if reason == "exit" else program.status
    code = os.waitstatus_to_exitcode(status)
    said = f"signal {-code}" if code < 0 else f"status {code}"
    by_end = moment.kind == "end" and not program.has_end
    if reason == "exit" and by_end and code == 0:
        return
    raise TesseraError(
        f"capture of '{shlex.join(argv)}'",
        f"the program ended with {said}" + ("" if by_end else f" before the moment '{moment.kind}'"),
        "run it by hand until it succeeds" if by_end or code else "choose an earlier moment",
        exit_code=EXIT_FAILED,
        code="mapping/ended",
    )


def _refused(argv: Sequence[str], found: str, remedy: str) -> TesseraError:
    return TesseraError(f"program '{argv[0]}'", found, remedy, code="mapping/program")


# Programs that start another program, by name: the layout is for that one.

#: As artifacts/mosalloc/include/mosalloc/starters.h.
STARTERS = (
    *("env", "nice", "nohup", "timeout", "taskset", "chrt", "ionice", "setsid"),
    *("stdbuf", "time", "numactl", "prlimit", "setarch", "linux64", "choom", "setpriv"),
)
SHELLS = (
    *("sh", "bash", "dash", "zsh", "ksh", "mksh", "fish", "csh", "tcsh", "busybox", "xargs", "make"),
    "gmake",
)


def refuse_starters(program: Sequence[str], command: str) -> None:
    """Raise if ``program`` only starts the program to look at: the recorder would look at the starter."""
    path = shutil.which(program[0]) or program[0]
    names = {os.path.basename(path), os.path.basename(os.path.realpath(path))}
    for table in (STARTERS, SHELLS):
        if found := names & set(table):
            kind = "a shell" if table is SHELLS else "a starter"
            raise TesseraError(
                f"program '{program[0]}'",
                f"{sorted(found)[0]} is {kind}: it starts the program whose accesses matter",
                f"name that program itself: {command} -- PROGRAM [ARGUMENT]...",
                code="program-starts-others",
            )
