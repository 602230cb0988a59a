"""Workloads that can be measured, ready to run. The others are refused, or left out with their reason."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tessera.core.errors import TesseraError
from tessera.core.files import sha256_of
from tessera.core.paths import build_dir, repo_root
from tessera.core.units import PAGE_1GB, round_up
from tessera.measure.add_workload import OWN
from tessera.measure.counted.here import Here
from tessera.measure.counted.request import ROI, Request
from tessera.record import workloads
from tessera.record.workloads import prepared
from tessera.record.workloads.model import Size, Workload
from tessera.record.workloads.run import HOST, Run

MARKED = "kernel"  #: kind of the programs whose source marks the region of interest


@dataclass(frozen=True)
class Row:
    """One workload at one size. ``size.args`` go into the bundle: they contain no path of this machine."""

    workload: str
    size: Size
    run: Run
    sha256: str

    @property
    def pool_bytes(self) -> dict[str, int]:
        """Pools of every layout: whole pages of 1GB, so that the layout 1gb has the same ones."""
        pools = {"brk": self.size.heap_pool, "mmap": self.size.anon_pool}
        return {name: round_up(size, PAGE_1GB) for name, size in pools.items()}


def candidates(request: Request) -> tuple[list[tuple[Workload, Size]], list[str]]:
    """Workloads of the request, smallest first, and why others are left out.

    Raises:
        TesseraError: a workload that was asked for by name cannot be measured, or none can.
    """
    found, left_out = [], []
    for name in dict.fromkeys(request.workloads) or workloads.names():
        workload = workloads.load(name)
        reason = _unfit(workload, request)
        if not reason:
            found.append((workload, workload.size(request.size)))
        elif request.workloads:
            raise TesseraError(f"measure {name}", reason[0], reason[1], code="workload-unfit")
        else:
            left_out.append(f"{name}: {reason[0]}")
    if not found:
        raise TesseraError(
            f"workloads of size {request.size}", "none can be measured", "tessera workload list shows sizes"
        )
    return sorted(found, key=lambda pair: pair[1].footprint), left_out


def _unfit(workload: Workload, request: Request) -> tuple[str, str] | None:
    """(found, remedy), or None."""
    if workload.source == OWN:
        return (
            "it is a program of yours, and a bundle has workloads of Tessera only",
            "tessera measure -- PROGRAM",
        )
    if request.size not in workload.sizes:
        return f"it has no size {request.size}", f"use one of: {', '.join(workload.sizes)}"
    if workload.kind == "server" or (workload.kind in ("program", "scripts") and workload.threads):
        return "it has several threads, and H, M, C and R of several threads are no cell", "choose another"
    if request.region == ROI and workload.kind != MARKED:
        return (
            f"its program (kind {workload.kind}) does not mark a region of interest",
            "count all of it, with every other workload of the bundle: --region program",
        )
    return None


def ready(workload: Workload, size: Size, where: Here) -> Row:
    """Make the inputs of a workload, and describe its program.

    Raises:
        TesseraError: a program, a file or a licence is missing; it starts threads.
    """
    file = None
    if size.prepared is not None:
        file = build_dir("prepared") / size.prepared.file
        prepared.ensure(size.prepared, file)
    run = workloads.prepare(workload, size.label, build_dir("runs") / workload.name / size.label, file)
    if run.threads or run.companion is not None:
        raise TesseraError(
            f"measure {workload.name}",
            "it has several threads, and H, M, C and R of several threads are no cell",
            "choose another workload",
            code="workload-unfit",
        )
    return Row(workload.name, size, run, _sha256(run, where))


def _sha256(run: Run, where: Here) -> str:
    """Of the program that is counted; of an image's program, computed in the image."""
    program = Path(run.target or run.argv[0])
    if where.rehearsal or run.image == HOST or program.is_relative_to(repo_root()):
        return sha256_of(program)
    done = where.toolchain(run).run(["sha256sum", str(program)], run.paths, capture=True)
    return done.stdout.split()[0]
