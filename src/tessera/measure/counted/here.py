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

from tessera.core.errors import TesseraError
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
        """Words before the launcher that bind a run to :meth:`processor`; none in a rehearsal.

        Raises:
            TesseraError: as :meth:`processor`.
        """
        number = self.processor(found)
        return () if number is None else _taskset({number})

    def processor(self, found: CounterClass) -> int | None:
        """One processor of the class's type, on :attr:`node`; None in a rehearsal.

        A program of one thread that is bound to one processor cannot migrate, and the kernel takes its memory
        from the processor's node first. The last processor is taken: the kernel does more of its own work on
        the first.

        Raises:
            TesseraError: this process may use no such processor (``binding``).
        """
        return None if self.rehearsal else max(self._usable(self._of_type(found), found, self.node))

    def type_binding(self, found: CounterClass) -> Sequence[str]:
        """Words that keep a program of any number of threads on the cores of the class's type.

        There are none in a rehearsal, and where all cores are of one type.

        Raises:
            TesseraError: this process may use none of these cores (``binding``).
        """
        own = self._of_type(found)
        return _taskset(self._usable(own, found, None)) if own and not self.rehearsal else ()

    def _usable(self, own: set[int], found: CounterClass, node: int | None) -> set[int]:
        """Processors that this process may use: of ``own`` if it has any, and of ``node`` if it is one."""
        allowed = os.sched_getaffinity(0)
        usable = (own or allowed) & allowed & (allowed if node is None else self._of_node(node))
        if usable:
            return usable
        what = f" of type {found.name}" if own else ""
        what += "" if node is None else f" on NUMA node {node}"
        raise TesseraError(
            f"a processor{what}",
            f"there is none among those that this process may use: {','.join(map(str, sorted(allowed)))}",
            "start the command on such a processor, or without taskset",
            code="binding",
        )

    def _of_type(self, found: CounterClass) -> set[int]:
        """Processors of the class's PMU; none where the kernel lists none: all cores are of one type."""
        pmu = sysfs.pmu_type(found.pmus, self.root)
        return sysfs.listed(sysfs.cpus(pmu[0], self.root)) if pmu else set()

    def _of_node(self, number: int) -> set[int]:
        path = self.root / _NODES / f"node{number}" / "cpulist"
        return sysfs.listed(path.read_text()) if path.exists() else set()


def _taskset(processors: set[int]) -> tuple[str, ...]:
    return ("taskset", "--cpu-list", ",".join(map(str, sorted(processors))))


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
