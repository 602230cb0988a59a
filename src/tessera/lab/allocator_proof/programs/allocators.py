"""jemalloc, tcmalloc, mimalloc: the churn program linked with each, and with each preloaded."""

from __future__ import annotations

import os

from tessera.core.files import repo_root
from tessera.core.units import MB
from tessera.lab.allocator_proof.programs.driver import Box, Need, ProvedProgram, expect_equal

SOURCE = repo_root() / "artifacts" / "mosalloc" / "programs" / "churn.c"
LIBRARIES = "/usr/lib/x86_64-linux-gnu"

#: allocator -> linker option, library, packages (to link, to run)
ALLOCATORS = {
    "jemalloc": ("-ljemalloc", "libjemalloc.so.2", "libjemalloc-dev", "libjemalloc2"),
    "tcmalloc": ("-ltcmalloc_minimal", "libtcmalloc_minimal.so.4", "libgoogle-perftools-dev",
                 "libtcmalloc-minimal4"),
    "mimalloc": ("-lmimalloc", "libmimalloc.so.2.0", "libmimalloc-dev", "libmimalloc2.0"),
}  # fmt: skip

#: mimalloc asks for its memory at addresses of its own, which only this option brings into the pool.
OPTIONS = {"mimalloc": ("--hints", "pool")}

WORK = ("4", "30000")


def linked(allocator: str):
    """The program is linked with the allocator."""

    def drive(box: Box) -> str:
        option = ALLOCATORS[allocator][0]
        compile_churn(box, "-Wl,--no-as-needed", option)
        return verified_allocator(box, allocator, {})

    return drive


def preloaded(allocator: str):
    """The allocator is preloaded, as our own library is: both must stay."""

    def drive(box: Box) -> str:
        compile_churn(box)
        return verified_allocator(box, allocator, {"LD_PRELOAD": f"{LIBRARIES}/{ALLOCATORS[allocator][1]}"})

    return drive


def compile_churn(box: Box, *options: str) -> None:
    box.tool(["gcc", "-O2", "-pthread", SOURCE, "-o", "churn", *options])


def verified_allocator(box: Box, allocator: str, env: dict[str, str]) -> str:
    out = box.run([os.path.join(box.folder, "churn"), *WORK, allocator], env=env).out
    expect_equal("churn", out, "churn: ok\n")
    return out


def rows(allocator: str) -> tuple[ProvedProgram, ...]:
    _, library, to_link, to_run = ALLOCATORS[allocator]
    needs = (Need("gcc", "gcc"), Need(f"{LIBRARIES}/{library}", to_run))
    header = Need(f"{LIBRARIES}/{library.split('.so')[0]}.so", to_link)

    def program(how: str, what: str, drive, needs: tuple[Need, ...]) -> ProvedProgram:
        return ProvedProgram(
            f"{allocator}-{how}",
            what,
            drive,
            needs,
            heap_bytes=32 * MB,
            anon_bytes=128 * MB,
            options=OPTIONS.get(allocator, ()),
        )

    return (
        program("linked", f"churn.c linked with {allocator}", linked(allocator), (*needs, header)),
        program("preloaded", f"churn.c, {allocator} preloaded", preloaded(allocator), needs),
    )


PROGRAMS = tuple(program for allocator in ALLOCATORS for program in rows(allocator))
