"""The allocator's overhead for whole programs against plain glibc: memory and time of runs (OPERA Table 4).

Both sides use 4KB pages (transparent huge pages are off), so that catching calls is compared, not page sizes.
Programs run in pairs, without and with the library in random order. Of each run the kernel counts the peak
resident memory and the processor time, which other programs on the machine disturb less than the clock; OPERA
printed the clock.
"""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.files import built
from tessera.core.results.machine_tables import ALLOCATOR
from tessera.core.results.table_io import frame_of
from tessera.lab.allocator_proof.bench import LAYOUT, median_interval, no_huge_pages
from tessera.machine.container.watchdog import run_to_end
from tessera.machine.program_paths import preloadable
from tessera.measure.mosalloc.pools import library_started

ALLOCATORS = ("glibc", "mosalloc")
_KB = 1024  #: ru_maxrss of Linux


@dataclass(frozen=True)
class CostProgram:
    """A row of the table: the size is a part of the name, as in the published one."""

    name: str
    words: tuple[str, ...]  #: executable of the workloads, and its arguments


#: Two programs of Table 4, small and less small: one array at once, and a graph that is built in many steps.
PROGRAMS: tuple[CostProgram, ...] = (
    CostProgram("gups/32MB", ("gups", "--size", "32MB", "--reads", "2000000")),
    CostProgram("gups/256MB", ("gups", "--size", "256MB", "--reads", "8000000")),
    CostProgram("graph500/scale-14", ("graph500", "--scale", "14", "--roots", "4")),
    CostProgram("graph500/scale-18", ("graph500", "--scale", "18", "--roots", "2")),
)


class TimeAndMemory(NamedTuple):
    """Time and memory of one run."""

    memory_bytes: int
    cpu_ns: int


#: Starts the program and prints its wait status, peak resident KB, and user and system seconds. A process of
#: its own, because Linux keeps the peak of the forking parent across exec: this one is small, the caller not.
_STARTER = """
import os, sys
child = os.fork()
if child == 0:
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    names = sys.argv[1].split("\\n") if sys.argv[1] else []
    try:
        os.execve(sys.argv[2], sys.argv[2:], {**os.environ, **dict(name.split("=", 1) for name in names)})
    except OSError as error:
        print(error, file=sys.stderr)
        os._exit(127)
_, status, used = os.wait4(child, 0)
print(os.waitstatus_to_exitcode(status), used.ru_maxrss, used.ru_utime, used.ru_stime)
"""


def run_once(argv: Sequence[str], library: Mapping[str, str]) -> TimeAndMemory:
    """Peak resident memory and processor time (user and system) of one run, as the kernel counts them.

    Args:
        argv: the program by its path, and its arguments.
        library: variables for the program alone. With MOSALLOC_POOL_MAP, libmosalloc must start.

    Raises:
        TesseraError: the program can't be started, or ends with another status than 0, or libmosalloc did
            not start in it (``code`` is ``not-preloaded``): both sides would be plain glibc.
    """
    pool_map = Path(library["MOSALLOC_POOL_MAP"]) if "MOSALLOC_POOL_MAP" in library else None
    if pool_map:
        pool_map.unlink(missing_ok=True)
    extra = "\n".join(f"{name}={value}" for name, value in library.items())
    done = run_to_end(
        [sys.executable, "-I", "-S", "-c", _STARTER, extra, *argv],
        f"run {' '.join(argv)}",
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=no_huge_pages,
    )
    status, peak_kb, user, system = done.stdout.split() if done.stdout else (done.returncode, 0, 0, 0)
    if int(status) != 0:
        raise TesseraError(
            f"run {' '.join(argv)}",
            f"status {status}: {done.stderr.strip()[-500:]}",
            "run this command by hand; `tessera mosalloc run --verbose` prints more",
            exit_code=EXIT_FAILED,
        )
    if pool_map and not library_started(pool_map):
        raise TesseraError(
            f"run {' '.join(argv)} under {library.get('LD_PRELOAD', '')}",
            f"libmosalloc did not start in the program: {done.stderr.strip()[-500:] or 'no message'}",
            "run this command by hand with these variables; ./run tessera dev build mosalloc builds it",
            exit_code=EXIT_FAILED,
            code="not-preloaded",
        )
    return TimeAndMemory(int(peak_kb) * _KB, round((float(user) + float(system)) * 1e9))


def measure_overheads(
    folder: Path,
    programs: Sequence[CostProgram] = PROGRAMS,
    *,
    pairs: int = 15,
    seconds: float = 50,
    seed: int = 1,
    run: Callable[[Sequence[str], Mapping[str, str]], TimeAndMemory] = run_once,
) -> pd.DataFrame:
    """Runs of each program under each allocator, columns of `allocator.csv`, provenance ``measured``.

    Args:
        folder: where the layout lies while programs run.
        pairs: at most so many pairs per program; each program gets one, whatever the time.
        seconds: no new round of pairs after so long.
    """
    layout, library = folder / "growing-0.csv", preloadable(built("mosalloc", "libmosalloc.so"))
    layout.write_text(LAYOUT)
    libraries: dict[str, dict[str, str]] = {
        "glibc": {},
        "mosalloc": {
            "LD_PRELOAD": str(library),
            "MOSALLOC_LAYOUT": str(layout),
            "MOSALLOC_POOL_MAP": str(folder / "pools"),
        },
    }
    argvs = {p.name: [str(built("workloads", p.words[0])), *p.words[1:]] for p in programs}
    rows = [
        (name, allocator, pair, *run(argvs[name], libraries[allocator]), "measured")
        for pair, name, allocator in _schedule(list(argvs), pairs, seconds, random.Random(seed))
    ]
    return frame_of(ALLOCATOR, rows)


def _schedule(names: list[str], pairs: int, seconds: float, rng: random.Random) -> Iterator[tuple]:
    """(pair, program, allocator): one pair of every program, then the next, until the time is up."""
    end = time.monotonic() + seconds
    for pair in range(pairs):
        if pair and time.monotonic() > end:
            return
        for name in names:
            for allocator in rng.sample(ALLOCATORS, len(ALLOCATORS)):
                yield pair, name, allocator


def overheads(table: pd.DataFrame) -> pd.DataFrame:
    """Per workload, the median over its pairs of either side and of the overhead (a fraction).

    Columns ``workload,quantity,glibc,mosalloc,overhead,low,high,pairs``; quantity is ``memory_bytes`` or
    ``cpu_ns``; ``low`` and ``high`` are the 95% interval of the median overhead, empty with too few pairs.
    """
    rows = []
    for quantity in ("memory_bytes", "cpu_ns"):
        wide = table.pivot(index=["workload", "pair"], columns="allocator", values=quantity)
        wide = wide.reindex(columns=list(ALLOCATORS)).dropna()
        for workload, mine in wide.groupby(level="workload", sort=False):
            each = list(mine["mosalloc"] / mine["glibc"] - 1)
            low, high = (x if abs(x) != float("inf") else None for x in median_interval(each))
            sides = [float(mine[side].median()) for side in ALLOCATORS]
            middle = float(pd.Series(each).median())
            rows.append((workload, quantity, *sides, middle, low, high, len(each)))
    names = ["workload", "quantity", *ALLOCATORS, "overhead", "low", "high", "pairs"]
    return pd.DataFrame(rows, columns=names)
