"""Where page tables lie: first touch and interleave (Mitosis, Figures 3 and 4), automatic NUMA balancing."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.results.kernel_tables import BALANCING, FIGURE4, PLACEMENT
from tessera.core.results.table_io import frame_of
from tessera.lab.kernel import image, page_tables
from tessera.lab.kernel.guest import GuestProgram, GuestRun, Look, run_in_guest
from tessera.lab.kernel.page_tables import Tree, tree_differences, walk
from tessera.lab.kernel.qemu import EmulatedMachine
from tessera.lab.study import Count, Run, printed, study
from tessera.machine.container.toolchain import Toolchain

# Figures 3 and 4: where page tables lie under first touch and interleave, without and with replicas.
#
# Each run is observed in two ways at the same moment: by the kernel's own dump, and by a walk through the
# guest's memory from outside. The two must agree on every number.

#: The program stands still while both look. Swap is off and nothing else runs: nobody else changes entries.
PLACEMENT_SCRIPT = """echo 1 > /proc/sys/vm/pgtable_replication || exit
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


def observe_placement(
    tools: Toolchain,
    program: GuestProgram,
    what: PlacementRun,
    out: Path,
    machine: EmulatedMachine,
    timeout_seconds: float,
) -> tuple[pd.DataFrame, list[str]]:
    """Placement table of a run, and where its two sources or its replicas disagree."""
    seen: dict[str, list[tuple]] = {}
    found: list[str] = []

    def look(at: Look) -> bool:
        trees = walked_trees(at)
        found[:] = unlike_replicas(trees)
        seen.update(
            {
                name: page_tables.placement_of_tree(tree, at.memory, machine.nodes)
                for name, tree in trees.items()
            }
        )
        return bool(found)

    script = PLACEMENT_SCRIPT.format(
        policy="interleave" if what.interleave else "",
        replicas="" if what.replicas == "none" else f"pgtblrepl -r {what.replicas}",
        command=" ".join(what.command),
        after=what.after_seconds,
    )
    done = run_in_guest(
        tools, program, script, out, machine=machine, timeout_seconds=timeout_seconds, on_walk=look
    )
    if done.status != 0:
        raise _placement_failed(what, done)
    outside = _placement_table(what, seen)
    inside = page_tables.placement_of_dump(done.text("dump"))
    inside = inside.assign(workload=what.workload, config=what.config)[page_tables.PLACEMENT_COLUMNS]
    return outside, found + placement_disagreements(inside, outside)


def figure4_runs(megabytes: int) -> list[PlacementRun]:
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


