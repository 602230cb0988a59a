"""A profile without counters: record the accesses under QEMU, then simulate the TLB under 4KB pages."""

from __future__ import annotations

import contextlib
import csv
import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from tessera import platforms
from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.machine.container.command import mounts
from tessera.mosalloc.suggest.load import Load, LoadRun
from tessera.mosalloc.suggest.profile import Profile, page_of
from tessera.mosalloc.suggest.verify import count_misses
from tessera.platforms import Platform
from tessera.record import traces
from tessera.results.trace_notes import note_of, sentence
from tessera.simulate.runner import miss_profile

HOST = "host-sim"


def platform_of(name: str, folder: Path) -> Platform:
    """A platform by name or file; ``host-sim`` is this machine, described by CPUID in ``folder``."""
    if name != HOST:
        return platforms.load(name)
    from tessera.platforms.detect import detect

    file = folder / f"{HOST}.yaml"
    detect(file)
    return platforms.load(file)


def starts_threads(program: str) -> bool:
    """Whether the executable names pthread_create or std::thread; the recorder must know before it starts."""
    path = shutil.which(program)
    if path is None:
        raise TesseraError(
            f"program '{program}'",
            "this program was not found",
            "give the path of the program, or a name that is on $PATH",
            code="program-not-found",
        )
    content = Path(path).read_bytes()
    return any(name in content for name in (b"pthread_create", b"_M_start_thread", b"thrd_create"))


def record(
    program: Sequence[str],
    folder: Path,
    *,
    pool_bytes: dict[str, int],
    max_accesses: int,
    load: Load | None,
    threads: bool | None = None,
    roi: str = "auto",
) -> Path:
    """The trace of ``program``, with its load beside it."""
    counted = roi.startswith("skip:")  # the recorder counts the accesses of one thread
    companion = None
    if load is not None:
        load.require_free_port()
        companion = LoadRun(load)
    done = traces.record(
        program,
        folder / "trace.tst",
        heap_pool=pool_bytes["brk"],
        anon_pool=pool_bytes["mmap"],
        max_accesses=max_accesses,
        threads=(not counted and starts_threads(program[0])) if threads is None else threads,
        roi=roi,
        companion=companion,
        paths=opened(program),
    )
    return done.trace


def opened(program: Sequence[str]) -> list[Path]:
    """The current folder and what the arguments name: the program will open it, so it must see it."""
    found = []
    for path in (Path(word).absolute() for word in ("", *program[1:]) if os.path.exists(word or ".")):
        with contextlib.suppress(TesseraError):  # folders of the image's own stay the image's
            mounts([path])
            found.append(path)
    return found


def profile(trace: Path, platform: Platform, folder: Path) -> Profile:
    """Misses of a trace under 4KB pages on ``platform``."""
    info = traces.info(trace)
    pool_bytes = {pool["kind"]: pool["size_bytes"] for pool in info["pools"]}
    misses = {}
    with miss_profile(trace, platform, folder / "misses.csv").open(newline="") as stream:
        for row in csv.DictReader(stream):
            page = page_of(row["pool"], int(row["offset_bytes"]))
            misses[page] = misses.get(page, 0) + int(row["stlb_misses"])
    total = count_misses(trace, platform, [()], pool_bytes, folder)[0]
    if total < sum(misses.values()):
        raise TesseraError(
            f"misses of {trace}",
            f"the simulator counted {sum(misses.values())} in the pools, but {total} in total",
            "report this as a bug of the simulator",
            exit_code=EXIT_FAILED,
        )
    accesses = f"{info['accesses'] / 1e6:.1f} million accesses"
    notes = []
    if not info["complete_roi"]:
        notes.append(
            f"recording stopped after {accesses}: --max-accesses gives more, "
            "--roi skip:N leaves out the first accesses"
        )
    if note := sentence(note_of(info)):
        notes.append(note)
    method = f"{accesses} recorded under QEMU, TLB misses simulated on {platform.name}"
    return Profile("simulated", method, misses, total, pool_bytes, tuple(notes), trace)
