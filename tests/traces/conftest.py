"""Small C programs, compiled by the tests, with arrays whose accesses can be counted by hand."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tessera.core.files import build_dir, repo_root
from tessera.machine.container import RunOptions, toolchain

NEEDED = {"tracer": ("libtessera-trace.so", "tessera-trace"), "mosalloc": ("libmosalloc.so",)}
INCLUDES = '#include <stdint.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include "roi.h"\n'

#: Loops stay as they are written, so that their accesses can be counted.
COMPILER = "g++ -x c++ -O2 -march=x86-64-v3 -fno-tree-vectorize -fno-tree-loop-distribute-patterns".split()


@pytest.fixture(scope="session")
def components() -> None:
    """Skip with the build command when components are missing."""
    for component, names in NEEDED.items():
        for name in names:
            if not (build_dir(component) / name).exists():
                pytest.skip(f"{component} is not built: ./run tessera dev build {component}")


@pytest.fixture(scope="session")
def known() -> dict[tuple[str, ...], Path]:
    """What is compiled: name, source and flags -> program."""
    return {}


@pytest.fixture
def compiled(tmp_path: Path, components, known: dict[tuple[str, ...], Path]):
    """Compile C source (the markers of roi.h are included) in the toolchain; returns the program."""
    folder = tmp_path / "programs"
    folder.mkdir()

    def build(name: str, source: str, *flags: str) -> Path:
        file, program = folder / f"{name}.c", folder / name
        before = known.setdefault((name, source, *flags), program)
        if before.exists():
            return Path(shutil.copy2(before, program))
        file.write_text(INCLUDES + source)
        include = repo_root() / "artifacts" / "workloads" / "common"
        argv = [*COMPILER, f"-I{include}", *flags, str(file), "-o", str(program)]
        toolchain().run(argv, options=RunOptions(writes=(folder,)))
        return program

    return build


def dumped_lines(trace: Path) -> list[str]:
    """What `tessera-trace dump` prints; not through a container's log, which takes many times as long."""
    argv = [build_dir("tracer") / "tessera-trace", "dump", trace, "100000000"]
    return subprocess.run(argv, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()


@pytest.fixture
def dumped(components):
    """The whole content of a trace: static blocks as text lines and accesses in order."""

    def dump(trace: Path) -> tuple[list[str], list[tuple[str, int]]]:
        lines = dumped_lines(trace)
        accesses = [line.split() for line in lines if line.startswith(("  load", "  store"))]
        return lines, [(kind, int(address, 16)) for kind, address in accesses]

    return dump
