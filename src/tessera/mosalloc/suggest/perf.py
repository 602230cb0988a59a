"""A profile by this processor's counters: `perf` samples TLB misses with the address that missed.

What is recorded depends on the class of the processor (:mod:`tessera.mosalloc.samples.plan`). The program
runs under the all-4KB layout, whose report says where the pools were.
"""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.counters import sysfs
from tessera.counters.classes import CounterClass, of_cpu
from tessera.counters.cpuid import Cpu
from tessera.layouts.model import Layout, write_layout
from tessera.layouts.names import ALL_4KB
from tessera.machine.container.process import DIE_WITH_PARENT, stopped_at_exit
from tessera.machine.doctor import pmu
from tessera.machine.doctor.machine import cpu_facts
from tessera.mosalloc.runner import command
from tessera.mosalloc.samples.line import FIELDS
from tessera.mosalloc.samples.place import read_place
from tessera.mosalloc.samples.plan import Plan, plan
from tessera.mosalloc.samples.script import parse_lines
from tessera.mosalloc.suggest.load import Load, LoadRun, ended_well
from tessera.mosalloc.suggest.profile import Profile
from tessera.mosalloc.suggest.sampled import of_place
from tessera.record.traces.companion import beside

#: Stands for TLB misses in tests on machines without a PMU: software counts it, with addresses.
FAULTS = Plan(("page-faults",), 1, FIELDS, "page faults")


def unusable() -> str:
    """Why TLB misses can't be sampled here; empty when they can."""
    if shutil.which("perf") is None:
        return "perf is not installed (Debian: linux-perf)"
    error = pmu.open_counter(pmu._TYPE_HARDWARE, pmu._CPU_CYCLES)
    if error in (errno.EACCES, errno.EPERM):
        return "counting is not allowed (sudo sysctl kernel.perf_event_paranoid=1)"
    if error:
        return "no PMU: this machine counts no hardware events (a guest whose hypervisor shows none?)"
    cpu = Cpu.from_cpuinfo(cpu_facts())
    found = of_cpu(cpu)
    if not found:
        return f"the TLB events of this processor ({cpu or 'CPUID unknown'}) are not known"
    if not (bound := _where_we_run(found)):
        types = "; ".join(f"taskset --cpu-list {sysfs.cpus(c.pmus[0]) or '?'} for {c.name}" for c in found)
        return f"the cores are of {len(found)} types, and each has events of its own: bind to one ({types})"
    chosen = _plan(bound)
    if chosen is None:
        return f"no event of {bound.name} shows TLB misses with addresses"
    tried = subprocess.run(
        [*chosen.record(os.devnull), "true"],
        capture_output=True,
        text=True,
    )
    if tried.returncode:
        lines = [line for line in tried.stderr.splitlines() if line.strip()] or ["no message"]
        return f"perf can't sample {chosen.events[0]}: {lines[-1].strip()}"
    return ""


def _plan(found: CounterClass) -> Plan | None:
    """What to record here: with the name that this kernel gives to the PMU of the cores."""
    kernels = sysfs.pmu_type(found.pmus)
    return plan(found, kernels[0] if kernels else "")


def _where_we_run(found: Sequence[CounterClass]) -> CounterClass | None:
    """The class of all processors that this process may use; None if they are of several types."""
    if len(found) == 1:
        return found[0]
    allowed = os.sched_getaffinity(0)
    return next((c for c in found if allowed <= sysfs.listed(sysfs.cpus(c.pmus[0]))), None)


def profile(
    program: Sequence[str],
    folder: Path,
    *,
    pool_bytes: dict[str, int],
    load: Load | None,
    recording: Plan | None = None,
) -> Profile:
    """Run ``program`` once under 4KB pages with ``perf record`` and add up the samples.

    Args:
        recording: what to record; what this machine's class needs if None (:func:`unusable` is "").
    """
    chosen = recording or _plan(_where_we_run(of_cpu(Cpu.from_cpuinfo(cpu_facts()))))
    layout, report, data = folder / "growing-0.csv", folder / "report.json", folder / "perf.data"
    write_layout(Layout(ALL_4KB, dict(pool_bytes)), layout)
    _run([*chosen.record(str(data)), *command(program, layout, report=report)], load)
    # Messages go to a file: a pipe that nobody reads would stop perf when it is full.
    with (
        tempfile.TemporaryFile("w+") as messages,
        subprocess.Popen(
            chosen.script(str(data)), stdout=subprocess.PIPE, stderr=messages, text=True
        ) as process,
    ):
        samples = list(parse_lines(process.stdout))
        process.wait()
        messages.seek(0)
        errors = messages.read()
    if process.returncode:
        raise TesseraError(
            "perf script",
            f"status {process.returncode}: {errors.strip() or 'no message'}",
            "run perf script by hand on this machine; it must be able to read perf's own recordings",
            exit_code=EXIT_FAILED,
        )
    what = f"{chosen.what} by perf on this machine, one in {chosen.period}"
    made = of_place(samples, read_place(report), "perf script", what, faults=chosen is FAULTS)
    return replace(made, pool_bytes=dict(pool_bytes))


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
