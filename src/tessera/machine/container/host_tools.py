"""Engine ``none``: programs that this machine needs to build the components."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.paths import build_dir
from tessera.machine.container.image_inputs import docker_folder

#: program -> Debian package; CMake looks for libraries and reports missing ones.
PROGRAMS = {
    "cmake": "cmake",
    "ninja": "ninja-build",
    "g++": "g++",
    "pkg-config": "pkg-config",
    "qemu-x86_64": "qemu-user",
    "dpkg-source": "dpkg-dev",
}

_SYSTEM_HEADERS = (Path("/usr/local/include/qemu-plugin.h"), Path("/usr/include/qemu-plugin.h"))


def missing_programs() -> list[str]:
    """Debian packages of the programs that are not installed."""
    return [package for program, package in PROGRAMS.items() if shutil.which(program) is None]


def require_programs() -> None:
    """Raise an error with the apt command if a program is missing."""
    missing = missing_programs()
    if missing:
        raise TesseraError(
            "engine 'none' (this machine's own compilers)",
            f"packages {', '.join(missing)} are not installed",
            f"sudo apt-get install {' '.join(missing)}, or ./run --engine none --yes tessera build",
        )


def source_environment() -> dict[str, str]:
    """Variables that let compilers and CMake find ``qemu-plugin.h``; fetches it on first use."""
    if any(header.exists() for header in _SYSTEM_HEADERS):
        return {}
    prefix = build_dir("host")
    header = prefix / "include" / "qemu-plugin.h"
    if not header.exists():
        script = docker_folder("toolchain") / "qemu-plugin-header.sh"
        status = subprocess.run([str(script), str(header)], stdin=subprocess.DEVNULL).returncode
        if status != 0:
            raise TesseraError(
                "QEMU's plugin header for engine 'none'",
                f"{script.name} exited with status {status}",
                "read its messages above; this machine needs access to Debian's archive of source packages",
                exit_code=EXIT_FAILED,
            )
    return {"CPATH": str(header.parent), "CMAKE_PREFIX_PATH": _prepended("CMAKE_PREFIX_PATH", prefix)}


def _prepended(variable: str, folder: Path) -> str:
    before = os.environ.get(variable)
    return f"{folder}{os.pathsep}{before}" if before else str(folder)
