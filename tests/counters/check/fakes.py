"""A machine with counters, from numbers made by hand: its sysfs, its kernel, and what chase counts on it."""

from __future__ import annotations

import os
from pathlib import Path

from tessera.machine.counter_check.known_programs import CHASES
from tessera.machine.counter_check.opening import TimedCount

FORMATS = {
    "event": "config:0-7", "umask": "config:8-15", "edge": "config:18", "any": "config:21",
    "inv": "config:23", "cmask": "config:24-31", "offcore_rsp": "config1:0-63", "ldlat": "config1:0-15",
}  # fmt: skip
AMD = FORMATS | {"event": "config:0-7,32-35"}


def sysfs(root: Path, formats: dict[str, str] = FORMATS, pmus: dict[str, int] | None = None) -> Path:
    """PMUs, SMT off, watchdog off."""
    for name, number in ({"cpu": 4} if pmus is None else pmus).items():
        folder = root / "sys/bus/event_source/devices" / name
        (folder / "format").mkdir(parents=True)
        (folder / "type").write_text(f"{number}\n")
        for field, bits in formats.items():
            (folder / "format" / field).write_text(f"{bits}\n")
    for name in ("sys/devices/system/cpu/smt/active", "proc/sys/kernel/nmi_watchdog"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("0\n")
    return root


class Kernel:
    """Opens all events but ``refused`` (role -> errno). Counts of roles in ``late`` ran half of the time."""

    def __init__(self, refused=None, late=(), lost=()):
        self.refused, self.late, self.lost = refused or {}, set(late), set(lost)
        self.opened: dict[int, str] = {}
        self.processors: dict[str, set[int]] = {}  # event -> those that this process may use
        self.groups: list[tuple[str, str | None]] = []  # event, leader
        self._next = 100

    def open(self, event, leader=-1, pid=0, at_exec=False):
        if event.role in self.refused:
            raise OSError(self.refused[event.role], "refused")
        self.processors[event.role] = os.sched_getaffinity(0)
        self.groups.append((event.role, self.opened.get(leader)))
        self._next += 1
        self.opened[self._next] = event.role
        return self._next

    def enable(self, descriptor):
        assert descriptor in self.opened

    disable = enable

    def read(self, descriptor):
        role = self.opened[descriptor]
        if role in self.lost:
            return None
        value = 256 if role == "page-faults" else 1
        return TimedCount(value, 1_000_000, 500_000 if role in self.late else 999_990)

    def close(self, descriptor):
        del self.opened[descriptor]


#: role -> counts of 1 load in a chase of few pages, of pages of the STLB, of many pages.
PER_LOAD = {
    "R cycles": (4.5, 11, 260),
    "R reference cycles": (4, 10, 240),
    "instructions": (2.25, 2.25, 2.25),
    "H loads": (0, 0.84, 0.01),
    "M loads": (0, 0.001, 0.985),
    "C loads": (0, 0.03, 31),
    "C active loads": (0, 0.03, 30),
    "H stores": (0, 0, 0),
    "M stores": (0, 0, 0),
    "C stores": (0, 0, 0),
    "C active stores": (0, 0, 0),
    "H any": (0, 0.84, 0.01),
    "M any": (0, 0.001, 0.985),
}
#: Counted while the program starts: chase writes every page once; 131 072 of many pages.
START = {"M stores": (900, 1300, 140_000), "C stores": (30_000, 40_000, 4_000_000), "R cycles": (10**7,) * 3}


def chase(changes=None, start=None):
    """A counter of chase: (events, command) -> counts. ``changes`` replace rows of :data:`PER_LOAD`."""
    per_load, begin = PER_LOAD | (changes or {}), START | (start or {})

    def count(events, command):
        pages = int(command[command.index("--elements") + 1])
        loads = int(command[command.index("--accesses") + 1])
        at = [one.pages for one in CHASES].index(pages)
        values = {
            e.role: int(per_load[e.role][at] * loads + begin.get(e.role, (5000,) * 3)[at]) for e in events
        }
        return {role: TimedCount(value, 10**9, 10**9) for role, value in values.items()}

    return count
