"""Do the checks detect a missing hook? The series without one store to the replicas, and all of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from tessera.core.results.kernel_tables import PROVE
from tessera.core.results.table_io import frame_of
from tessera.lab.kernel import image
from tessera.lab.kernel.guest import GuestProgram, run_in_guest, script_failed
from tessera.lab.kernel.patch_tests import OutsideView
from tessera.lab.study import Run, printed, study
from tessera.machine.container.toolchain import Toolchain

#: Every statically linked program write-protects its relocated data when it starts: one mprotect().
HOOK_SCRIPT = """replication-on || exit
pgtblrepl -r all firsttouch 16 one 600 &
program=$!
sleep 5
stand-still $program && host walk forgotten $(pagetable-roots $program) || exit
kill -KILL $program
wait $program
true
"""


@dataclass(frozen=True)
class HookReports:
    """The reports of the two observers, line by line."""

    checker: list[str]
    walker: list[str]


def observe_hook(tools: Toolchain, program: GuestProgram, out: Path) -> HookReports:
    """Run a program with replicas on all nodes, stop it, and return the reports of checker and walker."""
    view = OutsideView()
    done = run_in_guest(tools, program, HOOK_SCRIPT, out, on_walk=view, timeout_seconds=300)
    if done.status != 0 or not view.compared:
        raise script_failed("a look at replicas", done)
    return HookReports([line for line in done.warnings if "pgtable_replica: difference" in line], view.found)


@study(PROVE, show=printed())
def prove(run: Run, accept_series: bool = False) -> pd.DataFrame:
    """Build a kernel without one hook; test that the checker (inside) and the walker (outside) report it.

    The exit status is 1 if one does not, or reports something of the whole kernel.

    Example: ./run tessera lab run kernel-prove --out build/kernel/prove

    Args:
        accept_series: take another version of the kernel source's series if all patches apply.

    Raises:
        TesseraError: a kernel cannot be built, or the script in the guest failed.
    """
    seen = {}
    for variant in ("checked", "broken"):
        program = image.guest_program(variant, run.say, accept_series=accept_series)
        seen[variant] = observe_hook(image.kernel_tools(run.say), program, run.folder / variant)
        for line in (*seen[variant].checker[:2], *seen[variant].walker[:2]):
            run.say(f"{variant}: {line}")
    table = judge_hook(seen)
    run.wrong.extend(
        f"the {row.observer} reports {row.reports} differences of the kernel {row.kernel}, not {row.expected}"
        for row in table[~table.passed].itertuples()
    )
    return table


def judge_hook(seen: dict[str, HookReports]) -> pd.DataFrame:
    """Kernel -> reports, as a table: ``broken`` must be reported by both observers, any other by none."""
    rows = []
    for kernel, reports in seen.items():
        expected = "some" if kernel == "broken" else "none"
        for observer, lines in (("checker", reports.checker), ("walker", reports.walker)):
            passed = bool(lines) == (expected == "some")
            rows.append((kernel, observer, len(lines), expected, passed, "measured"))
    return frame_of(PROVE, rows)
