"""The table of programs: a program is one file beside this one and one line here."""

from __future__ import annotations

from collections.abc import Iterable

from tessera.core.errors import unknown_name
from tessera.lab.allocator_proof.programs import (
    allocators,
    cpython,
    gcc,
    git,
    java,
    memcached,
    node,
    redis,
    sqlite3,
    stress_ng,
)
from tessera.lab.allocator_proof.programs.driver import ProvedProgram


def programs_by_name(programs: Iterable[ProvedProgram]) -> dict[str, ProvedProgram]:
    """Programs by name, in order; the same name twice is a mistake in the source."""
    found: dict[str, ProvedProgram] = {}
    for program in programs:
        if program.name in found:
            raise ValueError(f"two programs have the name '{program.name}'; rename one")
        found[program.name] = program
    return found


PROGRAMS: dict[str, ProvedProgram] = programs_by_name(
    [
        redis.PROGRAM,
        memcached.PROGRAM,
        sqlite3.PROGRAM,
        *cpython.PROGRAMS,
        git.PROGRAM,
        gcc.PROGRAM,
        *node.PROGRAMS,
        *java.PROGRAMS,
        *stress_ng.PROGRAMS,
        *allocators.PROGRAMS,
    ]
)


def program_named(name: str) -> ProvedProgram:
    """The program ``name``; an unknown one is an error that lists the valid names."""
    if name not in PROGRAMS:
        raise unknown_name("program", name, tuple(PROGRAMS))
    return PROGRAMS[name]
