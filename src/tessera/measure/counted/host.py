"""Where a measurement happens: the machine's files, the launcher, and what a bundle says about the machine.

``machine.json`` has the CPUID leaves of TLBs and caches, but no name of a host or a user, no serial number.
Tests replace files and launcher.
"""

from __future__ import annotations

import csv
import ctypes
import mmap
import os
import re
import secrets
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tessera.core.errors import TesseraError
from tessera.core.files import write_text
from tessera.machine.container.toolchain import HostToolchain, Toolchain
from tessera.machine.counters import sysfs
from tessera.machine.counters.event import Cpu
from tessera.machine.counters.event_table import CounterClass
from tessera.measure.bundles.bundle import MeasuredMachine
from tessera.measure.launch import launcher
from tessera.record.workloads.execution import toolchain_of
from tessera.record.workloads.program_run import ProgramRun

# Where a measurement happens: the machine's files and the launcher. Tests replace both.
#
# ``TESSERA_LAUNCHER`` names another launcher, ``TESSERA_MACHINE_ROOT`` a folder with ``proc`` and ``sys`` of
# another machine. Either makes the measurement a rehearsal: its bundle says so, and decides no claim.

_NODES = "sys/devices/system/node"
LAUNCHER_VARIABLE, MACHINE_ROOT_VARIABLE = "TESSERA_LAUNCHER", "TESSERA_MACHINE_ROOT"


@dataclass(frozen=True)
class MeasurementSite:
    """``root`` holds ``proc`` and ``sys``; ``launcher`` takes the command line of ``mosalloc-run``."""

    root: Path
    launcher: Path
    rehearsal: bool

    def toolchain(self, run: ProgramRun) -> Toolchain:
        """Where the program runs; rehearsals start nothing but the launcher, on this machine."""
        return HostToolchain() if self.rehearsal else toolchain_of(run)

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
        return sysfs.listed_numbers(sysfs.pmu_cpus(pmu[0], self.root)) if pmu else set()

    def _of_node(self, number: int) -> set[int]:
        path = self.root / _NODES / f"node{number}" / "cpulist"
        return sysfs.listed_numbers(path.read_text()) if path.exists() else set()


def _taskset(processors: set[int]) -> tuple[str, ...]:
    return ("taskset", "--cpu-list", ",".join(map(str, sorted(processors))))


def bound(binding: Sequence[str]) -> bool:
    """Whether these words bind a program to one processor."""
    return "taskset" in binding


def machine_root() -> Path:
    """Where ``proc`` and ``sys`` are."""
    return Path(os.environ.get(MACHINE_ROOT_VARIABLE) or "/")


def this_host() -> MeasurementSite:
    """The machine and the launcher of this process."""
    named, root = os.environ.get(LAUNCHER_VARIABLE, ""), machine_root()
    path = Path(shutil.which(named) or named) if named else launcher()
    return MeasurementSite(root, path.absolute(), bool(named) or root != Path("/"))


def real_host() -> MeasurementSite:
    """This machine and its launcher, never a rehearsal: for results that have no mark of one."""
    return MeasurementSite(Path("/"), launcher().absolute(), rehearsal=False)


# CPUID leaves of TLBs and caches, read by this process.
#
# Source: Intel SDM volume 2, CPUID (leaves 2, 4, 18h); AMD APM volume 3 (80000005h, 80000006h, 80000019h,
# 8000001Dh). The kernel's file ``/dev/cpu/0/cpuid`` has the same, and needs root and a module.

#: void read(uint32_t leaf, uint32_t subleaf, uint32_t out[4]), System V calling convention.
_CODE = bytes.fromhex(
    "53"  # push rbx
    "4989d0"  # mov r8, rdx
    "89f8"  # mov eax, edi
    "89f1"  # mov ecx, esi
    "0fa2"  # cpuid
    "418900"  # mov [r8], eax
    "41895804"  # mov [r8+4], ebx
    "41894808"  # mov [r8+8], ecx
    "4189500c"  # mov [r8+12], edx
    "5bc3"  # pop rbx; ret
)
_MOST_SUBLEAVES = 64
Registers = tuple[int, int, int, int]
ReadLeaf = Callable[[int, int], Registers]


def cpuid_leaves(vendor: str, read: ReadLeaf | None = None) -> tuple[tuple[int, ...], ...]:
    """Rows (leaf, subleaf, eax, ebx, ecx, edx) of the leaves that the processor has."""
    read = read or _reader()
    rows = []
    if vendor == "GenuineIntel":
        highest = read(0, 0)[0]
        wanted = [(2, lambda at: 0), (4, _last_cache(read, 4)), (0x18, lambda at: read(0x18, 0)[0])]
    else:
        highest = read(0x8000_0000, 0)[0]
        flat = [(leaf, lambda at: 0) for leaf in (0x8000_0005, 0x8000_0006, 0x8000_0019)]
        wanted = [*flat, (0x8000_001D, _last_cache(read, 0x8000_001D))]
    for leaf, last in wanted:
        if leaf <= highest:
            rows += [(leaf, sub, *read(leaf, sub)) for sub in range(min(last(leaf), _MOST_SUBLEAVES) + 1)]
    return tuple(rows)