@study(PLACEMENT, FIGURE4, show=printed(3))
def placement(
    run: Run, megabytes: Count = 64, accept_series: bool = False
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Record the sockets of page tables under first touch and interleave, without and with replicas.

    These are Figures 3 and 4. The exit status is 1 if the kernel and its memory disagree.

    Example: ./run tessera lab run kernel-placement --out build/kernel/placement

    Args:
        megabytes: memory that the programs touch, in MB (2^20 bytes).
        accept_series: take another version of the kernel source's series if all patches apply.

    Raises:
        TesseraError: the kernel cannot be built, or the script in the guest failed.
    """
    program, tables = image.guest_program("checked", run.say, accept_series=accept_series), []
    for what in figure4_runs(megabytes):
        run.say(f"page tables of {what.workload}, {what.config}")
        folder = run.folder / f"{what.workload}-{what.config}"
        table, found = observe_placement(
            image.kernel_tools(run.say), program, what, folder, EmulatedMachine(), 600
        )
        tables.append(table)
        run.wrong.extend(f"{what.workload} {what.config}: {line}" for line in found)
    return pd.concat(tables), figure4(pd.concat(tables))


def figure4(table: pd.DataFrame) -> pd.DataFrame:
    """Share of remote leaf entries that each socket sees: ``workload,config,socket,remote_leaf_share``."""
    rows = []
    for (workload, config), seen in table.groupby(["workload", "config"], sort=False):
        shares = page_tables.remote_leaf_share(seen, sorted(set(seen.socket)))
        rows += [(workload, config, socket, share) for socket, share in shares.items()]
    return frame_of(FIGURE4, rows)


def walked_trees(at: Look) -> dict[str, Tree]:
    """The process's trees at this moment, by observer."""
    return {observer: walk(at.memory, root) for observer, root in at.roots.items()}


def unlike_replicas(trees: dict[str, Tree]) -> list[str]:
    """Where replicas do not translate as the home tables do."""
    return [
        f"tree {observer}: {difference}"
        for observer, tree in trees.items()
        if observer != page_tables.HOME
        for difference in tree_differences(trees[page_tables.HOME], tree)
    ]


def _placement_table(what: PlacementRun, seen: dict[str, list[tuple]]) -> pd.DataFrame:
    rows = [(what.workload, what.config, observer, *row) for observer, rows in seen.items() for row in rows]
    return pd.DataFrame(rows, columns=page_tables.PLACEMENT_COLUMNS)


def placement_disagreements(inside: pd.DataFrame, outside: pd.DataFrame) -> list[str]:
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


def _placement_failed(what: PlacementRun, done: GuestRun) -> TesseraError:
    return TesseraError(
        f"the page tables of {' '.join(what.command)}",
        f"the script in the guest exited with status {done.status}: {done.text('stderr').strip()[-300:]}",
        f"read the files of {done.folder}; the program must run for more than {what.after_seconds} s",
        exit_code=EXIT_FAILED,
    )


# Automatic NUMA balancing moves data, and leaves page tables where they are (Mitosis, 3.1, 4.3 and 5.5).
#
# A process fills memory on socket 0 and moves to socket 1. The kernel moves its data after it. Then the
# process asks for page tables on its new socket. It stands still at three moments (``balanced.c``), and its
# page tables are seen twice: by the kernel's own dump, and by a walk through the guest's memory from
# outside. Both must agree.
#
# A table has moved if another physical page translates its range of addresses. The walker sees this; the
# dump only counts tables. 4KB pages only. Not seen: how long a migration takes on a real machine.

MOMENTS = ("before", "balanced", "replicas")
#: Socket s has processor s. exec runs on the first one, too, so all tables of the program begin there.
FROM_SOCKET, TO_SOCKET = 0, 1
#: ``patience`` is longer than the program itself waits, so that its own error is the one that is seen.
BALANCING_SCRIPT = """echo 1 > /proc/sys/vm/pgtable_replication || exit
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
        rows: page tables by socket, as :func:`tessera.lab.kernel.page_tables.placement_of_dump` returns them.
        tables: physical address of each home table, by its level and the first address that it translates.
    """

    said: tuple[int, int, int, float]
    rows: pd.DataFrame
    tables: dict[tuple[int, int], int]


def observe_balancing(
    tools: Toolchain, program: GuestProgram, out: Path, machine: EmulatedMachine, megabytes: int, seconds: int
) -> tuple[dict[str, Moment], list[str]]:
    """What was seen at each moment, and where the two sources or the replicas disagree.

    Raises:
        TesseraError: the data had not moved after ``seconds``, or something else failed in the guest.
    """
    seen: dict[str, tuple[pd.DataFrame, dict]] = {}
    found: dict[str, list[str]] = {}

    def look(at: Look) -> bool:
        trees = walked_trees(at)
        found[at.name] = unlike_replicas(trees)
        rows = [
            (observer, *row)
            for observer, tree in trees.items()
            for row in page_tables.placement_of_tree(tree, at.memory, machine.nodes)
        ]
        frame = pd.DataFrame(rows, columns=page_tables.PLACEMENT_COLUMNS[2:])
        seen[at.name] = (frame, table_addresses(trees[page_tables.HOME]))
        return bool(found[at.name])

    script = BALANCING_SCRIPT.format(
        first=1 << FROM_SOCKET, source=FROM_SOCKET, target=TO_SOCKET, megabytes=megabytes, seconds=seconds,
        moments=" ".join(MOMENTS), patience=seconds + 120,
    )  # fmt: skip
    done = run_in_guest(
        tools, program, script, out, machine=machine, timeout_seconds=2 * seconds + 240, on_walk=look,
    )  # fmt: skip
    if done.status != 0:
        raise _balancing_failed(done)
    said = moment_lines(done.text("program"))
    moments = {name: Moment(said[name], *seen[name]) for name in MOMENTS}
    return moments, [
        f"{name}: {line}"
        for name in MOMENTS
        for line in found[name]
        + placement_disagreements(
            page_tables.placement_of_dump(done.text(f"dump-{name}")), moments[name].rows
        )
    ]


@study(BALANCING, show=printed(3))
def balancing(
    run: Run, megabytes: Count = 16, seconds: Count = 300, accept_series: bool = False
) -> pd.DataFrame:
    """Move a process to another socket; record its data and page tables before and after automatic NUMA
    balancing, and with page tables on the new socket (Mitosis, sections 3.1 and 5.5).

    The exit status is 1 if the kernel and its memory disagree.

    Example: ./run tessera lab run kernel-balancing --out build/kernel/balancing

    Args:
        megabytes: memory that the process fills, in MB (2^20 bytes).
        seconds: limit for the kernel to move the data.
        accept_series: take another version of the kernel source's series if all patches apply.

    Raises:
        TesseraError: the kernel cannot be built, or the data had not moved in time.
    """
    program = image.guest_program("checked", run.say, accept_series=accept_series)
    moments, wrong = observe_balancing(
        image.kernel_tools(run.say), program, run.folder / "guest", EmulatedMachine(), megabytes, seconds
    )
    run.wrong.extend(wrong)
    return balancing_table(moments)


def table_addresses(tree: Tree) -> dict[tuple[int, int], int]:
    """Physical address of each table, by its level and the first address that it translates."""
    return {
        (level, int(virtual)): int(physical)
        for level, tables in tree.levels.items()
        for virtual, physical in zip(tables.virtual, tables.physical, strict=True)
    }


def moment_lines(text: str) -> dict[str, tuple[int, int, int, float]]:
    """The program's lines by moment, in their order."""
    words = [line.split() for line in text.splitlines()]
    if tuple(line[0] for line in words if line) != MOMENTS or any(len(line) != 5 for line in words):
        raise TesseraError(
            "output of the program balanced",
            f"it is {text.strip()[:200]!r}, not one line of five words for {', '.join(MOMENTS)}",
            "build the guest's programs of this checkout again: tessera lab kernel build",
            exit_code=EXIT_FAILED,
        )
    return {name: (int(node), int(pages), int(local), float(at)) for name, node, pages, local, at in words}


def balancing_table(moments: dict[str, Moment]) -> pd.DataFrame:
    """One row a moment, as docs/reference/tables.md declares them."""
    rows = []
    before = moments[MOMENTS[0]].tables
    for name, moment in moments.items():
        socket, pages, local, seconds = moment.said
        leaves, remote = walked_leaf_entries(moment.rows, socket)
        rows.append(
            {
                "moment": name,
                "socket": socket,
                "data_pages": pages,
                "local_data_pages": local,
                "home_tables": len(moment.tables),
                "moved_home_tables": len(ranges_of_moved_tables(before, moment.tables)),
                "leaf_entries": leaves,
                "remote_leaf_entries": remote,
                "remote_leaf_share": remote / leaves,
                "seconds": seconds,
                "provenance": "measured",
            }
        )
    return frame_of(BALANCING, rows)


def ranges_of_moved_tables(
    before: dict[tuple[int, int], int], now: dict[tuple[int, int], int]
) -> list[tuple[int, int]]:
    """Ranges whose table is another physical page than before; new and freed tables don't count."""
    return [key for key, physical in now.items() if before.get(key, physical) != physical]


def walked_leaf_entries(rows: pd.DataFrame, socket: int) -> tuple[int, int]:
    """Present leaf entries that a processor of the socket walks, and those in tables on other sockets."""
    seen = page_tables.leaves_of(rows, socket)
    return int(seen.pointers.sum()), int(seen[seen.socket != socket].pointers.sum())


def _balancing_failed(done: GuestRun) -> TesseraError:
    return TesseraError(
        "page tables of a process that moves to another socket",
        f"the script in the guest exited with status {done.status}: {done.text('stderr').strip()[-500:]}",
        f"read the files of {done.folder}; if the data had not moved in time, give more seconds=",
        exit_code=EXIT_FAILED,
    )
