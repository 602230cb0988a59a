"""Runs in the guest: mixed events, counts and indices of one instant, khugepaged's decisions, processes.

The machine has one processor, 1 GB of memory, and half of it above 4 GB, so that it has the zones DMA,
DMA32 and Normal.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.lab.kernel import image
from tessera.lab.kernel.guest import GuestProgram, GuestRun, Look, OnWalk, run_in_guest
from tessera.lab.kernel.qemu import EmulatedMachine
from tessera.lab.oracle.guest_memory import KernelMemory, Vmlinux
from tessera.lab.oracle.imitation import text_of_lines
from tessera.lab.oracle.process_faults import ProcessMap, mapped
from tessera.lab.oracle.snapshot import Reader
from tessera.machine.container.toolchain import Toolchain

MACHINE = EmulatedMachine(nodes=1, cpus=1, memory_mb=1024, low_mb=512)
MODULE = "tessera_oracle"
SECONDS = 1500


@dataclass(frozen=True)
class Oracle:
    """The kernel of variant ``oracle``, with what reads and drives it."""

    tools: Toolchain
    folder: Path
    program: GuestProgram
    vmlinux: Vmlinux

    def reader(self, look: Look) -> Reader:
        """A reader of the guest's memory at this moment."""
        return Reader(self.vmlinux, KernelMemory(look.memory, look.processors[0]))

    def file(self, name: str) -> bytes:
        """A built file: the module, or a program of the guest."""
        return (self.folder / name).read_bytes()

    def run(
        self,
        script: str,
        files: dict[str, bytes],
        out: Path,
        on_walk: OnWalk | None = None,
        append: str = "",
    ) -> GuestRun:
        """Run a script with these files in a new guest; ``append``: more arguments for its kernel.

        Raises:
            TesseraError: the script failed, or the guest's kernel reported something.
        """
        done = run_in_guest(
            self.tools, self.program, script, out,
            machine=MACHINE, timeout_seconds=SECONDS, files=files, on_walk=on_walk, append=append,
        )  # fmt: skip
        if done.status or done.warnings:
            raise TesseraError(
                "a run of the oracle",
                f"status {done.status}; kernel: {done.warnings[:3]}; {done.text('stderr')[-300:]}",
                f"read the files in {done.folder}",
                exit_code=EXIT_FAILED,
            )
        return done


def ready_oracle(say: Callable[[str], None], *, accept_series: bool = False) -> Oracle:
    """The oracle, built if need be."""
    program = image.guest_program("oracle", say, accept_series=accept_series)
    folder = program.kernel.parent
    return Oracle(image.kernel_tools(say), folder, program, Vmlinux(folder / "layouts.json"))


#: Called with the number of events done, the state, and the guest's frames so far (-1: none).
OnState = Callable[[int, str, np.ndarray], None]


def run_events(oracle: Oracle, events: np.ndarray, block: int, out: Path, on_state: OnState) -> GuestRun:
    """Run events in the guest; ``on_state`` is called before each block of events and at the end."""
    reader: Reader | None = None

    def look(look: Look) -> bool:
        nonlocal reader
        index = int(look.name.removeprefix("block-"))
        # The page tables of the kernel's half and the reserved frames stay: one reader for the whole run.
        reader = reader or oracle.reader(look)
        done = min(index * block, len(events))
        raw = reader.memory.read(look.roots["results"], 4 * done) if done else np.zeros(0, dtype=np.uint8)
        on_state(done, reader.text(), raw.view(np.uint32).astype(np.int64) - 1)
        return False

    script = f"insmod /run/{MODULE}.ko events=/run/events block={block}\n"
    files = {f"/run/{MODULE}.ko": oracle.file(f"{MODULE}.ko"), "/run/events": events.astype("<u4").tobytes()}
    return oracle.run(script, files, out, look)


COUNTS = """\
# look NAME: the kernel's own counts before and after the host reads its memory. The shell starts no program.
look() {{
    for when in before after; do
        for file in /proc/buddyinfo /proc/zoneinfo /proc/pagetypeinfo {indices}; do
            while read -r line; do echo "$when ${{file##*/}} $line"; done < $file
        done
        [ $when = before ] || continue
        echo "@walk $1" >&9
        read -r answer <&9
    done > /out/$1
}}
chmod +x /run/fragment
echo 2048 > /proc/sys/vm/min_free_kbytes
look fresh
for moment in {moments}; do
    /run/fragment $(echo $moment | tr - ' ') > /tmp/ready &
    while [ ! -s /tmp/ready ]; do sleep 1; done
    look fragmented-$moment
    kill $!
    wait
    : > /tmp/ready
done
"""
INDICES = "/sys/kernel/debug/extfrag/extfrag_index /sys/kernel/debug/extfrag/unusable_index"
#: Free memory that is not touched (kB), longest run of pages given back, per cent of the runs that stay.
FRAGMENTED = ("400000-64-0", "60000-8-20", "16000-4-0", "9000-2-50", "9000-40-90")