def _last_cache(read: ReadLeaf, leaf: int) -> Callable[[int], int]:
    """The subleaf that ends the list of caches: its type (bits 4:0 of eax) is 0."""

    def last(_: int) -> int:
        return next((n for n in range(_MOST_SUBLEAVES) if not read(leaf, n)[0] & 0x1F), _MOST_SUBLEAVES)

    return last


def _reader() -> ReadLeaf:
    page = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(_CODE)
    place = ctypes.addressof(ctypes.c_char.from_buffer(page))
    call = ctypes.CFUNCTYPE(None, ctypes.c_uint32, ctypes.c_uint32, ctypes.c_void_p)(place)

    def read(leaf: int, subleaf: int, keep=page) -> Registers:
        out = (ctypes.c_uint32 * 4)()
        call(leaf, subleaf, out)
        return tuple(out)

    return read


# ``machine.json``: what a bundle says about the machine. No name of a host or a user, no serial number.


def cpu(root: Path) -> Cpu | None:
    """The processor of /proc/cpuinfo; None if it does not say."""
    found = _processors(root)
    return Cpu.from_cpuinfo(found[0]) if found else None


_CPUINFO_FIELDS = ("vendor_id", "cpu family", "model", "stepping", "microcode")


def machine_facts(where: MeasurementSite, processor: int | None = None) -> MeasuredMachine:
    """Facts of the machine below ``where.root``.

    Args:
        processor: whose CPUID is read: caches and TLBs of two types of cores differ. None: any.

    Raises:
        TesseraError: /proc/cpuinfo lacks a key that a bundle must have.
    """
    processors = _processors(where.root)
    first = processors[0] if processors else {}
    if missing := [key for key in _CPUINFO_FIELDS if key not in first]:
        raise TesseraError(
            "the processor's identity",
            f"/proc/cpuinfo has no {missing[0]}",
            "measure on an x86-64 machine whose hypervisor, if any, does not hide it",
        )
    sockets = {cpu.get("physical id", "0") for cpu in processors}
    cores = {(cpu.get("physical id", "0"), cpu.get("core id", str(n))) for n, cpu in enumerate(processors)}
    return MeasuredMachine(
        vendor=first["vendor_id"],
        family=int(first["cpu family"]),
        model=int(first["model"]),
        stepping=int(first["stepping"]),
        microcode=hex(int(first["microcode"], 16)),
        cpuid=_leaves(where, first["vendor_id"], processor),
        sockets=len(sockets),
        cores=len(cores),
        threads=len(processors),
        memory_bytes=_memory_bytes(where.root),
        kernel=(where.root / "proc/sys/kernel/osrelease").read_text().strip(),
        mitigations=_mitigations(where.root),
        machine_id=_machine_id(where),
    )


def _processors(root: Path) -> list[dict[str, str]]:
    blocks = (root / "proc/cpuinfo").read_text().strip().split("\n\n")
    pairs = [[line.partition(":") for line in block.splitlines()] for block in blocks]
    return [{key.strip(): value.strip() for key, _, value in block} for block in pairs]


def _memory_bytes(root: Path) -> int:
    text = (root / "proc/meminfo").read_text()
    return int(re.search(r"^MemTotal:\s+(\d+) kB", text, re.M)[1]) * 1024


def _mitigations(root: Path) -> dict[str, str]:
    folder = root / "sys/devices/system/cpu/vulnerabilities"
    return {path.name: path.read_text().strip() for path in sorted(folder.glob("*"))}


def _leaves(where: MeasurementSite, vendor: str, processor: int | None) -> tuple[tuple[int, ...], ...]:
    """CPUID of this processor; of another machine, its file ``cpuid.csv`` (six hexadecimal columns)."""
    if where.root == Path("/"):
        return _leaves_of_processor(vendor, processor)
    with (where.root / "cpuid.csv").open(newline="") as stream:
        return tuple(tuple(int(word, 16) for word in row) for row in csv.reader(stream))


def _leaves_of_processor(vendor: str, processor: int | None) -> tuple[tuple[int, ...], ...]:
    """CPUID, read on this processor: the thread is bound to it for as long."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, before if processor is None else {processor})
    try:
        return cpuid_leaves(vendor)
    finally:
        os.sched_setaffinity(0, before)


def _machine_id(where: MeasurementSite) -> str:
    """A random number that this machine keeps, so that parts of one machine can be merged."""
    data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local/share"
    elsewhere = where.root != Path("/")
    path = where.root / "machine-id" if elsewhere else Path(data) / "tessera" / "machine-id"
    if not path.exists():
        write_text(path, f"{secrets.token_hex(16)}\n")
    return path.read_text().strip()
