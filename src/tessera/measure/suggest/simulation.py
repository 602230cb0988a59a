"""What the simulator says: a profile without counters, and exact TLB misses under proposed layouts.

A profile without counters comes from accesses that QEMU records, and the simulated TLB under 4KB pages.
"""

from __future__ import annotations

import contextlib
import csv
import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from tessera.core import platforms
from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.layouts.layout import Layout, write_layout
from tessera.core.platforms import Platform
from tessera.core.results.outcomes import is_ok, note_of, note_sentence
from tessera.machine.container.command import mounts, writable_of_caller
from tessera.measure.suggest.profile import Page, Profile, page_of, windows_of_pages
from tessera.measure.suggest.server_load import Load, LoadRun
from tessera.record import traces
from tessera.simulate.runner import CellCache, miss_profile, simulate_platform
from tessera.simulate.sampling import Sampling

# The effect of a proposal: exact TLB misses of several layouts in one pass.
#
# The profile alone is not enough: a huge page still misses, and pages that no longer use 4KB TLB entries
# make room for others. So a search with the simulator finds the number of pages.

#: Layouts of one pass: the simulator's lanes.
LANES = 64

#: Only M is used, which is exact whatever is sampled.
SMALL_SAMPLE = Sampling(1, 1000, 1000)


def count_misses(
    trace: Path,
    platform: Platform,
    choices: Sequence[Sequence[Page]],
    pool_bytes: dict[str, int],
    folder: Path,
) -> list[int]:
    """TLB misses of the trace with each choice of pages in 2MB (an empty choice: all 4KB)."""
    with tempfile.TemporaryDirectory(prefix="choices-", dir=folder) as name:
        paths = []
        for number, pages in enumerate(choices):
            path = Path(name) / f"choice-{number}.csv"
            write_layout(Layout(path.stem, dict(pool_bytes), windows_of_pages(pages)), path)
            paths.append(path)
        rows = simulate_platform(
            trace,
            platform,
            paths,
            workload="suggest",
            engine="partial",
            sampling=SMALL_SAMPLE,
            cache=CellCache(None),
        )
    for row in rows:
        if not is_ok(row):
            raise TesseraError(
                "simulation of a proposed layout",
                row["message"],
                "report this as a bug, with the command line",
                exit_code=EXIT_FAILED,
            )
    return [row["stlb_misses"] for row in rows]


def search_fewest(
    pages: Sequence[Page], guess: int, wanted: float, misses: Callable[[list[int]], list[int]]
) -> tuple[int, int, bool]:
    """The fewest of ``pages``, in their order, that leave at most ``wanted`` misses.

    Args:
        guess: a first number to try, such as what the profile says.
        misses: how many misses are left with each of these numbers of pages huge.

    Returns:
        number, misses left, and whether that is few enough; if no number is, the one that leaves fewest.
    """
    low, high, known = 0, len(pages) + 1, {}
    while high - low > 1:
        tries = _guesses_between(low, high, guess)
        known |= dict(zip(tries, misses(tries), strict=True))
        good = [count for count in tries if known[count] <= wanted]
        if good:
            high = good[0]
        elif high > len(pages):
            break  # all of them were among the tries: none is enough
        low = max([low, *(count for count in tries if count < high)])
    if high <= len(pages):
        return high, known[high], True
    if not known:
        return 0, misses([0])[0], False
    best = min(known, key=lambda count: (known[count], count))
    return best, known[best], False


def _guesses_between(low: int, high: int, guess: int) -> list[int]:
    """At most :data:`LANES` - 1 numbers in (low, high), spread evenly, the guess and the largest included."""
    inside = range(low + 1, high)
    if len(inside) < LANES:
        return list(inside)
    step = len(inside) / (LANES - 2)
    chosen = {inside[min(int(i * step), len(inside) - 1)] for i in range(LANES - 3)} | {inside[-1]}
    if guess in inside:
        chosen.add(guess)
    return sorted(chosen)


# A profile without counters: record the accesses under QEMU, then simulate the TLB under 4KB pages.

HOST_PLATFORM = "host-sim"


def platform_of(name: str, folder: Path) -> Platform:
    """A platform by name or file; ``host-sim`` is this machine, described by CPUID in ``folder``."""
    if name != HOST_PLATFORM:
        return platforms.load_platform(name)
    from tessera.simulate.platform_files import detect_platform

    file = folder / f"{HOST_PLATFORM}.yaml"
    detect_platform(file)
    return platforms.load_platform(file)


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


def record_trace(
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
    opened = opened_paths(program)
    done = traces.record_program(
        program,
        folder / "trace.tst",
        heap_pool=pool_bytes["brk"],
        anon_pool=pool_bytes["mmap"],
        max_accesses=max_accesses,
        threads=(not counted and starts_threads(program[0])) if threads is None else threads,
        roi=roi,
        companion=companion,
        paths=opened,
        writes=writable_of_caller(opened),
    )
    return done.trace


def opened_paths(program: Sequence[str]) -> list[Path]:
    """The current folder and what the arguments name: the program will open it, so it must see it."""
    found = []
    for path in (Path(word).absolute() for word in ("", *program[1:]) if os.path.exists(word or ".")):
        with contextlib.suppress(TesseraError):  # folders of the image's own stay the image's
            mounts([path])
            found.append(path)
    return found


def simulated_profile(trace: Path, platform: Platform, folder: Path) -> Profile:
    """Misses of a trace under 4KB pages on ``platform``."""
    info = traces.trace_info(trace)
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
    if note := note_sentence(note_of(info)):
        notes.append(note)
    method = f"{accesses} recorded under QEMU, TLB misses simulated on {platform.name}"
    return Profile(
        "simulated", method, misses, total, pool_bytes, tuple(notes), trace, accesses=info["accesses"]
    )
