"""``machine.json``: what a bundle says about the machine. No name of a host or a user, no serial number."""

from __future__ import annotations

import csv
import os
import re
import secrets
from pathlib import Path

from tessera.bundles.model import Machine
from tessera.core.errors import TesseraError
from tessera.core.files import write_text
from tessera.counters.cpuid import Cpu
from tessera.measure.counted import cpuid
from tessera.measure.counted.here import Here


def cpu(root: Path) -> Cpu | None:
    """The processor of /proc/cpuinfo; None if it does not say."""
    found = _processors(root)
    return Cpu.from_cpuinfo(found[0]) if found else None


_WANTED = ("vendor_id", "cpu family", "model", "stepping", "microcode")


def machine(where: Here, processor: int | None = None) -> Machine:
    """Facts of the machine below ``where.root``.

    Args:
        processor: whose CPUID is read: caches and TLBs of two types of cores differ. None: any.

    Raises:
        TesseraError: /proc/cpuinfo lacks a key that a bundle must have.
    """
    processors = _processors(where.root)
    first = processors[0] if processors else {}
    if missing := [key for key in _WANTED if key not in first]:
        raise TesseraError(
            "the processor's identity",
            f"/proc/cpuinfo has no {missing[0]}",
            "measure on an x86-64 machine whose hypervisor, if any, does not hide it",
        )
    sockets = {cpu.get("physical id", "0") for cpu in processors}
    cores = {(cpu.get("physical id", "0"), cpu.get("core id", str(n))) for n, cpu in enumerate(processors)}
    return Machine(
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


def _leaves(where: Here, vendor: str, processor: int | None) -> tuple[tuple[int, ...], ...]:
    """CPUID of this processor; of another machine, its file ``cpuid.csv`` (six hexadecimal columns)."""
    if where.root == Path("/"):
        return _leaves_here(vendor, processor)
    with (where.root / "cpuid.csv").open(newline="") as stream:
        return tuple(tuple(int(word, 16) for word in row) for row in csv.reader(stream))


def _leaves_here(vendor: str, processor: int | None) -> tuple[tuple[int, ...], ...]:
    """CPUID, read on this processor: the thread is bound to it for as long."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, before if processor is None else {processor})
    try:
        return cpuid.leaves(vendor)
    finally:
        os.sched_setaffinity(0, before)


def _machine_id(where: Here) -> str:
    """A random number that this machine keeps, so that parts of one machine can be merged."""
    data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local/share"
    elsewhere = where.root != Path("/")
    path = where.root / "machine-id" if elsewhere else Path(data) / "tessera" / "machine-id"
    if not path.exists():
        write_text(path, f"{secrets.token_hex(16)}\n")
    return path.read_text().strip()
