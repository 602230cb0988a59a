"""Walks and misses of a whole program, by this machine's counters: one run for each pass of events."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.files import built
from tessera.machine.container.process import DIE_WITH_PARENT
from tessera.machine.container.watchdog import run_to_end
from tessera.machine.counters import sysfs
from tessera.machine.counters.attributes import attributes, events_file
from tessera.machine.counters.event_table import CounterClass, of_cpu
from tessera.machine.counters.passes import counter_passes
from tessera.measure.bundles.cell_arithmetic import INSTRUCTIONS, R
from tessera.measure.counted import host
from tessera.measure.counted.counted_run import read_run_counts
from tessera.measure.counted.host import LAUNCHER_VARIABLE, MeasurementSite
from tessera.measure.launch import last_words

SIDES = ("loads", "stores", "any")
SIZES = ("4KB", "2MB", "1GB")


@dataclass(frozen=True)
class PassCounts:
    """Quantity -> count of one run, all of the program."""

    name: str
    counts: Mapping[str, int]

    def share(self, quantity: str, of: str) -> float | None:
        """``quantity`` over ``of``, both of this run; None if it lacks one."""
        below = self.counts.get(of)
        return self.counts[quantity] / below if quantity in self.counts and below else None


def why_no_counters(root: Path) -> str:
    """Why this machine counts no TLB events; empty if it does."""
    found = of_cpu(host.cpu(root))
    if not found:
        return f"the TLB events of this processor ({host.cpu(root) or 'CPUID unknown'}) are not known"
    if sysfs.pmu_type(found[0].pmus, root) is None:
        return "the kernel has no PMU of the processor (a guest without one?)"
    return ""


def count_walks(
    program: Sequence[str],
    where: MeasurementSite,
    *,
    mode: str,
    say: Callable[[str], None] = lambda text: None,
) -> tuple[CounterClass, list[PassCounts]]:
    """Run the program once for each pass; with two types of cores, on those of the first class.

    Raises:
        TesseraError: an event can't be opened, or a run fails.
    """
    root = where.root
    found = of_cpu(host.cpu(root))[0]
    binding = where.type_binding(found)
    launcher = os.environ.get(LAUNCHER_VARIABLE) or str(built("mosalloc", "tessera-count"))
    done = []
    with tempfile.TemporaryDirectory(prefix="tessera-measure-") as name:
        events, counts = Path(name) / "events", Path(name) / "counts.csv"
        for one in counter_passes(found, sysfs.counting_machine(root)):
            say(f"pass {one.name}: {', '.join(event.quantity for event in one.events)}")
            wanted = attributes(one, found, root, mode=mode)
            events.write_text(events_file(one, found, root, mode=mode))
            options = ["--events", str(events), "--counts", str(counts), "--region", "whole"]
            argv = [*DIE_WITH_PARENT, *binding, launcher, *options, "--", *program]
            asked = f"pass {one.name} of {program[0]}"
            ended = run_to_end(argv, asked, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
            if ended.returncode != 0:
                raise TesseraError(
                    asked,
                    f"status {ended.returncode}: {last_words(ended.stderr) or 'no message'}",
                    "tessera measure counters check says which events this machine counts",
                    exit_code=EXIT_FAILED,
                )
            rows = read_run_counts(counts, [event.name for event in wanted]).events
            done.append(PassCounts(one.name, {a.role: row[1] for a, row in zip(wanted, rows, strict=True)}))
            counts.unlink()
    return found, done


def count_lines(found: CounterClass, done: Sequence[PassCounts]) -> list[tuple[str, str]]:
    """(what, value) for people; each ratio is of one run."""
    rows: list[tuple[str, str]] = []

    def total(words: str, quantities: Sequence[str], of: str, scale: float, unit: str) -> None:
        parts = [_first(done, quantity, of) for quantity in quantities]
        known = [part for part in parts if part is not None]
        if known:
            rows.append((words, f"{sum(known) * scale:.3g}{unit}"))

    for side in SIDES:
        total(f"cycles with a walk, {side}", [f"C active {side}"], R, 100, "% of R")
    total("C / R", [f"C {side}" for side in SIDES], R, 1, "")
    total("M per 1000 instructions", [f"M {side}" for side in SIDES], INSTRUCTIONS, 1000, "")
    for size in SIZES:
        sides = [f"M {side} {size}" for side in SIDES]
        total(f"M per 1000 instructions, {size} pages", sides, INSTRUCTIONS, 1000, "")
    total("H per 1000 instructions", [f"H {side}" for side in SIDES], INSTRUCTIONS, 1000, "")
    total("instruction side: M per 1000 instructions", ["instruction M"], INSTRUCTIONS, 1000, "")
    total("instruction side: C / R", ["instruction C"], R, 1, "")
    if not found.sides("C"):
        rows.append(("C", f"not counted: {found.name} has no event for it"))
    return rows


def _first(done: Sequence[PassCounts], quantity: str, of: str) -> float | None:
    return next((share for one in done if (share := one.share(quantity, of)) is not None), None)
