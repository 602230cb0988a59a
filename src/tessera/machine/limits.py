"""Memory, huge pages and processors of this process: the machine's, or less where a cgroup limits them.

A job of Slurm, a container and a service of systemd are cgroups. The limits of the process's own cgroup and
those of every ancestor hold, so each function takes the smallest. The files that are read:

============  ==================================  =====================================================
what          version 2                           version 1
============  ==================================  =====================================================
memory        memory.max, memory.high             memory.limit_in_bytes, memory.memsw.limit_in_bytes
huge pages    hugetlb.2MB.max, ...rsvd.max        hugetlb.2MB.limit_in_bytes, ...rsvd.limit_in_bytes
quota of CPU  cpu.max                             cpu.cfs_quota_us, cpu.cfs_period_us
============  ==================================  =====================================================

- A machine may have both versions (hybrid); each controller is in one of them.
- ``memory.high`` counts as a limit: above it the kernel kills no process, but it delays each allocation so
  long that a recording does not end.
- Swap is not memory here, as in the kernel's MemAvailable. ``memory.memsw`` bounds the sum of both.
- File pages that the kernel can drop do not count as used, again as in MemAvailable.
- ``/proc/self/cgroup`` and ``/proc/self/mountinfo`` say where the folders are. In a container, ancestors
  above the mount cannot be seen. Version 1 still tells the smallest of their limits on memory
  (``hierarchical_memory_limit``); version 2 does not.
- What cannot be read is no known limit, and never an error: :attr:`Cgroups.unreadable` names it.

Standard library only: the doctor runs before anything is installed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.units import GB, KB, MB, format_bytes

#: Files are read below it; tests put another folder in its place.
ROOT = Path("/")

#: Version 1 writes "no limit" as a number of about 2^63, rounded to pages.
_NO_LIMIT = 1 << 60

_VERSION_1, _VERSION_2 = "cgroup", "cgroup2"  #: types of file systems

#: Pairs of files, limit and usage, by version.
_MEMORY_FILES = {
    _VERSION_1: (
        ("memory.limit_in_bytes", "memory.usage_in_bytes"),
        ("memory.memsw.limit_in_bytes", "memory.memsw.usage_in_bytes"),
    ),
    _VERSION_2: (("memory.max", "memory.current"), ("memory.high", "memory.current")),
}
_HUGE_PAGE_FILES = {
    _VERSION_1: (("limit_in_bytes", "usage_in_bytes"), ("rsvd.limit_in_bytes", "rsvd.usage_in_bytes")),
    _VERSION_2: (("max", "current"), ("rsvd.max", "rsvd.current")),
}
#: Rows of memory.stat with pages that the kernel can drop; the sums of version 1 include descendants.
_DROPPABLE = {
    _VERSION_1: ("total_inactive_file", "total_active_file"),
    _VERSION_2: ("inactive_file", "active_file", "slab_reclaimable"),
}


@dataclass(frozen=True)
class Limit:
    """A limit of one cgroup.

    Attributes:
        cgroup: its path, as ``/proc/self/cgroup`` has it.
        file: the file that has the limit, with its folder.
        bytes: the limit.
        used: bytes that count against it now and that the kernel cannot drop.
    """

    cgroup: str
    file: Path
    bytes: int
    used: int = 0

    @property
    def free(self) -> int:
        """Bytes that are left; 0 if the limit was lowered below the usage."""
        return max(0, self.bytes - self.used)

    def __str__(self) -> str:
        return f"the limit of this cgroup ({self.cgroup}: {self.file.name} {readable(self.bytes)})"


@dataclass(frozen=True)
class UsableMemory:
    """Bytes of memory, and the limit that makes them fewer than the machine's (None: the machine does)."""

    bytes: int
    limit: Limit | None = None

    @property
    def because(self) -> str:
        """``: the limit of ...``, to follow a number; empty if the machine decides."""
        return f": {self.limit}" if self.limit else ""

    def remedy(self, needed: int) -> str:
        """What makes room for ``needed`` bytes."""
        if self.limit is None:
            return "end other programs"
        larger = "give this job or container more memory (Slurm --mem, docker --memory, systemd MemoryMax)"
        return larger if self.limit.bytes < needed else f"end other programs in this cgroup, or {larger}"


