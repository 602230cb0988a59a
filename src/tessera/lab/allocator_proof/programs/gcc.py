"""gcc: compiler, assembler and linker each under the mosaic, and the program that they make."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from tessera.core.files import repo_root
from tessera.core.units import MB
from tessera.lab.allocator_proof.programs.driver import Box, Need, ProvedProgram, expect_equal

FLAGS = ("-O2", "-g", "-gno-record-gcc-switches", "-std=c17", "-pthread")


def source() -> Path:
    """The compiled source: the allocators' churn program of this checkout."""
    return repo_root() / "artifacts" / "mosalloc" / "programs" / "churn.c"


def inner(box: Box, name: str) -> str:
    """Path of the program that the driver starts for a stage."""
    return os.path.realpath(box.tool(["gcc", f"-print-prog-name={name}"]).out.strip())


def drive(box: Box) -> str:
    compiler = inner(box, "cc1")
    here = f"-fdebug-prefix-map={box.folder}=."
    box.run(["gcc", *FLAGS, here, "-S", source(), "-o", "churn.s"], target=compiler)
    box.run(["as", "churn.s", "-o", "churn.o"])
    linker = os.path.realpath("/usr/bin/ld")
    box.run(["gcc", "-pthread", "-fuse-ld=bfd", "churn.o", "-o", "churn"], target=linker)
    out = box.run(["./churn", "2", "20000"]).out
    expect_equal("the compiled program's last line", out.splitlines()[-1], "churn: ok")
    assembly = hashlib.sha256((box.folder / "churn.s").read_bytes()).hexdigest()
    return f"{assembly}\n{out}"


PROGRAM = ProvedProgram(
    name="gcc",
    what="cc1, as and ld on a C program, which then runs; the assembly is byte for byte the plain run's",
    drive=drive,
    needs=(Need("gcc", "gcc"), Need("as", "binutils"), Need("ld.bfd", "binutils")),
    heap_bytes=64 * MB,
    anon_bytes=64 * MB,
)
