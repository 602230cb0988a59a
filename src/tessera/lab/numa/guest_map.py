"""Run a workload under libmosalloc in the guest of our kernel, and map its pages and page tables."""

from __future__ import annotations

import shlex
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.files import built
from tessera.core.layouts.layout import ALL_4KB, Layout, layout_text
from tessera.core.mapping.page_mapping import POOLS
from tessera.core.units import MB
from tessera.lab.kernel import image
from tessera.lab.kernel.guest import GuestProgram, Look, run_in_guest, script_failed
from tessera.lab.kernel.page_tables import (
    FRAME,
    HOME,
    LARGE,
    PLACEMENT_COLUMNS,
    PRESENT,
    GuestMemory,
    Tree,
    placement_of_dump,
    placement_of_tree,
    tree_differences,
    walk,
)
from tessera.lab.kernel.placement_experiments import placement_disagreements
from tessera.lab.kernel.qemu import EmulatedMachine
from tessera.lab.numa.map_rules import INTERLEAVE, LOCAL_NODE, guest_rule, map_rule, node_of
from tessera.lab.numa.placement_map import DATA, LEAVES, LEVELS, PAGE_BYTES, TABLE, PlacementMap, unit_pages
from tessera.machine.container import RunOptions
from tessera.machine.container.toolchain import Toolchain, toolchain
from tessera.measure.mosalloc.pools import PoolPlace, read_pool_map
from tessera.record import workloads
from tessera.record.workloads.definition import Size
from tessera.record.workloads.program_run import TOOLCHAIN, Finished, ProgramRun

# The map from page tables in the memory of a guest (:mod:`tessera.lab.kernel.page_tables`).
#
# Leaf entries that share one frame show the kernel's page of zeros: memory that was only read has no page of
# its own, and so no row.


@dataclass(frozen=True, eq=False)
class SeenInGuest:
    """Pages and tables of one tree: level -> virtual address and node (of pages also frame), as arrays."""

    tables: dict[int, tuple[np.ndarray, np.ndarray]]
    pages: dict[int, tuple[np.ndarray, np.ndarray, np.ndarray]]


def seen_in_guest(tree: Tree, memory: GuestMemory) -> SeenInGuest:
    """What the tree shows; afterwards the memory may go."""
    tables, pages = {}, {}
    for level, found in tree.levels.items():
        tables[level] = found.virtual, memory.node(found.physical)
        leaf = found.entries & PRESENT != 0
        if level != LEAVES:
            leaf &= found.entries & LARGE != 0
        table, index = np.nonzero(leaf)
        size = np.uint64(unit_pages(DATA, level) * PAGE_BYTES)
        frames = found.entries[table, index] & FRAME & ~(size - np.uint64(1))
        pages[level] = found.virtual[table] + index.astype(np.uint64) * size, memory.node(frames), frames
    return SeenInGuest(tables, pages)


def map_of_seen(what: SeenInGuest, pools: list[PoolPlace]) -> tuple[PlacementMap, int]:
    """The part of a tree that lies in the pools, and the number of pages that were only read.

    Tables at the borders of a pool are cut to it.
    """
    rows, zeros = [], 0
    for place in pools:
        pool, end = POOLS.index(place.pool), place.size_bytes // PAGE_BYTES
        for level in LEVELS:
            virtual, nodes, frames = what.pages[level]
            inside = (virtual >= place.base) & (virtual < place.base + place.size_bytes)
            _, which, times = np.unique(frames, return_inverse=True, return_counts=True)
            zero = inside & (times[which] > 1) if len(frames) else inside
            zeros += int(zero.sum())
            rows += _seen_rows(
                DATA, level, pool, virtual[inside & ~zero], nodes[inside & ~zero], place.base, end
            )
            virtual, nodes = what.tables[level]
            span = unit_pages(TABLE, level) * PAGE_BYTES
            inside = (virtual.astype(np.int64) + span > place.base) & (
                virtual.astype(np.int64) < place.base + place.size_bytes
            )
            rows += _seen_rows(TABLE, level, pool, virtual[inside], nodes[inside], place.base, end)
    return PlacementMap.of(rows), zeros