@dataclass(frozen=True)
class Room:
    """Huge pages of one size that a limit leaves to this process."""

    pages: int
    limit: Limit

    def remedy(self, wanted: int, page_bytes: int) -> str:
        """What allows ``wanted`` pages more than are used now."""
        least = self.limit.used + wanted * page_bytes
        kind = f"hugepages-{format_bytes(page_bytes).removesuffix('B')}i"
        return (
            f"raise the limit: echo {least} | sudo tee {self.limit.file}; in Kubernetes: "
            f"resources.limits of the container, {kind}"
        )


@dataclass(frozen=True)
class Quota:
    """Processor time: ``processors`` seconds per second for all threads of a cgroup together."""

    cgroup: str
    file: Path
    processors: float

    def __str__(self) -> str:
        return f"the quota of this cgroup ({self.cgroup}: {self.file.name} {self.processors:g} processors)"


@dataclass(frozen=True)
class _Mount:
    version: str
    options: frozenset[str]  #: of the file system; version 1 lists its controllers here
    root: tuple[str, ...]  #: the cgroup that the mount shows as its top folder
    folder: Path


@dataclass(frozen=True)
class _Level:
    """A cgroup: the process's own, or an ancestor."""

    version: str
    path: str
    folder: Path
    options: frozenset[str]


