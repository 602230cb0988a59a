"""Programs that start another program, by name: the layout is for that one."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence

from tessera.core.errors import TesseraError

#: As artifacts/mosalloc/include/mosalloc/starters.h.
STARTERS = (
    *("env", "nice", "nohup", "timeout", "taskset", "chrt", "ionice", "setsid"),
    *("stdbuf", "time", "numactl", "prlimit", "setarch", "linux64", "choom", "setpriv"),
)
SHELLS = (
    *("sh", "bash", "dash", "zsh", "ksh", "mksh", "fish", "csh", "tcsh", "busybox", "xargs", "make"),
    "gmake",
)


def refuse_starters(program: Sequence[str], command: str) -> None:
    """Raise if ``program`` only starts the program to look at: the recorder would look at the starter."""
    path = shutil.which(program[0]) or program[0]
    names = {os.path.basename(path), os.path.basename(os.path.realpath(path))}
    for table in (STARTERS, SHELLS):
        if found := names & set(table):
            kind = "a shell" if table is SHELLS else "a starter"
            raise TesseraError(
                f"program '{program[0]}'",
                f"{sorted(found)[0]} is {kind}: it starts the program whose accesses matter",
                f"name that program itself: {command} -- PROGRAM [ARGUMENT]...",
                code="program-starts-others",
            )
