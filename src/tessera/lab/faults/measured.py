"""Measure all kinds of first touches on this machine and write their tables.

The program ``tessera-faults`` touches memory with the clock around.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.files import built, copy_file
from tessera.core.results.os_tables import FAULT_COMB, FAULT_ENVIRONMENT, FAULT_LATENCY, FAULT_PASSES
from tessera.core.results.table_io import frame_of, write_table
from tessera.core.results.tree import ResultsTree as ResultsTree
from tessera.core.units import format_bytes
from tessera.lab.faults.kinds import Kind
from tessera.lab.faults.latencies import (
    KindLatencies,
    TouchLatencies,
    clipped,
    comb,
    cosine,
    judged_series,
    quantiles,
    read_cycles,
    with_constant,
)
from tessera.machine.container import RunOptions
from tessera.machine.container.build import Say, build_component
from tessera.machine.container.toolchain import Toolchain, toolchain
from tessera.machine.environment.condition import SystemFiles, UnreadableFact
from tessera.machine.limits import available_memory, available_memory_bytes

# What a measurement of fault latencies needs of this machine, read from files below a root folder.
#
# Each condition that is not met is an error with a code of its own.

THP = "sys/kernel/mm/transparent_hugepage/enabled"
#: Memory that must be left beside the pass, for the file and the latencies of all passes.
SPARE_BYTES = 64 << 20


@dataclass(frozen=True)
class Environment:
    """The row that a result carries: what the latencies depend on.

    Attributes:
        kernel: release.
        processor: model name.
        virtual: whether a hypervisor is below.
        thp: chosen word of ``transparent_hugepage/enabled``; empty if the kernel has none.
        governor: of the processor that is used; empty if frequencies are not the kernel's.
        free_bytes: memory that is available before, as the machine and the limits of cgroups say.
    """

    kernel: str
    processor: str
    virtual: bool
    thp: str
    governor: str
    free_bytes: int


def read_environment(tree: SystemFiles, processor: int) -> Environment:
    """Read the row.

    Raises:
        TesseraError: ``/proc`` does not have what it must have.
    """
    try:
        facts = tree.cpu_facts()
        governor = f"sys/devices/system/cpu/cpu{processor}/cpufreq/scaling_governor"
        return Environment(
            kernel=tree.text("proc/sys/kernel/osrelease"),
            processor=facts.get("model name", ""),
            virtual="hypervisor" in tree.cpu_flags(),
            thp=tree.chosen(THP) if tree.has(THP) else "",
            governor=tree.text(governor) if tree.has(governor) else "",
            free_bytes=available_memory_bytes(tree.root),
        )
    except UnreadableFact as error:
        raise TesseraError(
            "facts of this machine", str(error), "mount /proc and /sys", code="facts"
        ) from None


def require(tree: SystemFiles, found: Environment, *, bytes_: int, huge: bool, any_governor: bool) -> None:
    """Check everything before the first pass.

    Args:
        bytes_: memory of a pass.
        huge: whether a kind needs 2MB pages.
        any_governor: accept every governor of frequencies; the environment's row names it.

    Raises:
        TesseraError: with code ``no-invariant-tsc``, ``no-thp``, ``too-little-memory`` or ``governor``.
    """
    missing = {"constant_tsc", "nonstop_tsc"} - set(tree.cpu_flags())
    if missing:
        raise TesseraError(
            "the time-stamp counter as a clock",
            f"/proc/cpuinfo lacks {', '.join(sorted(missing))}: its rate may change",
            "use a machine with an invariant TSC, or a hypervisor that passes the flag on",
            code="no-invariant-tsc",
        )
    if huge and found.thp in ("", "never"):
        raise TesseraError(
            "kind write-2mb",
            f"/{THP} is '{found.thp}'" if found.thp else f"/{THP} does not exist",
            f"echo madvise | sudo tee /{THP}; or leave the kind out with --fault",
            code="no-thp",
        )
    # The pass, the file of read-file, and room for the latencies.
    needed = 2 * bytes_ + SPARE_BYTES
    if found.free_bytes < needed:
        memory = available_memory(tree.root)
        raise TesseraError(
            f"passes of {format_bytes(bytes_)}",
            f"{found.free_bytes >> 20} MB are available, {needed >> 20} MB are needed{memory.because}",
            f"give a smaller --size, or {memory.remedy(needed)}",
            code="too-little-memory",
        )
    if found.governor not in ("", "performance") and not any_governor:
        raise TesseraError(
            "a constant frequency",
            f"the governor is '{found.governor}'",
            "tessera measure environment --fix -- tessera lab faults measure; or give --any-governor",
            code="governor",
        )


def processor_of(asked: int | None) -> int:
    """The processor to use: the one asked for, or the last that this process may use."""
    allowed = sorted(os.sched_getaffinity(0))
    if asked is None:
        return allowed[-1]
    if asked not in allowed:
        raise TesseraError(
            f"--processor {asked}",
            f"this process may use {', '.join(map(str, allowed))}",
            "name one of them",
            code="processor",
        )
    return asked


# A run of ``tessera-faults`` for one kind.

COMPONENT = "faults"


@dataclass(frozen=True)
class FaultProgramSettings:
    """How a kind is measured.

    Attributes:
        bytes_: memory of a pass, a multiple of 2MB.
        passes: all passes; the first ``warmup`` do not count.
        processor: where the program runs.
    """

    bytes_: int
    passes: int
    warmup: int
    processor: int


def built_tools(say: Say) -> Toolchain:
    """The tools, with the program built."""
    build_component(COMPONENT, say)
    return toolchain()


def passes_of_kind(
    tools: Toolchain, kind: Kind, plan: FaultProgramSettings, keep: Path | None = None
) -> KindLatencies:
    """The passes of a kind.

    Args:
        keep: folder for ``<kind>.csv``, the latency of every touch.

    Raises:
        TesseraError: the program failed; its message says why.
    """
    with tempfile.TemporaryDirectory(prefix="tessera-faults-") as temporary:
        out = Path(temporary) / f"{kind.name}.csv"
        command = [built(COMPONENT, "tessera-faults"), "--kind", kind.name, "--out", out]
        command += ["--size", str(plan.bytes_), "--passes", str(plan.passes)]
        command += ["--processor", str(plan.processor), "--folder", temporary]
        options = RunOptions(writes=(Path(temporary),))
        said = json.loads(tools.run(command, capture=True, options=options).stdout)
        cycles = read_cycles(out, plan.passes, said["touches"])
        if keep is not None:
            copy_file(out, keep / out.name)
    return judged_series(kind, cycles, said["passes"], said["tsc_hertz"], said["clock_cycles"], plan.warmup)


# Rows of the tables of a measurement (``tessera.core.results.os_tables``).

MEASURED = {"provenance": "measured"}


def latency_rows(series: KindLatencies) -> list[dict]:
    """A row for each quantile; none if no pass counts."""
    counted = [one.kept for one in series.counted]
    if not counted:
        return []
    return [
        {
            "kind": series.kind.name, "share": one.share, "tsc_cycles": one.median,
            "low_cycles": one.low, "high_cycles": one.high, "ns": 1e9 * one.median / series.hertz,
            "passes": len(counted), **MEASURED,
        }
        for one in quantiles(counted)
    ]  # fmt: skip


def comb_rows(series: KindLatencies) -> list[dict]:
    """A row for each comb that the kind can have; none if no pass counts."""
    counted = [one.cycles for one in series.counted]
    rows = []
    for teeth in series.kind.teeth if counted else ():
        found = comb(counted, teeth)
        rows.append(
            {
                "kind": series.kind.name, "reason": teeth.reason, "period": teeth.period,
                "asked": found.asked, "hits": found.hits, "chance": found.chance,
                "extra_cycles": found.extra, **MEASURED,
            }
        )  # fmt: skip
    return rows


def pass_rows(series: KindLatencies) -> list[dict]:
    """A row for each pass."""
    following = {id(one): other for one, other in pairwise(series.counted)}
    rows = []
    for number, one in enumerate(series.passes):
        row = {
            "kind": series.kind.name, "pass": number, "refused": one.refused, "touches": len(one.cycles),
            "outside": int(one.outside.sum()), "minor_faults": one.minor_faults, "huge_bytes": one.huge_bytes,
            "median_cycles": float(np.median(one.kept)) if len(one.kept) else None,
            "cosine_constant": with_constant(one.cycles),
            "clipped_constant": with_constant(clipped(one.cycles)), **MEASURED,
        }  # fmt: skip
        rows.append(row | _repeat(one, following.get(id(one))))
    return rows


def _repeat(one: TouchLatencies, other: TouchLatencies | None) -> dict:
    """Cosines with the next pass that counts."""
    if other is None:
        return {}
    return {
        "cosine_repeat": cosine(one.cycles, other.cycles),
        "clipped_repeat": cosine(clipped(one.cycles), clipped(other.cycles)),
    }


def environment_row(found: Environment, series: KindLatencies, pass_bytes: int) -> dict:
    """The one row of the environment."""
    clock = {"tsc_hertz": series.hertz, "clock_cycles": series.clock_cycles, "pass_bytes": pass_bytes}
    return asdict(found) | clock | MEASURED


# All kinds, one after the other.

#: The least number of passes of a kind that count.
LEAST_PASSES = 2


def measure_kinds(
    tools: Toolchain,
    kinds: Sequence[Kind],
    plan: FaultProgramSettings,
    out: Path,
    say: Callable[[str], None],
    *,
    root: Path = Path("/"),
    any_governor: bool = False,
    keep: Path | None = None,
) -> list[KindLatencies]:
    """Measure kinds one after the other and write the tables below ``out``, a results folder.

    Args:
        root: where ``/proc`` and ``/sys`` are.
        any_governor: accept every governor of frequencies.
        keep: folder for the latency of every touch.

    Raises:
        TesseraError: a condition is not met; or of a kind, fewer than :data:`LEAST_PASSES` passes count (code
            ``too-few-passes``). The tables are written in that case, too.
    """
    tree = SystemFiles(root)
    processor_of(plan.processor)
    found = read_environment(tree, plan.processor)
    require(tree, found, bytes_=plan.bytes_, huge=any(kind.huge for kind in kinds), any_governor=any_governor)
    all_series = []
    for kind in kinds:
        series = passes_of_kind(tools, kind, plan, keep)
        all_series.append(series)
        say(f"{kind.name}: {len(series.counted)} of {len(series.passes)} passes count")
    paths = ResultsTree(out)
    for table, name, rows in (
        (FAULT_LATENCY, "latency", [row for one in all_series for row in latency_rows(one)]),
        (FAULT_COMB, "comb", [row for one in all_series for row in comb_rows(one)]),
        (FAULT_PASSES, "passes", [row for one in all_series for row in pass_rows(one)]),
        (FAULT_ENVIRONMENT, "environment", [environment_row(found, all_series[0], plan.bytes_)]),
    ):
        write_table(table, frame_of(table, rows), paths.host_faults(name))
    few = [one for one in all_series if len(one.counted) < LEAST_PASSES]
    if few:
        listed = "; ".join(f"{one.kind.name}: {_reasons(one)}" for one in few)
        raise TesseraError(
            f"at least {LEAST_PASSES} passes that count",
            f"{listed} (all passes: {paths.host_faults('passes')})",
            "stop other programs, then measure again; or give more --passes",
            exit_code=EXIT_FAILED,
            code="too-few-passes",
        )
    return all_series


def _reasons(series: KindLatencies) -> str:
    return ", ".join(dict.fromkeys(one.refused for one in series.passes if one.refused))