class Cgroups:
    """The cgroups of this process, read when a question is asked.

    Attributes:
        unreadable: what could not be read so far, with the reason; limits there are unknown.
    """

    def __init__(self, root: Path | None = None):
        self._root = ROOT if root is None else root
        self.unreadable: list[str] = []

    def memory(self) -> list[Limit]:
        """All limits on memory, of the own cgroup first."""
        found = []
        for version in (_VERSION_1, _VERSION_2):
            levels = self._levels("memory", version)
            for level in levels:
                dropped = self._droppable(level)
                found += self._limits(level, _MEMORY_FILES[version], dropped)
            if version == _VERSION_1 and levels:
                found += self._above(levels, found)
        return found

    def huge_pages(self, page_bytes: int) -> list[Limit]:
        """All limits on huge pages of one size, in bytes."""
        name, found = f"hugetlb.{format_bytes(page_bytes)}", []
        for version, files in _HUGE_PAGE_FILES.items():
            named = [(f"{name}.{limit}", f"{name}.{usage}") for limit, usage in files]
            for level in self._levels("hugetlb", version):
                found += self._limits(level, named, 0)
        for level in self._levels("memory", _VERSION_2):
            if "memory_hugetlb_accounting" in level.options:  # huge pages count as memory, too
                found += self._limits(level, _MEMORY_FILES[_VERSION_2], self._droppable(level))
        return found

    def quota(self) -> Quota | None:
        """The smallest quota of processor time; None if there is none."""
        found = []
        for level in self._levels("cpu", _VERSION_2):
            words = (self._text(level.folder / "cpu.max") or "max").split()
            if len(words) == 2 and words[0] != "max":
                found.append(self._quota(level, "cpu.max", *words))
        for level in self._levels("cpu", _VERSION_1):
            quota = (self._text(level.folder / "cpu.cfs_quota_us") or "-1").strip()
            if quota != "-1":
                period = self._text(level.folder / "cpu.cfs_period_us") or ""
                found.append(self._quota(level, "cpu.cfs_quota_us", quota, period.strip()))
        return min((one for one in found if one), key=lambda one: one.processors, default=None)

    def _quota(self, level: _Level, name: str, quota: str, period: str) -> Quota | None:
        file = level.folder / name
        if not (_is_number(quota) and _is_number(period) and int(period)):
            self._unknown(file, f"'{quota} {period}' are not two numbers of microseconds")
            return None
        return Quota(level.path, file, int(quota) / int(period))

    def _limits(self, level: _Level, files: Iterable[tuple[str, str]], droppable: int) -> Iterator[Limit]:
        for limit_file, usage_file in files:
            limit = self._number(level.folder / limit_file)
            if limit is not None and limit < _NO_LIMIT:
                used = max(0, (self._number(level.folder / usage_file) or 0) - droppable)
                yield Limit(level.path, level.folder / limit_file, limit, used)

    def _droppable(self, level: _Level) -> int:
        rows = self._stat(level)
        return sum(rows.get(name, 0) for name in _DROPPABLE[level.version])

    def _stat(self, level: _Level) -> dict[str, int]:
        pairs = [line.split() for line in (self._text(level.folder / "memory.stat") or "").splitlines()]
        return {pair[0]: int(pair[1]) for pair in pairs if len(pair) == 2 and _is_number(pair[1])}

    def _above(self, levels: list[_Level], visible: list[Limit]) -> Iterator[Limit]:
        """The limit of an ancestor above the mount, of version 1: smaller than all that can be seen."""
        own, top = levels[0], levels[-1]
        least = self._stat(own).get("hierarchical_memory_limit", _NO_LIMIT)
        if least < min((limit.bytes for limit in visible), default=_NO_LIMIT):
            used = self._number(own.folder / _MEMORY_FILES[_VERSION_1][0][1]) or 0
            file = own.folder / "memory.stat, hierarchical_memory_limit"
            yield Limit(f"above {top.path}", file, least, max(0, used - self._droppable(own)))

    def _levels(self, controller: str, version: str) -> list[_Level]:
        """The own cgroup, then its ancestors as far as they are visible; none without the controller."""
        path = self._membership(controller, version)
        if path is None:
            return []
        names = _names(path)
        shown = [
            mount
            for mount in self._mounts
            if mount.version == version
            and (version == _VERSION_2 or controller in mount.options)
            and names[: len(mount.root)] == mount.root
            and ".." not in names[len(mount.root) :]
            and os.path.isdir(mount.folder)  # False also where the user may not look
        ]
        if not shown:
            if version == _VERSION_1 or self._membership(controller, _VERSION_1) is None:
                reason = f"no mount shows the cgroup {path} of {controller}"
                self._unknown(Path("/proc/self/mountinfo"), reason)
            return []
        mount = min(shown, key=lambda mount: len(mount.root))
        levels = []
        for count in range(len(names), len(mount.root) - 1, -1):
            folder = mount.folder.joinpath(*names[len(mount.root) : count])
            if levels and version == _VERSION_1 and controller == "memory" and self._apart(folder):
                break
            levels.append(_Level(version, "/" + "/".join(names[:count]), folder, mount.options))
        return levels

    def _apart(self, folder: Path) -> bool:
        """Whether a cgroup of version 1 does not count what its children use (before Linux 5.11)."""
        return (self._text(folder / "memory.use_hierarchy") or "").strip() == "0"

    def _membership(self, controller: str, version: str) -> str | None:
        """The path of the process's cgroup."""
        for number, controllers, path in self._memberships:
            unified = (number, controllers) == ("0", "")
            if unified if version == _VERSION_2 else controller in controllers.split(","):
                return path
        return None

    @cached_property
    def _memberships(self) -> list[list[str]]:
        found = []
        for line in (self._text(self._root / "proc/self/cgroup") or "").splitlines():
            words = line.split(":", 2)
            if len(words) == 3 and words[2].startswith("/"):
                found.append(words)
            else:
                self._unknown(Path("/proc/self/cgroup"), f"'{line[:60]}' is not number:controllers:path")
        return found

    @cached_property
    def _mounts(self) -> list[_Mount]:
        found = []
        for line in (self._text(self._root / "proc/self/mountinfo") or "").splitlines():
            before, _, after = line.partition(" - ")
            words, about = before.split(" "), after.split(" ")
            if len(words) < 6 or len(about) < 3 or about[0] not in (_VERSION_1, _VERSION_2):
                continue
            options = frozenset(about[2].split(","))
            folder = self._root / _unescaped(words[4]).lstrip("/")
            found.append(_Mount(about[0], options, _names(_unescaped(words[3])), folder))
        return found

    def _number(self, path: Path) -> int | None:
        """A number of bytes; None for ``max``, for a file that is not there, and for what cannot be read."""
        text = self._text(path)
        if text is None or (text := text.strip()) in ("max", "-1"):
            return None
        if not _is_number(text):
            self._unknown(path, f"'{text[:40]}' is not a number of bytes")
            return None
        return int(text)

    def _text(self, path: Path) -> str | None:
        """None if there is no such file (the controller is not enabled there), or it cannot be read."""
        try:
            return path.read_text()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (OSError, ValueError) as error:
            self._unknown(path, getattr(error, "strerror", None) or "it is not text")
            return None

    def _unknown(self, path: Path, reason: str) -> None:
        if (words := f"{path}: {reason}") not in self.unreadable:
            self.unreadable.append(words)


