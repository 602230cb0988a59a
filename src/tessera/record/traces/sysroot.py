"""A program of this machine, and its shared libraries, where QEMU in the image can load them.

The image's libraries may be older than this machine's, so the program takes its own along. Not
supported: libraries and data that the program opens while it runs (dlopen, /etc, /usr/share) and that
the image lacks; scripts; other architectures.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

from tessera.core.errors import TesseraError


def libraries(program: Path) -> list[Path]:
    """Shared libraries and the dynamic linker of ``program``, as this machine's linker finds them."""
    answer = subprocess.run(["ldd", str(program)], capture_output=True, text=True)
    if answer.returncode != 0:
        raise TesseraError(
            f"record {program}",
            f"ldd says: {(answer.stderr or answer.stdout).strip()}",
            "give a dynamically linked x86-64 program, so that libmosalloc can be preloaded",
            code="not-dynamic",
        )
    return [Path(name) for name in dict.fromkeys(paths_of(answer.stdout))]


def paths_of(said: str) -> list[str]:
    """Files that ldd names: ``name => /path (0x...)``, or ``/path (0x...)`` for the linker itself."""
    return re.findall(r"(?:^\s+|=> )(/.+?)(?= \(0x[0-9a-f]+\)$)", said, re.MULTILINE)


def stage(program: Path, folder: Path) -> Path:
    """Copy ``program`` and its libraries below ``folder``; returns the program's copy."""
    for original in [program, *libraries(program)]:
        copy = folder / original.relative_to("/")
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(original.resolve(), copy)
    return folder / program.relative_to("/")
