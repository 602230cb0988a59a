"""Figures 3 and 4: where page tables lie under first touch and interleave, without and with replicas.

Each run is observed in two ways at the same moment: by the kernel's own dump, and by a walk through the
guest's memory from outside. The two must agree on every number.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.kernel import placement
from tessera.kernel.guest import GuestProgram, GuestRun, Look, run_in_guest
from tessera.kernel.machine import Machine
from tessera.kernel.walker import Tree, differences, walk
from tessera.machine.container.toolchain import Toolchain
from tessera.results.schema.kernel import FIGURE4
from tessera.results.write import frame_of

#: The program stands still while both look. Swap is off and nothing else runs: nobody else changes entries.
SCRIPT = """echo 1 > /proc/sys/vm/pgtable_replication || exit
{policy} {replicas} {command} > /out/program &
program=$!
sleep {after}
stand-still $program || exit
pagetable-dump $program > /out/dump || exit
host walk now $(pagetable-roots $program) || exit
kill -KILL $program
"""


@dataclass(frozen=True)
class PlacementRun:
    """A program to look at.

    Attributes:
        workload: its name in the table.
        command: as the guest starts it.
        replicas: nodes as ``pgtblrepl`` takes them, or ``none``.
        interleave: memory from all nodes in turn instead of first touch.
        after_seconds: from its start to the look.
    """

    workload: str
    command: tuple[str, ...]
    replicas: str = "none"
    interleave: bool = False
    after_seconds: int = 5

    @property
    def config(self) -> str:
        """As in Table 3: F or I, with +M for replicas."""
        return ("I" if self.interleave else "F") + ("" if self.replicas == "none" else "+M")


def observe(
    tools: Toolchain,
    program: GuestProgram,
    what: PlacementRun,
    out: Path,
    machine: Machine,
    timeout_seconds: float,
) -> tuple[pd.DataFrame, list[str]]:
    """Placement table of a run, and where its two sources or its replicas disagree."""
    seen: dict[str, list[tuple]] = {}
    found: list[str] = []

    def look(at: Look) -> bool:
        trees = walked(at)
        found[:] = unlike(trees)
        seen.update({name: placement.of_tree(tree, at.memory, machine.nodes) for name, tree in trees.items()})
        return bool(found)

    script = SCRIPT.format(
        policy="interleave" if what.interleave else "",
        replicas="" if what.replicas == "none" else f"pgtblrepl -r {what.replicas}",
        command=" ".join(what.command),
        after=what.after_seconds,
    )
    done = run_in_guest(
        tools, program, script, out, machine=machine, timeout_seconds=timeout_seconds, on_walk=look
    )
    if done.status != 0:
        raise _failed(what, done)
    outside = _table(what, seen)
    inside = placement.of_dump(done.text("dump"))
    inside = inside.assign(workload=what.workload, config=what.config)[placement.COLUMNS]
    return outside, found + disagreements(inside, outside)


def runs(megabytes: int) -> list[PlacementRun]:
    """The runs of Figure 4 that fit in the guest, four configurations each.

    Three ways in which threads on all sockets touch memory, and two programs with a single thread.
    """
    touched = [
        (f"touched-by-{pattern}", ("firsttouch", str(megabytes), pattern, "600"))
        for pattern in ("one", "blocks", "pages")
    ]
    programs = [
        ("gups", ("gups", "--size", f"{megabytes}MB", "--reads", "4000000000")),
        ("btree", ("btree", "--elements", str(megabytes * 10_000), "--lookups", "4000000000")),
    ]
    return [
        PlacementRun(name, command, replicas, interleave, after_seconds=8)
        for name, command in touched + programs
        for interleave in (False, True)
        for replicas in ("none", "all")
    ]


def figure4(table: pd.DataFrame) -> pd.DataFrame:
    """Share of remote leaf entries that each socket sees: ``workload,config,socket,remote_leaf_share``."""
    rows = []
    for (workload, config), seen in table.groupby(["workload", "config"], sort=False):
        shares = placement.remote_leaf_share(seen, sorted(set(seen.socket)))
        rows += [(workload, config, socket, share) for socket, share in shares.items()]
    return frame_of(FIGURE4, rows)


def walked(at: Look) -> dict[str, Tree]:
    """The process's trees at this moment, by observer."""
    return {observer: walk(at.memory, root) for observer, root in at.roots.items()}


def unlike(trees: dict[str, Tree]) -> list[str]:
    """Where replicas do not translate as the home tables do."""
    return [
        f"tree {observer}: {difference}"
        for observer, tree in trees.items()
        if observer != placement.HOME
        for difference in differences(trees[placement.HOME], tree)
    ]


def _table(what: PlacementRun, seen: dict[str, list[tuple]]) -> pd.DataFrame:
    rows = [(what.workload, what.config, observer, *row) for observer, rows in seen.items() for row in rows]
    return pd.DataFrame(rows, columns=placement.COLUMNS)


def disagreements(inside: pd.DataFrame, outside: pd.DataFrame) -> list[str]:
    """Rows in which the kernel's dump and the walk from outside differ; rows without a page don't count."""
    keys = ["observer", "level", "socket", "target_socket"]
    values = ["pages", "pointers"]
    both = inside.merge(outside, on=keys, how="outer", suffixes=("_inside", "_outside")).fillna(0)
    wrong = (
        both[[f"{value}_inside" for value in values]].to_numpy()
        != both[[f"{value}_outside" for value in values]].to_numpy()
    )
    return [
        "kernel and memory disagree: " + ", ".join(f"{key} {row[key]}" for key in keys)
        for _, row in both[wrong.any(axis=1)].iterrows()
    ]


def _failed(what: PlacementRun, done: GuestRun) -> TesseraError:
    return TesseraError(
        f"the page tables of {' '.join(what.command)}",
        f"the script in the guest exited with status {done.status}: {done.text('stderr').strip()[-300:]}",
        f"read the files of {done.folder}; the program must run for more than {what.after_seconds} s",
        exit_code=EXIT_FAILED,
    )
