"""Where a measurement happens: the machine's files and the launcher. Tests replace both.

``TESSERA_LAUNCHER`` names another launcher, ``TESSERA_MACHINE_ROOT`` a folder with ``proc`` and ``sys`` of
another machine. Either makes the measurement a rehearsal: its bundle says so, and decides no claim.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tessera.counters import sysfs
from tessera.counters.classes import CounterClass
from tessera.machine.container.toolchain import HostToolchain, Toolchain
from tessera.measure.identity import launcher
from tessera.record.workloads.execute import image_of
from tessera.record.workloads.run import Run

_NODES = "sys/devices/system/node"
LAUNCHER, MACHINE_ROOT = "TESSERA_LAUNCHER", "TESSERA_MACHINE_ROOT"


@dataclass(frozen=True)
class Here:
    """``root`` holds ``proc`` and ``sys``; ``launcher`` takes the command line of ``mosalloc-run``."""

    root: Path
    launcher: Path
    rehearsal: bool

    def toolchain(self, run: Run) -> Toolchain:
        """Where the program runs; rehearsals start nothing but the launcher, on this machine."""
        return HostToolchain() if self.rehearsal else image_of(run)

    @property
    def node(self) -> int | None:
        """The NUMA node of all runs, whose huge pages are reserved; None if there is one node only."""
        return 0 if len(list((self.root / _NODES).glob("node[0-9]*"))) > 1 else None

    def binding(self, found: CounterClass) -> Sequence[str]:
        """Words before the launcher: one processor of the class's type, on :attr:`node`.

        A program of one thread that is bound to one processor cannot migrate, and the kernel takes its memory
        from the processor's node first. The last processor is taken: the kernel does more of its own work on
        the first.
        """
        if self.rehearsal:
            return ()
        pmu = sysfs.pmu_type(found.pmus, self.root)
        own = sysfs.listed(sysfs.cpus(pmu[0], self.root)) if pmu else set()
        node = self._processors(self.node or 0)
        allowed = os.sched_getaffinity(0)
        chosen = (own & node & allowed) or (node & allowed) or allowed
        return ("taskset", "--cpu-list", str(max(chosen)))

    def _processors(self, number: int) -> set[int]:
        path = self.root / _NODES / f"node{number}" / "cpulist"
        return sysfs.listed(path.read_text()) if path.exists() else set(os.sched_getaffinity(0))


def bound(binding: Sequence[str]) -> bool:
    """Whether these words bind a program to one processor."""
    return "taskset" in binding


def machine_root() -> Path:
    """Where ``proc`` and ``sys`` are."""
    return Path(os.environ.get(MACHINE_ROOT) or "/")


def here() -> Here:
    """The machine and the launcher of this process."""
    named, root = os.environ.get(LAUNCHER, ""), machine_root()
    path = Path(shutil.which(named) or named) if named else launcher()
    return Here(root, path.absolute(), bool(named) or root != Path("/"))


def real() -> Here:
    """This machine and its launcher, never a rehearsal: for results that have no mark of one."""
    return Here(Path("/"), launcher().absolute(), rehearsal=False)
