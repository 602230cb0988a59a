"""A profile from sampled addresses: of files, or by this processor's counters with `perf`."""

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
from tessera.core.layouts.layout import ALL_4KB, Layout, write_layout
from tessera.machine.container.process import DIE_WITH_PARENT, stopped_at_exit
from tessera.machine.counters import sysfs
from tessera.machine.counters.event import Cpu
from tessera.machine.counters.event_table import CounterClass, of_cpu
from tessera.machine.doctor import hardware
from tessera.machine.doctor.hardware import cpu_facts
from tessera.measure.mosalloc.launcher import mosalloc_command
from tessera.measure.suggest.perf_events import SamplingPlan, sampling_plan
from tessera.measure.suggest.perf_script import (
    FIELDS,
    RecordedPools,
    parse_samples,
    read_perf_samples,
    read_recorded_pools,
)
from tessera.measure.suggest.profile import Profile, add_up, effective_samples
from tessera.measure.suggest.sample_weights import Weighed, weigh
from tessera.measure.suggest.server_load import Load, LoadRun, ended_well
from tessera.record.traces.companion import run_beside

# Addresses and their misses become misses of each 2MB of the pools, and halves to check a choice.

#: Below this many samples in the pools the profile says little.
FEW_SAMPLES = 200


def summed_profile(
    misses: Sequence[tuple[int, float]],
    bases: dict[str, tuple[int, int]],
    pool_bytes: dict[str, int],
    method: str,
    notes: tuple[str, ...] = (),
) -> Profile:
    """Addresses with the misses that they stand for, as a profile.

    Args:
        misses: (virtual address, misses).
        bases: pool -> (address of its offset 0, bytes) in the recorded run.
        pool_bytes: pools of the layout to propose.
        method: a sentence: how the misses were sampled.
    """
    found = add_up(misses, bases)
    inside = [(a, w) for a, w in misses if any(base <= a < base + size for base, size in bases.values())]
    if len(inside) < FEW_SAMPLES:
        notes = (*notes, f"only {len(inside)} samples lie in the pools: run the program longer")
    return Profile(
        "measured",
        method,
        found,
        float(sum(weight for _, weight in misses)),
        dict(pool_bytes),
        notes,
        halves=(add_up(inside[::2], bases), add_up(inside[1::2], bases)),
        samples=effective_samples(weight for _, weight in inside),
    )


def profile_from_files(samples: Path, report: Path) -> Profile:
    """The profile of a run that was recorded elsewhere: text of ``perf script``, and the run's report.

    Raises:
        TesseraError: as :func:`read_perf_samples`, :func:`read_recorded_pools` and :func:`weigh`.
    """
    place = read_recorded_pools(report)
    found = weigh(read_perf_samples(samples), place.pid, f"samples {samples}")
    made = _profile_of_weighed(found, place, "TLB misses in a recording of perf")
    if len(found.cores) != 1:
        return made
    note = f"all samples are of {found.cores[0]}: what the program did on other types of cores is not in them"
    return replace(made, notes=(*made.notes, note))


def profile_of_pools(
    samples, place: RecordedPools, owner: str, what: str, *, faults: bool = False
) -> Profile:
    """The profile of samples of the run whose pools ``place`` gives."""
    return _profile_of_weighed(weigh(samples, place.pid, owner, faults=faults), place, what)


def _profile_of_weighed(found: Weighed, place: RecordedPools, what: str) -> Profile:
    method = f"{len(found.misses):,} samples of {what}, of {found.seen:,} samples of the program"
    return summed_profile(found.misses, place.bases, place.pool_bytes, method, found.notes)


# This processor's counters: `perf` samples TLB misses with the address that missed.
#
# What is recorded depends on the class of the processor (:mod:`tessera.measure.suggest.perf_events`). The
# program runs under the all-4KB layout, whose report says where the pools were.