def run_counts(oracle: Oracle, out: Path) -> dict[str, tuple[str, str]]:
    """Moment -> (state that the host read, the kernel's own counts before and after)."""
    states: dict[str, str] = {}

    def look(look: Look) -> bool:
        states[look.name] = oracle.reader(look).text()
        return False

    script = COUNTS.format(indices=INDICES, moments=" ".join(FRAGMENTED))
    done = oracle.run(script, {"/run/fragment": oracle.file("fragment")}, out, look)
    return {name: (state, done.text(name)) for name, state in states.items()}


COLLAPSE = """\
chmod +x /run/collapse_cells
knobs=/sys/kernel/mm/transparent_hugepage
trace=/sys/kernel/debug/tracing
echo madvise > $knobs/enabled
echo 100000000 > $knobs/khugepaged/scan_sleep_millisecs
echo 1000000 > $knobs/khugepaged/pages_to_scan
mkswap /dev/ram0 > /dev/null
swapon /dev/ram0
echo 0 > /proc/sys/vm/page-cluster
echo 1 > $trace/events/huge_memory/mm_khugepaged_scan_pmd/enable
for limits in {limits}; do
    echo ${{limits%:*}} > $knobs/khugepaged/max_ptes_none
    echo ${{limits#*:}} > $knobs/khugepaged/max_ptes_swap
    first=0
    while [ $first -lt {cells} ]; do
        /run/collapse_cells /run/cells $first {batch} > /tmp/cells || exit 1
        sed "s/^/cell $limits /" /tmp/cells
        grep mm_khugepaged_scan_pmd $trace/trace | sed "s/^/trace $limits $first /"
        first=$((first + {batch}))
    done
done
"""


def run_collapse(oracle: Oracle, cells: list[str], limits: list[str], batch: int, out: Path) -> str:
    """khugepaged's decisions on cells, as ``artifacts/kernel/oracle/guest/collapse_cells.c`` reads them.

    Args:
        limits: ``max_ptes_none:max_ptes_swap`` of each pass over all cells.
        batch: cells of one process, 2MB each.
    """
    script = COLLAPSE.format(limits=" ".join(limits), cells=len(cells), batch=batch)
    files = {"/run/collapse_cells": oracle.file("collapse_cells")}
    files["/run/cells"] = text_of_lines(cells).encode()
    return oracle.run(script, files, out).text("stdout")


FAULTS = """\
chmod +x /run/faults
echo 100000000 > /sys/kernel/mm/transparent_hugepage/khugepaged/scan_sleep_millisecs
echo 3600 > /proc/sys/vm/stat_interval
sleep 2
"""
FAULTS_RUN = "/run/faults /run/events\n"


def run_faults(oracle: Oracle, lines: list[str], out: Path) -> tuple[str, dict[str, ProcessMap], int]:
    """Events of a process: the state at its look ``start``, what it maps at later looks, its root's frame."""
    state = ""
    found: dict[str, ProcessMap] = {}
    root = 0

    def look(look: Look) -> bool:
        nonlocal state, root
        if look.name == "start":
            state = oracle.reader(look).text()
        elif look.name != "ready":
            root = look.processors[0]
            found[look.name] = mapped(look.memory, root)
        return False

    files = {"/run/faults": oracle.file("faults"), "/run/events": text_of_lines(lines).encode()}
    oracle.run(FAULTS + FAULTS_RUN, files, out, look)
    return state, found, root // 4096


SWAPS = """\
chmod +x /run/swaps
mkswap /dev/ram0 > /dev/null
swapon /dev/ram0
/run/swaps /run/events
"""


def run_swaps(oracle: Oracle, lines: list[str], out: Path) -> str:
    """Memory that goes to a swap area on a RAM disk and comes back; what the guest's program printed."""
    more = {"/run/swaps": oracle.file("swaps"), "/run/events": text_of_lines(lines).encode()}
    return oracle.run(SWAPS, more, out).text("stdout")


FILES = """\
chmod +x /run/files
mkdir /tmp/disks
ln -s /dev/ram0 /tmp/disks/1
ln -s /dev/ram1 /tmp/disks/2
/run/files /run/events /tmp/disks
"""


def run_files(oracle: Oracle, lines: list[str], out: Path) -> str:
    """Reads and faults of two RAM disks; what the guest's program printed."""
    more = {
        "/run/files": oracle.file("files"),
        "/run/events": text_of_lines(lines).encode(),
    }
    return oracle.run(FILES, more, out).text("stdout")


def run_copies(oracle: Oracle, lines: list[str], out: Path) -> str:
    """A process and its children; a letter for each access."""
    more = {"/run/copies": oracle.file("copies")}
    more["/run/events"] = text_of_lines(lines).encode()
    done = oracle.run("chmod +x /run/copies\n/run/copies /run/events\n", more, out)
    return done.text("stdout").strip()
