"""Automatic NUMA balancing moves data, and leaves page tables where they are (Mitosis, 3.1, 4.3 and 5.5).

A process fills memory on socket 0 and moves to socket 1. The kernel moves its data after it. Then the process
asks for page tables on its new socket. It stands still at three moments (``balanced.c``), and its page tables
are seen twice: by the kernel's own dump, and by a walk through the guest's memory from outside. Both must
agree.

A table has moved if another physical page translates its range of addresses. The walker sees this; the dump
only counts tables. 4KB pages only. Not seen: how long a migration takes on a real machine.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.kernel import placement
from tessera.kernel.experiments.figures import disagreements, unlike, walked
from tessera.kernel.guest import GuestProgram, GuestRun, Look, run_in_guest
from tessera.kernel.machine import Machine
from tessera.kernel.walker import Tree
from tessera.machine.container.toolchain import Toolchain
from tessera.results.schema.kernel import BALANCING
from tessera.results.write import frame_of

MOMENTS = ("before", "balanced", "replicas")
#: Socket s has processor s. exec runs on the first one, too, so all tables of the program begin there.
FROM, TO = 0, 1
#: ``patience`` is longer than the program itself waits, so that its own error is the one that is seen.
SCRIPT = """echo 1 > /proc/sys/vm/pgtable_replication || exit
echo never > /sys/kernel/mm/transparent_hugepage/enabled || exit
taskset {first:x} balanced {megabytes} {source} {target} {seconds} > /out/program &
program=$!
for moment in {moments}; do
    wait-stopped $program {patience} || exit
    pagetable-dump $program > /out/dump-$moment || exit
    host walk $moment $(pagetable-roots $program) || exit
    kill -CONT $program
done
wait $program
"""


@dataclass(frozen=True)
class Moment:
    """What was seen at a moment.

    Attributes:
        said: the program's line: its socket, data pages, those of them on its socket, seconds.
        rows: page tables by socket, as :func:`tessera.kernel.placement.of_dump` returns them.
        tables: physical address of each home table, by its level and the first address that it translates.
    """

    said: tuple[int, int, int, float]
    rows: pd.DataFrame
    tables: dict[tuple[int, int], int]


def observe(
    tools: Toolchain, program: GuestProgram, out: Path, machine: Machine, megabytes: int, seconds: int
) -> tuple[dict[str, Moment], list[str]]:
    """What was seen at each moment, and where the two sources or the replicas disagree.

    Raises:
        TesseraError: the data had not moved after ``seconds``, or something else failed in the guest.
    """
    seen: dict[str, tuple[pd.DataFrame, dict]] = {}
    found: dict[str, list[str]] = {}

    def look(at: Look) -> bool:
        trees = walked(at)
        found[at.name] = unlike(trees)
        rows = [
            (observer, *row)
            for observer, tree in trees.items()
            for row in placement.of_tree(tree, at.memory, machine.nodes)
        ]
        frame = pd.DataFrame(rows, columns=placement.COLUMNS[2:])
        seen[at.name] = (frame, addresses(trees[placement.HOME]))
        return bool(found[at.name])

    script = SCRIPT.format(
        first=1 << FROM, source=FROM, target=TO, megabytes=megabytes, seconds=seconds,
        moments=" ".join(MOMENTS), patience=seconds + 120,
    )  # fmt: skip
    done = run_in_guest(
        tools, program, script, out, machine=machine, timeout_seconds=2 * seconds + 240, on_walk=look,
    )  # fmt: skip
    if done.status != 0:
        raise _failed(done)
    said = lines(done.text("program"))
    moments = {name: Moment(said[name], *seen[name]) for name in MOMENTS}
    return moments, [
        f"{name}: {line}"
        for name in MOMENTS
        for line in found[name]
        + disagreements(placement.of_dump(done.text(f"dump-{name}")), moments[name].rows)
    ]


def addresses(tree: Tree) -> dict[tuple[int, int], int]:
    """Physical address of each table, by its level and the first address that it translates."""
    return {
        (level, int(virtual)): int(physical)
        for level, tables in tree.levels.items()
        for virtual, physical in zip(tables.virtual, tables.physical, strict=True)
    }


def lines(text: str) -> dict[str, tuple[int, int, int, float]]:
    """The program's lines by moment, in their order."""
    words = [line.split() for line in text.splitlines()]
    if tuple(line[0] for line in words if line) != MOMENTS or any(len(line) != 5 for line in words):
        raise TesseraError(
            "output of the program balanced",
            f"it is {text.strip()[:200]!r}, not one line of five words for {', '.join(MOMENTS)}",
            "build the guest's programs of this checkout again: tessera kernel build",
            exit_code=EXIT_FAILED,
        )
    return {name: (int(node), int(pages), int(local), float(at)) for name, node, pages, local, at in words}


def table(moments: dict[str, Moment]) -> pd.DataFrame:
    """One row a moment, as docs/results.md declares them."""
    rows = []
    before = moments[MOMENTS[0]].tables
    for name, moment in moments.items():
        socket, pages, local, seconds = moment.said
        leaves, remote = leaf_entries(moment.rows, socket)
        rows.append(
            {
                "moment": name,
                "socket": socket,
                "data_pages": pages,
                "local_data_pages": local,
                "home_tables": len(moment.tables),
                "moved_home_tables": len(moved(before, moment.tables)),
                "leaf_entries": leaves,
                "remote_leaf_entries": remote,
                "remote_leaf_share": remote / leaves,
                "seconds": seconds,
                "provenance": "measured",
            }
        )
    return frame_of(BALANCING, rows)


def moved(before: dict[tuple[int, int], int], now: dict[tuple[int, int], int]) -> list[tuple[int, int]]:
    """Ranges whose table is another physical page than before; new and freed tables don't count."""
    return [key for key, physical in now.items() if before.get(key, physical) != physical]


def leaf_entries(rows: pd.DataFrame, socket: int) -> tuple[int, int]:
    """Present leaf entries that a processor of the socket walks, and those in tables on other sockets."""
    seen = placement.leaves_of(rows, socket)
    return int(seen.pointers.sum()), int(seen[seen.socket != socket].pointers.sum())


def _failed(done: GuestRun) -> TesseraError:
    return TesseraError(
        "page tables of a process that moves to another socket",
        f"the script in the guest exited with status {done.status}: {done.text('stderr').strip()[-500:]}",
        f"read the files of {done.folder}; if the data had not moved in time, give more --seconds",
        exit_code=EXIT_FAILED,
    )