#: Stands for TLB misses in tests on machines without a PMU: software counts it, with addresses.
FAULT_SAMPLING = SamplingPlan(("page-faults",), 1, FIELDS, "page faults")


def why_unusable() -> str:
    """Why TLB misses can't be sampled here; empty when they can."""
    if shutil.which("perf") is None:
        return "perf is not installed (Debian: linux-perf)"
    error = hardware.open_counter(hardware._TYPE_HARDWARE, hardware._CPU_CYCLES)
    if error in (errno.EACCES, errno.EPERM):
        return "counting is not allowed (sudo sysctl kernel.perf_event_paranoid=1)"
    if error:
        return "no PMU: this machine counts no hardware events (a guest whose hypervisor shows none?)"
    cpu = Cpu.from_cpuinfo(cpu_facts())
    found = of_cpu(cpu)
    if not found:
        return f"the TLB events of this processor ({cpu or 'CPUID unknown'}) are not known"
    if not (bound := _where_we_run(found)):
        types = "; ".join(
            f"taskset --cpu-list {sysfs.pmu_cpus(c.pmus[0]) or '?'} for {c.name}" for c in found
        )
        return f"the cores are of {len(found)} types, and each has events of its own: bind to one ({types})"
    chosen = _plan_of_machine(bound)
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


def _plan_of_machine(found: CounterClass) -> SamplingPlan | None:
    """What to record here: with the name that this kernel gives to the PMU of the cores."""
    kernels = sysfs.pmu_type(found.pmus)
    return sampling_plan(found, kernels[0] if kernels else "")


def _where_we_run(found: Sequence[CounterClass]) -> CounterClass | None:
    """The class of all processors that this process may use; None if they are of several types."""
    if len(found) == 1:
        return found[0]
    allowed = os.sched_getaffinity(0)
    return next((c for c in found if allowed <= sysfs.listed_numbers(sysfs.pmu_cpus(c.pmus[0]))), None)


def recorded_profile(
    program: Sequence[str],
    folder: Path,
    *,
    pool_bytes: dict[str, int],
    load: Load | None,
    recording: SamplingPlan | None = None,
) -> Profile:
    """Run ``program`` once under 4KB pages with ``perf record`` and add up the samples.

    Args:
        recording: what to record; what this machine's class needs if None (:func:`why_unusable` is "").
    """
    chosen = recording or _plan_of_machine(_where_we_run(of_cpu(Cpu.from_cpuinfo(cpu_facts()))))
    layout, report, data = folder / "growing-0.csv", folder / "report.json", folder / "perf.data"
    write_layout(Layout(ALL_4KB, dict(pool_bytes)), layout)
    _run_to_end([*chosen.record(str(data)), *mosalloc_command(program, layout, report=report)], load)
    # Messages go to a file: a pipe that nobody reads would stop perf when it is full.
    with (
        tempfile.TemporaryFile("w+") as messages,
        subprocess.Popen(
            chosen.script(str(data)), stdout=subprocess.PIPE, stderr=messages, text=True
        ) as process,
    ):
        samples = list(parse_samples(process.stdout))
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
    made = profile_of_pools(
        samples, read_recorded_pools(report), "perf script", what, faults=chosen is FAULT_SAMPLING
    )
    return replace(made, pool_bytes=dict(pool_bytes))


def _run_to_end(argv: list[str], load: Load | None) -> None:
    """Run the program to its end; with a load, signal perf, which forwards the signal to the program."""
    companion = None
    if load is not None:
        load.require_free_port()
        companion = LoadRun(load)
    process = subprocess.Popen([*DIE_WITH_PARENT, *argv], stdin=subprocess.DEVNULL)
    with stopped_at_exit(process), run_beside(process, companion):
        process.wait()
    if not ended_well(process.returncode, load):
        raise TesseraError(
            f"perf record of {argv[-1]}",
            f"the program or perf exited with status {process.returncode}",
            "run the program under `tessera mosalloc run` until it succeeds",
            exit_code=EXIT_FAILED,
        )
