"""Kinds of workloads: each prepares a run from a size. A new kind is one file and one line here.

Contract of a kind's module::

    def prepare(workload: Workload, size: Size, folder: Path) -> Run

``folder`` exists, is empty or from an earlier attempt of the same size, and belongs to this run: ``prepare``
makes the inputs in it. If a program, a dataset or a licence is missing, ``prepare`` raises a TesseraError
that names it and the command that provides it. ``prepare`` leaves no process running.

A kind whose programs the user supplies adds::

    def missing(workload: Workload, size: Size) -> str

which returns one line that names the missing program, or an empty text if nothing is missing.
"""

from __future__ import annotations

import importlib
from dataclasses import replace
from pathlib import Path
from types import ModuleType

from tessera.core.errors import TesseraError, unknown_name
from tessera.record.workloads.definition import PREPARED, Size, Workload
from tessera.record.workloads.program_run import ProgramRun

KINDS = {
    "server": "tessera.record.workloads.kinds.server",
    "kernel": "tessera.record.workloads.kinds.kernel",
    "debian": "tessera.record.workloads.kinds.debian",
    "parsec": "tessera.record.workloads.kinds.parsec",
    "spec": "tessera.record.workloads.kinds.spec",
    "scripts": "tessera.record.workloads.kinds.scripts",
    "program": "tessera.record.workloads.kinds.program",
}


def prepare(workload: Workload, label: str, folder: Path, prepared: Path | None = None) -> ProgramRun:
    """The run of this size of the workload.

    Args:
        prepared: the file that ``{prepared}`` in the size's arguments stands for.

    Raises:
        TesseraError: an unknown size or kind, or something that the run needs is missing.
    """
    size: Size = workload.size(label)
    if size.prepared is not None:
        if prepared is None:
            raise TesseraError(
                f"size {label} of {workload.name}",
                f"it loads the prepared file '{size.prepared.file}', and none is given",
                f"build it: tessera workload prepare {workload.name} --size {label}",
            )
        prepared = prepared.absolute()
        size = replace(size, args=tuple(word.replace(PREPARED, str(prepared)) for word in size.args))
    module = _module(workload)
    folder = folder.absolute()  # programs may work in another folder
    folder.mkdir(parents=True, exist_ok=True)
    run = module.prepare(workload, size, folder)
    return replace(run, paths=(*run.paths, prepared)) if size.prepared is not None else run


def missing(workload: Workload, label: str) -> str:
    """The input that the user must still supply for this size, with the remedy; empty if there is none.

    It stays missing until the user does something: no later run can end otherwise before.
    """
    size = workload.size(label)
    module = _module(workload)
    return module.missing(workload, size) if hasattr(module, "missing") else ""


def _module(workload: Workload) -> ModuleType:
    if workload.kind not in KINDS:
        raise unknown_name(f"kind of workload {workload.name}", workload.kind, list(KINDS))
    return importlib.import_module(KINDS[workload.kind])
