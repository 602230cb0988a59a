"""A condition of a measurement: its row of ``environment.csv``, how it is read, and how it is set."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tessera.core.errors import unknown_name

STOP, BARS, NOTED = "stop", "bars", "noted"
#: level -> what follows if the condition is not met
LEVELS = {
    STOP: "no run starts",
    BARS: "runs are possible, but their bundle decides no claim",
    NOTED: "it is recorded only",
}
OK, DIFFERS, UNKNOWN = "ok", "differs", "unknown"
#: status -> meaning, from the best to the worst
STATUSES = {
    OK: "met; also if the kernel does not have the feature",
    DIFFERS: "not met; `found` has the value",
    UNKNOWN: "it cannot be read; `found` has the reason. It counts as not met",
}


@dataclass(frozen=True)
class Condition:
    """What was wanted, and what was found.

    Attributes:
        check: name of the condition, unique in a table.
        level: one of :data:`LEVELS`.
        wanted: the value that a measurement needs.
        found: the value, with its unit; the reason, if ``status`` is :data:`UNKNOWN`.
        status: one of :data:`STATUSES`.
        remedy: the next step, a command if there is one; empty if ``status`` is :data:`OK`.
    """

    check: str
    level: str
    wanted: str
    found: str
    status: str
    remedy: str = ""


def stopping(conditions: Iterable[Condition]) -> list[Condition]:
    """Conditions that forbid a run: an unknown one is not met."""
    return [one for one in conditions if one.level == STOP and one.status != OK]


def barring(conditions: Iterable[Condition]) -> list[Condition]:
    """Conditions that keep a bundle from deciding claims: an unknown one is not met."""
    return [one for one in conditions if one.level == BARS and one.status != OK]


def worse_of(first: Iterable[Condition], second: Iterable[Condition]) -> list[Condition]:
    """Each condition as it was where it was worse: for runs that were made at two times."""
    worse, order = {one.check: one for one in first}, list(STATUSES)
    for one in second:
        before = worse.get(one.check)
        if before is None or order.index(one.status) > order.index(before.status):
            worse[one.check] = one
    return list(worse.values())


# Files of the kernel below a root folder: ``/``, or a copy of ``sys``, ``proc`` and ``dev`` in tests.


class UnreadableFact(Exception):
    """A fact that cannot be read; the text is the reason."""


@dataclass(frozen=True)
class SystemFiles:
    """Reads only. Names are relative to ``root`` and have no leading slash: ``proc/sys/vm/nr_hugepages``."""

    root: Path = Path("/")

    def path(self, name: str) -> Path:
        return self.root / name

    def text(self, name: str) -> str:
        """Content without surrounding white space.

        Raises:
            Unreadable: with the file and the kernel's reason.
        """
        return self.bytes(name, 1 << 20).decode(errors="replace").strip()

    def bytes(self, name: str, count: int, offset: int = 0) -> bytes:
        """Up to ``count`` bytes from ``offset``; raises :class:`UnreadableFact`."""
        try:
            descriptor = os.open(self.path(name), os.O_RDONLY | os.O_CLOEXEC)
            try:
                if offset:
                    return os.pread(descriptor, count, offset)
                parts = []
                while part := os.read(descriptor, count):
                    parts.append(part)
                    count -= len(part)
                    if count <= 0:
                        break
                return b"".join(parts)
            finally:
                os.close(descriptor)
        except OSError as error:
            raise UnreadableFact(f"/{name}: {os.strerror(error.errno or errno.EIO)}") from None

    def number(self, name: str) -> int:
        """A decimal number; raises :class:`UnreadableFact`."""
        text = self.text(name)
        if not re.fullmatch(r"-?\d+", text):
            raise UnreadableFact(f"/{name}: '{text[:40]}' is not a number")
        return int(text)

    def chosen(self, name: str) -> str:
        """The word in brackets of a list of words (``always [madvise] never``), else the whole text."""
        text = self.text(name)
        found = re.search(r"\[(.*?)\]", text)
        return found.group(1) if found else text

    def names(self, pattern: str) -> list[str]:
        """Names that match a pattern, numbers in their order (cpu2 before cpu10)."""
        found = [str(path.relative_to(self.root)) for path in self.root.glob(pattern)]
        return sorted(
            found, key=lambda name: [int(p) if p.isdigit() else p for p in re.split(r"(\d+)", name)]
        )

    def has(self, name: str) -> bool:
        return self.path(name).exists()

    def lacks(self, folder: str, name: str) -> bool:
        """Whether the folder can be read and has no such entry: this kernel does not have the feature."""
        try:
            return bool(entries := os.listdir(self.path(folder))) and name not in entries
        except OSError:
            return False

    def cpu_facts(self) -> dict[str, str]:
        """The first processor of ``/proc/cpuinfo``; raises :class:`UnreadableFact`."""
        block = self.text("proc/cpuinfo").split("\n\n", 1)[0]
        facts = dict(line.partition(":")[::2] for line in block.splitlines())
        return {key.strip(): value.strip() for key, value in facts.items()}

    def cpu_flags(self) -> list[str]:
        """Flags of the first processor; raises :class:`UnreadableFact`."""
        facts = self.cpu_facts()
        if "flags" not in facts:
            raise UnreadableFact("/proc/cpuinfo: no line 'flags'")
        return facts["flags"].split()


# What a condition is made from: how to read it, and how to set it if that can be undone.

MODES = ("u", "uk")


@dataclass(frozen=True)
class Needs:
    """What the measurement needs.

    Attributes:
        mode: ``u`` counts user mode, ``uk`` also the kernel.
        pages_2mb, pages_1gb: huge pages of the largest layout; 0: unknown, or none.
        node: NUMA node that runs the program and has its pages; None: the machine.
    """

    mode: str = "u"
    pages_2mb: int = 0
    pages_1gb: int = 0
    node: int | None = None

    def __post_init__(self):
        if self.mode not in MODES:
            raise unknown_name("mode", self.mode, MODES)


@dataclass(frozen=True)
class KernelSetting:
    """A file of the kernel and the value to write; the value of before is restored."""

    path: Path
    value: str


@dataclass(frozen=True)
class Service:
    """A service to stop and start again; its name is in :data:`tessera.machine.reserve.settings.STEPS`."""

    name: str


@dataclass(frozen=True)
class Hold:
    """A device that keeps a request as long as it is open: the kernel drops it with the process."""

    path: Path
    data: bytes


Change = KernelSetting | Service | Hold


@dataclass(frozen=True)
class Reading:
    """The value of a condition; ``wanted`` and ``remedy`` replace those of the rule if not empty."""

    ok: bool
    found: str
    wanted: str = ""
    remedy: str = ""


def nothing_to_set(tree: SystemFiles) -> Sequence[Change]:
    """For conditions that no reversible command sets."""
    return ()


@dataclass(frozen=True)
class ConditionRule:
    """``read`` may raise :class:`UnreadableFact`: the condition is unknown. ``fix`` lists changes."""

    check: str
    level: str
    wanted: str
    remedy: str
    read: Callable[[SystemFiles, Needs], Reading]
    fix: Callable[[SystemFiles], Sequence[Change]] = nothing_to_set

    def condition(self, tree: SystemFiles, needs: Needs) -> Condition:
        """The condition as it is now."""
        try:
            reading = self.read(tree, needs)
            if not reading.found:
                raise UnreadableFact("the kernel's file is empty")
        except UnreadableFact as reason:
            return Condition(self.check, self.level, self.wanted, str(reason), UNKNOWN, self.remedy)
        wanted = reading.wanted or self.wanted
        if reading.ok:
            return Condition(self.check, self.level, wanted, reading.found, OK)
        return Condition(
            self.check, self.level, wanted, reading.found, DIFFERS, reading.remedy or self.remedy
        )