def memory_limit(root: Path | None = None) -> Limit | None:
    """The smallest limit of a cgroup on memory; None if there is none."""
    return min(Cgroups(root).memory(), key=lambda limit: limit.bytes, default=None)


def total_memory(root: Path | None = None) -> UsableMemory:
    """Memory that this process may ever have: the machine's, or the smallest limit."""
    machine, limit = machine_memory("MemTotal", root), memory_limit(root)
    return UsableMemory(limit.bytes, limit) if limit and limit.bytes < machine else UsableMemory(machine)


def available_memory(root: Path | None = None) -> UsableMemory:
    """Memory that this process can have now without swapping: MemAvailable, or what the limits leave."""
    machine = machine_memory("MemAvailable", root)
    tightest = min(Cgroups(root).memory(), key=lambda limit: limit.free, default=None)
    return (
        UsableMemory(tightest.free, tightest)
        if tightest and tightest.free < machine
        else UsableMemory(machine)
    )


def total_memory_bytes(root: Path | None = None) -> int:
    """Bytes of :func:`total_memory`."""
    return total_memory(root).bytes


def available_memory_bytes(root: Path | None = None) -> int:
    """Bytes of :func:`available_memory`."""
    return available_memory(root).bytes


def memory_ran_out(root: Path | None = None) -> str:
    """Why the kernel kills a program that nobody ended, for a message: a limit is named if there is one.

    A container of Docker is outside this process's cgroups, so the limit is not the only candidate.
    """
    limit = total_memory(root).limit
    return f"memory ran out, the machine's or that of {limit}" if limit else "the machine ran out of memory"


def machine_memory(row: str, root: Path | None = None) -> int:
    """Bytes of the whole machine: ``MemTotal`` or ``MemAvailable`` of ``/proc/meminfo``.

    Raises:
        TesseraError: the file cannot be read, or lacks the row (code ``meminfo``).
    """
    path = (ROOT if root is None else root) / "proc/meminfo"
    try:
        rows = dict(re.findall(r"^(\w+): +([0-9]+) kB$", path.read_text(), re.MULTILINE))
        return int(rows[row]) * KB
    except (OSError, KeyError) as error:
        found = f"no row {row}" if isinstance(error, KeyError) else error.strerror or str(error)
        raise TesseraError(
            f"read {path}", found, "run on Linux with /proc mounted", exit_code=EXIT_FAILED, code="meminfo"
        ) from None


def huge_pages_room(page_bytes: int, root: Path | None = None) -> Room | None:
    """Huge pages that the tightest limit leaves to this process; None without a limit."""
    limits = Cgroups(root).huge_pages(page_bytes)
    tightest = min(limits, key=lambda limit: limit.free, default=None)
    return Room(tightest.free // page_bytes, tightest) if tightest else None


def usable_processors(root: Path | None = None) -> int:
    """Processors that this process can keep busy: those of its affinity, or fewer if a quota is smaller.

    Of a quota the whole processors count, at least one: a job more would only slow the others down.
    """
    quota = Cgroups(root).quota()
    return max(1, min(allowed_processors(), int(quota.processors))) if quota else allowed_processors()


def allowed_processors() -> int:
    """Processors that this process may run on (its affinity, which a cgroup's cpuset bounds)."""
    return len(os.sched_getaffinity(0))


def machine_processors() -> int:
    """Processors of the machine, whoever may use them."""
    return os.cpu_count() or allowed_processors()


def readable(count: int) -> str:
    """Bytes for a message: ``2GB`` if it is exact in MB, else ``1.95GB``, rounded."""
    if count % MB == 0 or count < MB:
        return format_bytes(count)
    return f"{count / GB:.2f}GB" if count >= GB else f"{count / MB:.1f}MB"


def _is_number(text: str) -> bool:
    """Whether the kernel can have written it: 64 bits have at most 20 digits."""
    return re.fullmatch(r"[0-9]{1,20}", text) is not None


def _names(path: str) -> tuple[str, ...]:
    return tuple(name for name in path.split("/") if name)


def _unescaped(text: str) -> str:
    """mountinfo writes a space as ``\\040``."""
    return re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), text)