def _seen_rows(
    kind: int, level: int, pool: int, virtual: np.ndarray, nodes: np.ndarray, base: int, pool_end: int
) -> list[tuple]:
    """Tuples of :meth:`PlacementMap.of`, cut to the pool."""
    first = (virtual.astype(np.int64) - base) // PAGE_BYTES
    starts = np.maximum(first, 0).tolist()
    ends = np.minimum(first + unit_pages(kind, level), pool_end).tolist()
    return [
        (kind, level, pool, start, end, node)
        for start, end, node in zip(starts, ends, nodes.tolist(), strict=True)
    ]


# The run.
#
# The program, its libraries and libmosalloc come from the toolchain, as in a recording, so its allocations
# have the offsets of the trace. It runs on node 0 until the end of its region of interest. Its page tables
# are then read twice: by the kernel's own dump, and by a walk through the guest's memory, which also gives
# the map. Another map shows the moment when a trace of the whole program begins.
#
# With ``+M``, the stopped program asks for replicas on its own node (tool ``call-inside``), as the kernel's
# documentation describes migration. The map then has the tables that this node walks. Afterwards the program
# goes on to its end, and must say that its result is right.
#
# With ``T``, huge pages are allowed from the begin on: libmosalloc has advised against them, and the program
# takes this back (tool ``pools-huge``). khugepaged sleeps, so only page faults give 2MB pages.

FIRST_TOUCH = "first-touch"
GUEST_MACHINE = EmulatedMachine(nodes=2, cpus=2, memory_mb=1024)
FILE_POOL_BYTES = 64 * MB
GUEST_FOLDER = "/program"  #: of the guest
_LAYOUT, _POOLS = f"{GUEST_FOLDER}/layout.csv", "/tmp/pools"
_COPY = 'mkdir -p "$2" && cp -L $(ldd "$1" | grep -o "/[^ ]*") "$1" "$2"'
_SMALL = "echo never > /sys/kernel/mm/transparent_hugepage/enabled || exit"
#: khugepaged looks once at the start, when it finds nothing, and then sleeps
_HUGE = """cd /sys/kernel/mm/transparent_hugepage || exit
echo 3600000 > khugepaged/scan_sleep_millisecs && echo 0 > use_zero_page && echo {defrag} > defrag || exit
echo always > enabled && cd / || exit"""
_GUEST_SCRIPT = """{pages}
{tables}
{before}
export LD_LIBRARY_PATH={folder} MOSALLOC_LAYOUT={layout} MOSALLOC_POOL_MAP={pools}
export MOSALLOC_TARGET={folder}/{program} LD_PRELOAD={folder}/libmosalloc.so
at_begin='host walk begin $(pagetable-roots $PID){advice}'
bind -c 0 {memory} stop-at-end -e "$at_begin" /out/pid {command} > /out/program || exit
unset LD_PRELOAD
program=$(cat /out/pid)
stand-still $program || exit
head -c 4096 {pools} > /out/pools
cat /proc/$program/smaps_rollup > /out/smaps && cat /proc/buddyinfo > /out/buddyinfo || exit
pagetable-dump $program > /out/dump || exit
host walk end $(pagetable-roots $program) || exit
{end}
"""
_KILL = "kill -KILL $program"
#: 157: prctl; the first argument is PR_SET_PGTABLE_REPLICAS, the second points to the mask of nodes
_MOVE = """echo 1 > /proc/sys/vm/pgtable_replication || exit
call-inside $program 157 0x50475201 @{mask} 64 0 0 || exit
stand-still $program || exit
pagetable-dump $program > /out/dump-moved || exit
host walk moved $(pagetable-roots $program) || exit
kill -CONT $program
while grep -q '^State:.[^Z]' /proc/$program/status 2> /dev/null; do sleep 0.2; done"""


