"""Counts of programs whose counts are known: new pages, a loop, and the pointer chase with its bounds."""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tessera.machine.counter_check.opening import (
    DIFFERS,
    OK,
    UNPROVEN,
    CounterCheck,
    Kernel,
    TimedCount,
    opening_rows,
    spin,
)
from tessera.machine.counters.attributes import Attribute

# Software events need no PMU: the kernel counts page faults and time on a processor. Both are proved.

PAGES = 256  #: touched for the first time: each one faults
_OTHER_FAULTS = 200  #: of Python itself
_EVENTS = {"page-faults": 2, "task-clock": 1}  #: perf_event_attr.config of type 1


def software_rows(kernel: Kernel, mode: str) -> list[CounterCheck]:
    """Rows of page-faults and task-clock: opened, then proved."""
    events = [Attribute(name, name, 1, config, 0, 0, mode) for name, config in _EVENTS.items()]
    rows = opening_rows(kernel, "", events)
    opened = [event for event, row in zip(events, rows, strict=True) if row.status == OK]
    return rows + list(_software_proofs(kernel, opened))


def _software_proofs(kernel: Kernel, events: Iterable[Attribute]) -> Iterable[CounterCheck]:
    for event in events:
        if event.name == "page-faults":
            count, _ = _counted(kernel, event, _touch)
            yield _software_row(
                event.name, count, PAGES, PAGES + _OTHER_FAULTS, f"faults of {PAGES} new pages"
            )
        else:
            count, elapsed_ns = _counted(kernel, event, spin)
            yield _software_row(event.name, count, 1, elapsed_ns, "ns, within the elapsed time")


def _counted(kernel: Kernel, event: Attribute, work) -> tuple[TimedCount | None, int]:
    """The count, and the time in ns from before enable to after disable."""
    descriptor = kernel.open(event)
    try:
        begin = time.monotonic_ns()
        kernel.enable(descriptor)
        work()
        kernel.disable(descriptor)
        return kernel.read(descriptor), time.monotonic_ns() - begin
    finally:
        kernel.close(descriptor)


def _touch() -> None:
    with mmap.mmap(-1, PAGES * mmap.PAGESIZE) as memory:
        with contextlib.suppress(OSError):  # EINVAL: this kernel has no transparent huge pages
            memory.madvise(mmap.MADV_NOHUGEPAGE)
        for at in range(0, len(memory), mmap.PAGESIZE):
            memory[at] = 1


def _software_row(name: str, count: TimedCount | None, least: int, most: int, what: str) -> CounterCheck:
    wanted = f"{least} to {most} {what}"
    if count is not None and least <= count.value <= most:
        return CounterCheck("", "software", name, wanted, str(count.value), OK)
    found = "no count" if count is None else str(count.value)
    return CounterCheck(
        "", "software", name, wanted, found, DIFFERS, "report it: this kernel counts in another way"
    )


# What the counters must show for a pointer chase: bounds that follow from its pages and loads alone.
#
# The program ``chase`` loads a pointer from each of E pages in turn, in a random order that repeats. Two
# runs differ only in their number of loads, so the difference of their counts belongs to LOADS loads of the
# chase.
#
# - A page can hit in a TLB of K entries only if it was in there when its turn over all pages began. So a
#   turn has at most K hits, whatever the TLB replaces: of E >> K pages, at least 1 - K/E of the loads walk.
# - A load waits for the one before it, so the processor walks for hardly any other page. More than 5% of
#   further walks is no chase.
# - With a few pages, nothing misses. With more than the first TLB and fewer than the STLB have, loads hit
#   the STLB.
# - Each walk takes a cycle at least, and C counts at most one cycle a walker in each cycle.
# - Before the loads, the program writes each page once in that order. These stores walk, too.

LOADS = 2_000_000  #: more loads in the second run
FIRST_LOADS = 300_000  #: of the first run: more than its warm-up, twice the pages

#: Entries of first-level data TLBs for 4KB pages, at most (Lion Cove: 48 + 128), and with those of the STLB
#: (Zen 5: 96 + 4096). The smallest STLB has 512 (SandyBridge).
MOST_FIRST_LEVEL, MOST_ENTRIES = 192, 4352


@dataclass(frozen=True)
class PageChase:
    """A chase over so many pages of 4KB."""

    name: str
    pages: int


FEW = PageChase("few pages", 16)
STLB = PageChase("pages of the STLB", 384)
MANY = PageChase("many pages", 131_072)
CHASES = (FEW, STLB, MANY)


@dataclass(frozen=True)
class CountBound:
    """``least <= count <= most``; None: no bound. ``total``: of the first run; else of the difference."""

    role: str
    least: float
    most: float | None
    total: bool = False


def least_misses(pages: int) -> float:
    """Loads of :data:`LOADS` that must miss every TLB."""
    return LOADS * max(0.0, 1 - MOST_ENTRIES / pages)


def count_bounds(chase: PageChase, cycles: int, walkers: int | None) -> list[CountBound]:
    """Bounds of every role.

    Args:
        cycles: R of the difference, for those of C.
        walkers: page walkers of the class; None: unknown.
    """
    found = [
        CountBound("R cycles", 3 * LOADS, 10 * LOADS if chase is FEW else None),
        CountBound("R reference cycles", 1, None),
        CountBound("instructions", 0.99 * LOADS, 4.1 * LOADS),
    ]
    hits, misses, walking = _translation(chase, cycles, walkers)
    for side in ("loads", "any"):
        found += [
            CountBound(f"H {side}", *hits),
            CountBound(f"M {side}", *misses),
            CountBound(f"C {side}", *walking),
        ]
        active = (walking[0] / walkers if walkers else 0, 0.02 * cycles if chase is FEW else cycles)
        found.append(CountBound(f"C active {side}", *active))
    found += [CountBound("H stores", 0, 0.02 * LOADS), CountBound("M stores", 0, 0.02 * LOADS)]
    if chase is MANY:
        written = chase.pages - MOST_ENTRIES
        found += [
            CountBound("M stores", written, 6 * chase.pages, True),
            CountBound("C stores", written, None, True),
        ]
    return found


