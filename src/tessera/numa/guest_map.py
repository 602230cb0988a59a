"""Run a workload under libmosalloc in the guest of our kernel, and map its pages and page tables.

The program, its libraries and libmosalloc come from the toolchain, as in a recording, so its allocations have
the offsets of the trace. It runs on node 0 until the end of its region of interest. Its page tables are then
read twice: by the kernel's own dump, and by a walk through the guest's memory, which also gives the map.
Another map shows the moment when a trace of the whole program begins.

With ``+M``, the stopped program asks for replicas on its own node (tool ``call-inside``), as the kernel's
documentation describes migration. The map then has the tables that this node walks. Afterwards the program
goes on to its end, and must say that its result is right.

With ``T``, huge pages are allowed from the begin on: libmosalloc has advised against them, and the program
takes this back (tool ``pools-huge``). khugepaged sleeps, so only page faults give 2MB pages.
"""

from __future__ import annotations

import shlex
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.paths import built
from tessera.core.units import MB
from tessera.kernel.experiments.figures import disagreements
from tessera.kernel.experiments.scripts import failed
from tessera.kernel.guest import GuestProgram, Look, run_in_guest
from tessera.kernel.machine import Machine
from tessera.kernel.placement import COLUMNS, HOME, of_dump, of_tree
from tessera.kernel.walker import differences as tree_differences
from tessera.kernel.walker import walk
from tessera.layouts.model import Layout, layout_text
from tessera.layouts.names import ALL_4KB
from tessera.machine.container.toolchain import Toolchain
from tessera.mosalloc.pool_map import PoolPlace, read_pool_map
from tessera.numa.expected import INTERLEAVE
from tessera.numa.guest_view import Seen, map_of, seen
from tessera.numa.map_rules import LOCAL_NODE, guest_rule, map_rule, node_of
from tessera.numa.maps import PlacementMap
from tessera.record.workloads.model import Size
from tessera.record.workloads.run import TOOLCHAIN, Finished, Run

FIRST_TOUCH = "first-touch"
MACHINE = Machine(nodes=2, cpus=2, memory_mb=1024)
FILE_POOL_BYTES = 64 * MB
FOLDER = "/program"  #: of the guest
_LAYOUT, _POOLS = f"{FOLDER}/layout.csv", "/tmp/pools"
_COPY = 'mkdir -p "$2" && cp -L $(ldd "$1" | grep -o "/[^ ]*") "$1" "$2"'
_SMALL = "echo never > /sys/kernel/mm/transparent_hugepage/enabled || exit"
#: khugepaged looks once at the start, when it finds nothing, and then sleeps
_HUGE = """cd /sys/kernel/mm/transparent_hugepage || exit
echo 3600000 > khugepaged/scan_sleep_millisecs && echo 0 > use_zero_page && echo {defrag} > defrag || exit
echo always > enabled && cd / || exit"""
_SCRIPT = """{pages}
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
class Mapped:
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


def script(run: Run, name: str, *, defrag: str = "never", before: str = "") -> str:
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
    words = [f"{FOLDER}/{Path(run.argv[0]).name}", *run.argv[1:]]
    return _SCRIPT.format(
        pages=_HUGE.format(defrag=defrag) if rule.huge else _SMALL, tables=tables, before=before,
        memory=memory, folder=FOLDER, layout=_LAYOUT, pools=_POOLS, program=Path(run.argv[0]).name,
        advice=f" && pools-huge {_POOLS}" if rule.huge else "",
        command=" ".join(shlex.quote(word) for word in words),
        end=_MOVE.format(mask=1 << LOCAL_NODE) if rule.migrated else _KILL,
    )  # fmt: skip


def staged(run: Run, size: Size, where: Toolchain) -> dict[str, bytes]:
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
            where.run(["sh", "-c", _COPY, "sh", program, name], [Path(name)])
        files = {f"{FOLDER}/{path.name}": path.read_bytes() for path in Path(name).iterdir()}
    linker = "ld-linux-x86-64.so.2"
    files[f"/lib64/{linker}"] = files[f"{FOLDER}/{linker}"]
    pools = {"brk": size.heap_pool, "mmap": size.anon_pool, "file": FILE_POOL_BYTES}
    return files | {_LAYOUT: layout_text(Layout(ALL_4KB, pools)).encode()}


def capture(
    tools: Toolchain,
    program: GuestProgram,
    run: Run,
    name: str,
    files: dict[str, bytes],
    out: Path,
    *,
    machine: Machine = MACHINE,
    timeout_seconds: float = 600,
    defrag: str = "never",
    before: str = "",
) -> Mapped:
    """Run the program in the guest; the guest's files go to ``out``.

    Args:
        name: of the rule.
        files: of :func:`staged`.
        defrag: with transparent huge pages, as of :func:`script`.
        before: commands of the guest before the program.

    Raises:
        TesseraError: the guest or its script failed, the program has no memory in the pools, or, after its
            tables moved, its result is wrong.
    """
    rule = map_rule(name)
    views: dict[str, Seen] = {}
    observer = {"moved": str(LOCAL_NODE)}
    counts: dict[str, pd.DataFrame] = {}
    unlike: list[str] = []

    def look(at: Look) -> bool:
        tree = walk(at.memory, at.roots[who := observer.get(at.name, HOME)])
        views[at.name] = seen(tree, at.memory)
        rows = [(who, *row) for row in of_tree(tree, at.memory, machine.nodes)]
        counts[at.name] = pd.DataFrame(rows, columns=COLUMNS[2:])
        if who != HOME:
            unlike[:] = map(str, tree_differences(walk(at.memory, at.roots[HOME]), tree))
        return False

    done = run_in_guest(
        tools, program, script(run, name, defrag=defrag, before=before), out, machine=machine,
        timeout_seconds=timeout_seconds, files=files, on_walk=look,
    )  # fmt: skip
    moments = {"begin", "end"} | ({"moved"} if rule.migrated else set())
    if done.status != 0 or set(views) != moments:
        raise failed(f"the map of {' '.join(run.argv)}", done)
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
    begin, _ = map_of(views["begin"], places)
    found, zeros = map_of(views[last], places)
    inside = of_dump(done.text("dump-moved" if rule.migrated else "dump"))
    inside = inside[inside["observer"] == observer.get(last, HOME)]
    return Mapped(begin, found, zeros, unlike + disagreements(inside, counts[last]), places)
