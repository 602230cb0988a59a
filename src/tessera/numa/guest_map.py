"""Run a workload under libmosalloc in the guest of our kernel, and map its pages and page tables.

The program, its libraries and libmosalloc come from the toolchain, as in a recording, so its allocations have
the offsets of the trace. It runs on node 0 until the end of its region of interest. Its page tables are then
read twice: by the kernel's own dump, and by a walk through the guest's memory, which also gives the map.
Another map shows the moment when a trace of the whole program begins.
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
from tessera.kernel.walker import walk
from tessera.layouts.model import Layout, layout_text
from tessera.layouts.names import ALL_4KB
from tessera.machine.container.toolchain import Toolchain
from tessera.mosalloc.pool_map import read_pool_map
from tessera.numa.expected import INTERLEAVE, node_of, placed
from tessera.numa.guest_view import Seen, map_of, seen
from tessera.numa.maps import PlacementMap
from tessera.record.workloads.model import Size
from tessera.record.workloads.run import TOOLCHAIN, Run

FIRST_TOUCH = "first-touch"
POLICIES = (FIRST_TOUCH, INTERLEAVE)  #: that one thread can show; `auto` moves data only while threads run
MACHINE = Machine(nodes=2, cpus=2, memory_mb=1024)
FILE_POOL_BYTES = 64 * MB
PATIENCE = "no_timer_check"  #: on a busy host the timer can look broken at the boot
FOLDER = "/program"  #: of the guest
_LAYOUT, _POOLS = f"{FOLDER}/layout.csv", "/tmp/pools"
_COPY = 'mkdir -p "$2" && cp -L $(ldd "$1" | grep -o "/[^ ]*") "$1" "$2"'
_SCRIPT = """echo never > /sys/kernel/mm/transparent_hugepage/enabled || exit
{tables}
export LD_LIBRARY_PATH={folder} MOSALLOC_LAYOUT={layout} MOSALLOC_POOL_MAP={pools}
export MOSALLOC_TARGET={folder}/{program} LD_PRELOAD={folder}/libmosalloc.so
at_begin='host walk begin $(pagetable-roots $PID)'
bind -c 0 {memory} stop-at-end -e "$at_begin" /out/pid {command} > /out/program || exit
unset LD_PRELOAD
program=$(cat /out/pid)
stand-still $program || exit
head -c 4096 {pools} > /out/pools
pagetable-dump $program > /out/dump || exit
host walk end $(pagetable-roots $program) || exit
kill -KILL $program
"""


@dataclass(frozen=True)
class Mapped:
    """What a guest showed.

    Attributes:
        begin: map before the first instruction of the program; libraries have touched memory by then.
        map: map at the end of the region of interest.
        zero_pages: pages of ``map`` that were only read; they have no row.
        differences: of the two readings of the page tables.
    """

    begin: PlacementMap
    map: PlacementMap
    zero_pages: int
    differences: list[str]


def script(run: Run, rule: str) -> str:
    """The guest's script.

    Raises:
        TesseraError: a rule that a guest cannot show.
    """
    if rule == "auto":
        raise TesseraError(
            "policy 'auto' in a guest",
            "the program stops at its end, and automatic migration acts on threads that go on",
            f"give one of {', '.join(POLICIES)}, or a configuration of Table 2",
            code="numa-map-rule",
        )
    memory, tables = "", ""
    if rule == INTERLEAVE:
        memory = "interleave"  # a tool of its own, started by bind
    elif (where := placed(rule)) is not None:
        memory = f"-m {node_of(where.data, where)}"
        tables = f"echo {node_of(where.tables, where)} > /proc/sys/vm/pgtable_node || exit\n"
        tables += "echo 2 > /proc/sys/vm/pgtable_replication || exit"
    words = [f"{FOLDER}/{Path(run.argv[0]).name}", *run.argv[1:]]
    return _SCRIPT.format(
        tables=tables, memory=memory, folder=FOLDER, layout=_LAYOUT, pools=_POOLS,
        program=Path(run.argv[0]).name, command=" ".join(shlex.quote(word) for word in words),
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
    rule: str,
    files: dict[str, bytes],
    out: Path,
    *,
    machine: Machine = MACHINE,
    timeout_seconds: float = 600,
) -> Mapped:
    """Run the program in the guest; the guest's files go to ``out``.

    Args:
        files: of :func:`staged`.

    Raises:
        TesseraError: the guest or its script failed, or the program has no memory in the pools.
    """
    views: dict[str, Seen] = {}
    counts: list[tuple] = []

    def look(at: Look) -> bool:
        tree = walk(at.memory, at.roots[HOME])
        views[at.name] = seen(tree, at.memory)
        counts[:] = of_tree(tree, at.memory, machine.nodes)
        return False

    done = run_in_guest(
        tools, program, script(run, rule), out, machine=machine, timeout_seconds=timeout_seconds,
        files=files, append=PATIENCE, on_walk=look,
    )  # fmt: skip
    if done.status != 0 or set(views) != {"begin", "end"}:
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
    begin, _ = map_of(views["begin"], places)
    found, zeros = map_of(views["end"], places)
    names = COLUMNS[2:]
    inside = of_dump(done.text("dump"))
    outside = pd.DataFrame([(HOME, *row) for row in counts], columns=names)
    return Mapped(begin, found, zeros, disagreements(inside[inside["observer"] == HOME], outside))