def _translation(chase: PageChase, cycles: int, walkers: int | None):
    """(least, most) of H, M and C of loads."""
    all_walkers = walkers * cycles if walkers else None
    if chase is FEW:
        return (0, 0.02 * LOADS), (0, 0.02 * LOADS), (0, 0.02 * cycles)
    if chase is STLB:
        least = LOADS * (1 - MOST_FIRST_LEVEL / chase.pages - 0.05)
        return (least, 1.05 * LOADS), (0, 0.05 * LOADS), (0, all_walkers)
    hits = LOADS * (MOST_ENTRIES / chase.pages + 0.02)
    return (0, hits), (least_misses(chase.pages), 1.05 * LOADS), (least_misses(chase.pages), all_walkers)


def judged_bounds(chase: PageChase, first: Mapping[str, int], second: Mapping[str, int], walkers: int | None):
    """(bound, count, whether it holds) of each role that was counted."""
    cycles = second["R cycles"] - first["R cycles"]
    for bound in count_bounds(chase, cycles, walkers):
        if bound.role in first:
            count = first[bound.role] if bound.total else second[bound.role] - first[bound.role]
            yield bound, count, bound.least <= count and (bound.most is None or count <= bound.most)


# Counts runs of the program ``chase`` and compares them with :func:`count_bounds`.

#: Runs a program and counts it: (events, command) -> counts by role. Raises ValueError with the reason.
Counter = Callable[[Sequence[Attribute], Sequence[str]], Mapping[str, TimedCount | None]]

_SECONDS = 300
_PR_SET_THP_DISABLE = 41


def chase_counter(kernel: Kernel) -> Counter:
    """Counts from the program's exec to its end. The shell waits until the events are open."""

    def count(events: Sequence[Attribute], command: Sequence[str]) -> dict[str, TimedCount | None]:
        opened: dict[str, int] = {}
        with subprocess.Popen(
            ["/bin/sh", "-c", 'read -r _ && exec "$@"', "sh", *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            preexec_fn=_only_4kb_pages,
        ) as process:
            try:
                for event in events:
                    leader = next(iter(opened.values()), -1)
                    opened[event.role] = kernel.open(event, leader, process.pid, at_exec=True)
                _, errors = process.communicate(b"\n", timeout=_SECONDS)
                if process.returncode:
                    lines = errors.decode(errors="replace").strip().splitlines()
                    raise ValueError(lines[0] if lines else f"status {process.returncode}")
                return {role: kernel.read(descriptor) for role, descriptor in opened.items()}
            except subprocess.TimeoutExpired:
                raise ValueError(f"it did not end in {_SECONDS} s") from None
            except OSError as error:
                raise ValueError(error.strerror or str(error)) from None
            finally:
                process.kill()
                for descriptor in opened.values():
                    kernel.close(descriptor)

    return count


def _only_4kb_pages() -> None:
    """The child and its programs get no transparent huge pages."""
    ctypes.CDLL(None).prctl(_PR_SET_THP_DISABLE, 1, 0, 0, 0)


def chase_proofs(
    count: Counter,
    program: Path,
    class_name: str,
    name: str,
    events: Sequence[Attribute],
    walkers: int | None,
) -> list[CounterCheck]:
    """Rows of one pass: each role in each chase."""
    rows: list[CounterCheck] = []
    for chase in CHASES:
        try:
            first, second = (
                _values(count(events, _command(program, chase, loads)))
                for loads in (FIRST_LOADS, FIRST_LOADS + LOADS)
            )
        except (OSError, ValueError) as error:
            subject = f"pass {name}, {chase.name}"
            remedy = f"run it in build/workloads: ./{' '.join(_command(Path(program.name), chase, LOADS))}"
            rows.append(CounterCheck(class_name, "proof", subject, "a count", str(error), UNPROVEN, remedy))
            continue
        for bound, value, holds in judged_bounds(chase, first, second, walkers):
            rows.append(_chase_row(class_name, name, chase, bound, value, holds))
    return rows


def _values(counts: Mapping[str, TimedCount | None]) -> dict[str, int]:
    wrong = [role for role, count in counts.items() if count is None or not count.whole]
    if wrong:
        raise ValueError(f"not counted all the time: {', '.join(wrong)}")
    return {role: count.value for role, count in counts.items()}


def _command(program: Path, chase: PageChase, loads: int) -> list[str]:
    fixed = ["--rounds", "1", "--chains", "1", "--stride", "4KB"]
    return [str(program), "--elements", str(chase.pages), "--accesses", str(loads), *fixed]


def _chase_row(
    class_name: str, name: str, chase: PageChase, bound: CountBound, value: int, holds: bool
) -> CounterCheck:
    what = "while it starts" if bound.total else f"of {LOADS} loads"
    most = "" if bound.most is None else f" to {bound.most:.0f}"
    wanted = f"{bound.least:.0f}{most}{'' if most else ' or more'} {what}"
    subject = f"{bound.role}, {chase.name}, pass {name}"
    if holds:
        return CounterCheck(class_name, "proof", subject, wanted, str(value), OK)
    remedy = (
        "compare its code with the source in `tessera measure counters show CLASS --details`; do not measure"
        " with it"
    )
    return CounterCheck(class_name, "proof", subject, wanted, str(value), DIFFERS, remedy)
