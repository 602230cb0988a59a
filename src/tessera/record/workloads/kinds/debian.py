"""``kind: debian``: a program of Debian's, unmodified, in the image of workloads, or in one of its own.

A size's ``args`` describe its input, which the program's module makes in the run's folder. A new program is
one module below ``tessera.record.debian_programs`` with ``prepare(workload, size, folder) -> Run``, and
one line here.
"""

from __future__ import annotations

import importlib
from pathlib import Path

from tessera.core.errors import unknown_name
from tessera.record.workloads.definition import Size, Workload
from tessera.record.workloads.program_run import VIPS, WORKLOADS, ProgramRun

PROGRAMS = {
    "liblinear-train": "tessera.record.debian_programs.liblinear",
    "vips": "tessera.record.debian_programs.vips",
    "xalan": "tessera.record.debian_programs.xalan",
}

#: Images of programs that are not in the image of workloads.
IMAGES = {"vips": VIPS}


def image_folder(executable: str) -> str:
    """The folder of ``docker/`` whose image has the program."""
    return IMAGES.get(executable, WORKLOADS)


def prepare(workload: Workload, size: Size, folder: Path) -> ProgramRun:
    """The input of this size in ``folder``, and how the program is started on it."""
    if workload.executable not in PROGRAMS:
        raise unknown_name(f"Debian program of workload {workload.name}", workload.executable, list(PROGRAMS))
    return importlib.import_module(PROGRAMS[workload.executable]).prepare(workload, size, folder)
