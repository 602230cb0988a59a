"""Test that the checks detect a missing hook: the series without one store to the replicas, and all of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from tessera.kernel.experiments.scripts import failed
from tessera.kernel.guest import GuestProgram, run_in_guest
from tessera.kernel.proof import OutsideView
from tessera.machine.container.toolchain import Toolchain
from tessera.results.schema.kernel import PROVE
from tessera.results.write import frame_of

#: Every statically linked program write-protects its relocated data when it starts: one mprotect().
SCRIPT = """replication-on || exit
pgtblrepl -r all firsttouch 16 one 600 &
program=$!
sleep 5
stand-still $program && host walk forgotten $(pagetable-roots $program) || exit
kill -KILL $program
wait $program
true
"""


@dataclass(frozen=True)
class Reports:
    """The reports of the two observers, line by line."""

    checker: list[str]
    walker: list[str]


def observe(tools: Toolchain, program: GuestProgram, out: Path) -> Reports:
    """Run a program with replicas on all nodes, stop it, and return the reports of checker and walker."""
    view = OutsideView()
    done = run_in_guest(tools, program, SCRIPT, out, on_walk=view, timeout_seconds=300)
    if done.status != 0 or not view.compared:
        raise failed("a look at replicas", done)
    return Reports([line for line in done.warnings if "pgtable_replica: difference" in line], view.found)


def judge(seen: dict[str, Reports]) -> pd.DataFrame:
    """Kernel -> reports, as a table: ``broken`` must be reported by both observers, any other by none."""
    rows = []
    for kernel, reports in seen.items():
        expected = "some" if kernel == "broken" else "none"
        for observer, lines in (("checker", reports.checker), ("walker", reports.walker)):
            passed = bool(lines) == (expected == "some")
            rows.append((kernel, observer, len(lines), expected, passed, "measured"))
    return frame_of(PROVE, rows)
