"""``kind: debian``: a program of Debian's, unmodified, in the image of workloads.

A size's ``args`` describe its input, which the program's module makes in the run's folder. A new program is
one module below ``tessera.workloads.debian`` with ``prepare(workload, size, folder) -> Run``, and one line
here.
"""

from __future__ import annotations

import importlib
from pathlib import Path

from tessera.errors import unknown_name
from tessera.workloads.model import Size, Workload
from tessera.workloads.run import Run

PROGRAMS = {
    "liblinear-train": "tessera.workloads.debian.liblinear",
    "xalan": "tessera.workloads.debian.xalan",
}


def prepare(workload: Workload, size: Size, folder: Path) -> Run:
    """The input of this size in ``folder``, and how the program is started on it."""
    if workload.executable not in PROGRAMS:
        raise unknown_name(f"Debian program of workload {workload.name}", workload.executable, list(PROGRAMS))
    return importlib.import_module(PROGRAMS[workload.executable]).prepare(workload, size, folder)
