"""node: artifacts/mosalloc/programs/churn.js; V8's own reservations at hints, and in the pool."""

from __future__ import annotations

from tessera.core.files import repo_root
from tessera.core.units import MB
from tessera.lab.allocator_proof.programs.driver import Box, Need, ProvedProgram, expect_equal

SCRIPT = repo_root() / "artifacts" / "mosalloc" / "programs" / "churn.js"


def drive(box: Box) -> str:
    out = box.run(["node", SCRIPT]).out
    lines = dict(line.split(" ", 1) for line in out.splitlines())
    expect_equal("pages that WebAssembly had before each growth", lines["webassembly"], "1,2,4,8,16,32,-1")
    expect_equal("the stack's end is a RangeError", lines["recursion"], "true")
    return out


def row(name: str, what: str, options: tuple[str, ...]) -> ProvedProgram:
    return ProvedProgram(
        name=name,
        what=what,
        drive=drive,
        needs=(Need("node", "nodejs"),),
        heap_bytes=64 * MB,
        anon_bytes=96 * MB,
        splits=True,  # machine code is protected page by page
        options=options,
        timeout_seconds=30,
    )


WHAT = "heap, JSON, hashes, workers, WebAssembly that grows and traps"
PROGRAMS = (
    row("node", WHAT, ()),
    row("node-hints", f"{WHAT}; memory asked for at an address comes from the pool", ("--hints", "pool")),
)
