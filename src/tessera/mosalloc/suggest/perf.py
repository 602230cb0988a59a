"""A profile by this processor's counters: `perf` samples TLB misses with the address that missed.

MEM_INST_RETIRED.STLB_MISS_LOADS and _STORES (MEM_UOPS_RETIRED on older processors; event D0h, masks 11h and
12h) are precise events, which carry a data address. The program runs under the all-4KB layout, whose report
says where the pools were.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.layouts.model import Layout, write_layout
from tessera.layouts.names import ALL_4KB
from tessera.machine.container.process import DIE_WITH_PARENT, stopped_at_exit
from tessera.machine.doctor import events, pmu
from tessera.machine.doctor.machine import cpu_facts
from tessera.mosalloc.runner import command
from tessera.mosalloc.suggest.load import Load, LoadRun, ended_well
from tessera.mosalloc.suggest.profile import Profile, add_up
from tessera.record.traces.companion import beside

STLB_MISSES = ("r11d0:pp", "r12d0:pp")

#: Misses between samples; a prime, so that loops don't hide.
PERIOD = 997

#: Below this many samples in the pools the profile says little.
FEW_SAMPLES = 200


def unusable() -> str:
    """Why TLB misses can't be sampled here; empty when they can."""
    if shutil.which("perf") is None:
        return "perf is not installed (Debian: linux-perf)"
    error = pmu.open_counter(pmu._TYPE_HARDWARE, pmu._CPU_CYCLES)
    if error in (errno.EACCES, errno.EPERM):
        return "counting is not allowed (sudo sysctl kernel.perf_event_paranoid=1)"
    if error:
        return "no PMU: this machine counts no hardware events"
    cpu = cpu_facts()
    vendor = cpu.get("vendor_id", "unknown")
    if events.generation(vendor, int(cpu.get("cpu family", 0)), int(cpu.get("model", 0))) is None:
        return f"the TLB events of this processor ({vendor}, model {cpu.get('model', '?')}) are not known"
    tried = subprocess.run(
        ["perf", "record", "-q", "-d", *_events(STLB_MISSES), "-o", os.devnull, "--", "true"],
        capture_output=True,
        text=True,
    )
    if tried.returncode:
        lines = [line for line in tried.stderr.splitlines() if line.strip()] or ["no message"]
        return f"perf can't sample {STLB_MISSES[0]}: {lines[-1].strip()}"
    return ""


def _events(names: Sequence[str]) -> list[str]:
    return [word for name in names for word in ("-e", name)]


def profile(
    program: Sequence[str],
    folder: Path,
    *,
    pool_bytes: dict[str, int],
    load: Load | None,
    period: int = PERIOD,
    event_names: Sequence[str] = STLB_MISSES,
) -> Profile:
    """Run ``program`` once under 4KB pages with ``perf record`` and add up the samples."""
    layout, report, data = folder / "growing-0.csv", folder / "report.json", folder / "perf.data"
    write_layout(Layout(ALL_4KB, dict(pool_bytes)), layout)
    argv = ["perf", "record", "-q", "-d", "-c", str(period), *_events(event_names), "-o", str(data), "--"]
    _run([*argv, *command(program, layout, report=report)], load)
    found = json.loads(report.read_text())
    bases = {pool["type"]: (pool["base"], pool["size_bytes"]) for pool in found["pools"]}
    script = ["perf", "script", "-i", str(data), "-F", "pid,period,event,addr"]
    with subprocess.Popen(script, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        samples = list(parse(process.stdout, found["pid"]))
        errors = process.stderr.read()
    if process.returncode:
        raise TesseraError(
            "perf script",
            f"status {process.returncode}: {errors.strip() or 'no message'}",
            "run perf script by hand on this machine; it must be able to read perf's own recordings",
            exit_code=EXIT_FAILED,
        )
    return summed(samples, bases, pool_bytes, period)


def parse(lines, pid: int) -> Iterator[tuple[int, int]]:
    """(address, period) of a process's samples in the output of ``perf script -F pid,period,event,addr``."""
    for number, line in enumerate(lines, start=1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        try:
            sample_pid, period, address = int(words[0]), int(words[1]), int(words[-1], 16)
        except (ValueError, IndexError):
            raise TesseraError(
                f"perf script, line {number}",
                f"'{line.strip()}' is not `pid period event: address`",
                "report this with the output of perf --version",
                exit_code=EXIT_FAILED,
            ) from None
        if sample_pid == pid:
            yield address, period


def summed(
    samples: Sequence[tuple[int, int]],
    bases: dict[str, tuple[int, int]],
    pool_bytes: dict[str, int],
    period: int,
) -> Profile:
    """Samples as a profile; each sample counts for the misses of its period."""
    misses = add_up(samples, bases)
    notes = []
    inside = sum(misses.values()) / period
    if inside < FEW_SAMPLES:
        notes.append(f"only {inside:.0f} samples lie in the pools: run the program longer")
    method = f"{len(samples)} TLB misses sampled by perf on this machine, one in {period}"
    total = float(sum(weight for _, weight in samples))
    return Profile("measured", method, misses, total, dict(pool_bytes), tuple(notes))


def _run(argv: list[str], load: Load | None) -> None:
    """Run the program to its end; with a load, signal perf, which forwards the signal to the program."""
    companion = None
    if load is not None:
        load.require_free_port()
        companion = LoadRun(load)
    process = subprocess.Popen([*DIE_WITH_PARENT, *argv], stdin=subprocess.DEVNULL)
    with stopped_at_exit(process), beside(process, companion):
        process.wait()
    if not ended_well(process.returncode, load):
        raise TesseraError(
            f"perf record of {argv[-1]}",
            f"the program or perf exited with status {process.returncode}",
            "run the program under `tessera mosalloc run` until it succeeds",
            exit_code=EXIT_FAILED,
        )