@dataclass(frozen=True)
class CapturedMap:
    """What a guest showed.

    Attributes:
        begin: map before the first instruction of the program; libraries have touched memory by then.
        map: map at the end of the region of interest.
        zero_pages: pages of ``map`` that were only read; they have no row.
        differences: of the two readings of the page tables; with ``+M`` also of the program's two trees.
        places: the pools.
    """

    begin: PlacementMap
    map: PlacementMap
    zero_pages: int
    differences: list[str]
    places: list[PoolPlace]


def guest_script(run: ProgramRun, name: str, *, defrag: str = "never", before: str = "") -> str:
    """The guest's script.

    Args:
        defrag: how page faults look for 2MB pages, a word of ``transparent_hugepage/defrag``: ``never`` takes
            free blocks only, ``always`` also compacts memory.
        before: commands that run before the program.

    Raises:
        TesseraError: a rule that a guest cannot show.
    """
    rule = guest_rule(name)
    memory, tables = "", ""
    if rule.policy == INTERLEAVE:
        memory = "interleave"  # a tool of its own, started by bind
    elif (where := rule.begins) is not None:
        memory = f"-m {node_of(where.data, where)}"
        tables = f"echo {node_of(where.tables, where)} > /proc/sys/vm/pgtable_node || exit\n"
        tables += "echo 2 > /proc/sys/vm/pgtable_replication || exit"
    words = [f"{GUEST_FOLDER}/{Path(run.argv[0]).name}", *run.argv[1:]]
    return _GUEST_SCRIPT.format(
        pages=_HUGE.format(defrag=defrag) if rule.huge else _SMALL, tables=tables, before=before,
        memory=memory, folder=GUEST_FOLDER, layout=_LAYOUT, pools=_POOLS, program=Path(run.argv[0]).name,
        advice=f" && pools-huge {_POOLS}" if rule.huge else "",
        command=" ".join(shlex.quote(word) for word in words),
        end=_MOVE.format(mask=1 << LOCAL_NODE) if rule.migrated else _KILL,
    )  # fmt: skip


def staged(run: ProgramRun, size: Size, where: Toolchain) -> dict[str, bytes]:
    """Files of the guest: the program, its libraries, libmosalloc, and a layout of 4KB pages.

    Raises:
        TesseraError: a program that reads files, or is not built in the toolchain.
    """
    if run.paths or size.datasets or run.image != TOOLCHAIN or run.companion or run.threads:
        raise TesseraError(
            f"'{' '.join(run.argv)}' in the guest",
            "it needs files, threads, a load or another image, which the guest lacks",
            "choose a program of artifacts/workloads with one thread and without a dataset, as mitosis-gups",
            code="numa-map-program",
        )
    files = {}
    with tempfile.TemporaryDirectory(prefix="tessera-guest-files-") as name:
        for program in (Path(run.argv[0]), built("mosalloc", "libmosalloc.so")):
            options = RunOptions(writes=(Path(name),))
            where.run(["sh", "-c", _COPY, "sh", program, name], options=options)
        files = {f"{GUEST_FOLDER}/{path.name}": path.read_bytes() for path in Path(name).iterdir()}
    linker = "ld-linux-x86-64.so.2"
    files[f"/lib64/{linker}"] = files[f"{GUEST_FOLDER}/{linker}"]
    pools = {"brk": size.heap_pool, "mmap": size.anon_pool, "file": FILE_POOL_BYTES}
    return files | {_LAYOUT: layout_text(Layout(ALL_4KB, pools)).encode()}


