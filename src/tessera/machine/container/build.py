"""Build components with CMake and Ninja into ``build/<component>/``.

A build folder belongs to one toolchain, which its file ``.toolchain`` names. Another toolchain starts from
a clean folder, because objects of two compilers must not be linked. ``.sources`` holds the state of
``artifacts/`` at the last finished build, so that an unchanged checkout starts no program.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.files import build_dir, locked_file, repo_root, write_text
from tessera.machine.container.command import RunOptions
from tessera.machine.container.engine import NONE
from tessera.machine.container.image_inputs import docker_folder
from tessera.machine.container.toolchain import Toolchain, toolchain

#: In the order of builds.
COMPONENTS = ("mosalloc", "tracer", "simulator", "workloads", "imitation")

Say = Callable[[str], None]


def sources_of(component: str) -> Path:
    """Folder of a component's CMake project; an error if it does not exist."""
    folder = repo_root() / "artifacts" / component
    if not (folder / "CMakeLists.txt").exists():
        raise TesseraError(
            f"component '{component}'",
            f"{folder / 'CMakeLists.txt'} does not exist",
            "restore the checkout: git status, git checkout -- artifacts",
        )
    return folder


def sources_state() -> str:
    """A hash that changes when a file below ``artifacts/`` changes (name, size, time of change).

    All components share it: the simulator builds the tracer's library from the tracer's folder.
    """
    digest = hashlib.sha256()
    for folder, folders, files in os.walk(repo_root() / "artifacts"):
        folders.sort()
        for name in sorted(files):
            status = os.stat(os.path.join(folder, name))
            digest.update(f"{folder}/{name}\0{status.st_size}\0{status.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def build_component(component: str, say: Say, *, tests: bool = False) -> None:
    """Bring ``build/<component>/`` up to date; does nothing if it is.

    ``tests``: also build the component's tests, which takes several times as long.
    """
    source = sources_of(component)
    folder = build_dir(component)
    tools = toolchain()
    identity = json.dumps(_identity(tools), sort_keys=True)
    with _lock(component):
        state = sources_state()
        with_tests = f"{state} tests"
        if not _same(folder / ".toolchain", identity):
            if folder.exists():
                say(f"{component}: the last build used another toolchain; starting from an empty folder")
                shutil.rmtree(folder)
            folder.mkdir(parents=True)
            write_text(folder / ".toolchain", identity + "\n")
        elif _same(folder / ".sources", with_tests) or (not tests and _same(folder / ".sources", state)):
            return
        say(f"{component}: building" + (" (and its tests)" if tests else ""))
        env = _environment(tools)
        options = ["-DCMAKE_BUILD_TYPE=Release", f"-DBUILD_TESTING={'ON' if tests else 'OFF'}"]
        writes = RunOptions(writes=(folder,))
        tools.run(["cmake", "-S", source, "-B", folder, "-G", "Ninja", *options], env=env, options=writes)
        tools.run(["cmake", "--build", folder], env=env, options=writes)
        write_text(folder / ".sources", (with_tests if tests else state) + "\n")


def _identity(tools: Toolchain) -> dict[str, str]:
    """What objects depend on: the engine and its compilers, but not the version of the engine."""
    facts = tools.describe()
    facts.pop("engine_version", None)
    return facts


def _environment(tools: Toolchain) -> dict[str, str]:
    """On the host: checks that the programs exist; returns variables that locate QEMU's header."""
    if tools.describe()["engine"] != NONE:
        return {}
    require_programs()
    return source_environment()


def _same(path: Path, content: str) -> bool:
    return path.exists() and path.read_text().strip() == content


@contextmanager
def _lock(component: str) -> Iterator[None]:
    """One build of a component at a time; a second one waits."""
    locks = build_dir("locks")
    locks.mkdir(parents=True, exist_ok=True)
    with locked_file(locks / component):
        yield


# Engine ``none``: programs that this machine needs to build the components.

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
            f"sudo apt-get install {' '.join(missing)}, or ./run --engine none --yes tessera dev build",
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
