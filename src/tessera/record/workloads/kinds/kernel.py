"""``kind: kernel``: a program of ``artifacts/workloads``, built in the toolchain."""

from __future__ import annotations

from pathlib import Path

from tessera.core.files import built
from tessera.record import datasets
from tessera.record.workloads.definition import Size, Workload
from tessera.record.workloads.program_run import ProgramRun


def prepare(workload: Workload, size: Size, folder: Path) -> ProgramRun:
    """The built program with the size's arguments, datasets' paths filled in."""
    program = str(built("workloads", workload.executable))
    return ProgramRun(tuple(datasets.expand([program, *size.args])))