def capture_in_guest(
    tools: Toolchain,
    program: GuestProgram,
    run: ProgramRun,
    name: str,
    files: dict[str, bytes],
    out: Path,
    *,
    machine: EmulatedMachine = GUEST_MACHINE,
    timeout_seconds: float = 600,
    defrag: str = "never",
    before: str = "",
) -> CapturedMap:
    """Run the program in the guest; the guest's files go to ``out``.

    Args:
        name: of the rule.
        files: of :func:`staged`.
        defrag: with transparent huge pages, as of :func:`guest_script`.
        before: commands of the guest before the program.

    Raises:
        TesseraError: the guest or its script failed, the program has no memory in the pools, or, after its
            tables moved, its result is wrong.
    """
    rule = map_rule(name)
    views: dict[str, SeenInGuest] = {}
    observer = {"moved": str(LOCAL_NODE)}
    counts: dict[str, pd.DataFrame] = {}
    unlike: list[str] = []

    def look(at: Look) -> bool:
        tree = walk(at.memory, at.roots[who := observer.get(at.name, HOME)])
        views[at.name] = seen_in_guest(tree, at.memory)
        rows = [(who, *row) for row in placement_of_tree(tree, at.memory, machine.nodes)]
        counts[at.name] = pd.DataFrame(rows, columns=PLACEMENT_COLUMNS[2:])
        if who != HOME:
            unlike[:] = map(str, tree_differences(walk(at.memory, at.roots[HOME]), tree))
        return False

    done = run_in_guest(
        tools, program, guest_script(run, name, defrag=defrag, before=before), out, machine=machine,
        timeout_seconds=timeout_seconds, files=files, on_walk=look,
    )  # fmt: skip
    moments = {"begin", "end"} | ({"moved"} if rule.migrated else set())
    if done.status != 0 or set(views) != moments:
        raise script_failed(f"the map of {' '.join(run.argv)}", done)
    places = read_pool_map(out / "pools", int(done.text("pid")))
    if not any(place.used_bytes for place in places):
        raise TesseraError(
            f"the map of {' '.join(run.argv)}",
            "the program has no memory in libmosalloc's pools",
            f"read {out / 'stderr'}",
            exit_code=EXIT_FAILED,
            code="numa-map-pools",
        )
    if rule.migrated:  # the program went on with the moved tables
        run.verify(Finished(0, done.text("program"), "", out))
    last = "moved" if rule.migrated else "end"
    begin, _ = map_of_seen(views["begin"], places)
    found, zeros = map_of_seen(views[last], places)
    inside = placement_of_dump(done.text("dump-moved" if rule.migrated else "dump"))
    inside = inside[inside["observer"] == observer.get(last, HOME)]
    return CapturedMap(begin, found, zeros, unlike + placement_disagreements(inside, counts[last]), places)


# A workload that is ready to run in the guest: its files, the kernel and the tools, for several runs.


@dataclass(frozen=True)
class Guest:
    """What a run in the guest needs.

    Attributes:
        workload, label: its name and size.
        run, size: how the workload starts, and what it needs.
        files: of the guest, with the program and its libraries.
        tools, program: the emulator, and the kernel with its first file system.
        timeout_seconds: of one run.
    """

    workload: str
    label: str
    run: ProgramRun
    size: Size
    files: dict[str, bytes]
    tools: Toolchain
    program: GuestProgram
    timeout_seconds: float = 900

    def map(self, rule: str, out: Path, **options) -> CapturedMap:
        """The map under a rule; ``options`` are those of :func:`capture_in_guest`."""
        return capture_in_guest(
            self.tools, self.program, self.run, rule, self.files, out,
            timeout_seconds=self.timeout_seconds, **options,
        )  # fmt: skip


def ready_guest(
    workload: str,
    label: str,
    inputs: Path,
    say: Callable[[str], None],
    *,
    accept_series: bool = False,
    timeout_seconds: float = 900,
) -> Guest:
    """Build the kernel if need be; ``inputs`` is a folder for files that the workload reads.

    Raises:
        TesseraError: an unknown workload, one that the guest cannot run, or a component that is not built.
    """
    one = workloads.load_workload(workload)
    run, size = workloads.prepare(one, label, inputs), one.size(label)
    files = staged(run, size, toolchain())
    program = image.guest_program("checked", say, accept_series=accept_series)
    return Guest(workload, label, run, size, files, image.kernel_tools(say), program, timeout_seconds)
