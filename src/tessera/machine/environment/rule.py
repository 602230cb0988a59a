"""What a condition is made from: how to read it, and how to set it if that can be undone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tessera.core.errors import unknown_name
from tessera.machine.environment.condition import DIFFERS, OK, UNKNOWN, Condition
from tessera.machine.environment.tree import Tree, Unreadable

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
class Setting:
    """A file of the kernel and the value to write; the value of before is restored."""

    path: Path
    value: str


@dataclass(frozen=True)
class Service:
    """Commands that stop and start something."""

    stop: tuple[str, ...]
    start: tuple[str, ...]


@dataclass(frozen=True)
class Hold:
    """A device that keeps a request as long as it is open: the kernel drops it with the process."""

    path: Path
    data: bytes


Change = Setting | Service | Hold


@dataclass(frozen=True)
class Reading:
    """The value of a condition; ``wanted`` and ``remedy`` replace those of the rule if not empty."""

    ok: bool
    found: str
    wanted: str = ""
    remedy: str = ""


def nothing_to_set(tree: Tree) -> Sequence[Change]:
    """For conditions that no reversible command sets."""
    return ()


@dataclass(frozen=True)
class Rule:
    """``read`` may raise :class:`Unreadable`: the condition is unknown. ``fix`` lists changes to set it."""

    check: str
    level: str
    wanted: str
    remedy: str
    read: Callable[[Tree, Needs], Reading]
    fix: Callable[[Tree], Sequence[Change]] = nothing_to_set

    def condition(self, tree: Tree, needs: Needs) -> Condition:
        """The condition as it is now."""
        try:
            reading = self.read(tree, needs)
            if not reading.found:
                raise Unreadable("the kernel's file is empty")
        except Unreadable as reason:
            return Condition(self.check, self.level, self.wanted, str(reason), UNKNOWN, self.remedy)
        wanted = reading.wanted or self.wanted
        if reading.ok:
            return Condition(self.check, self.level, wanted, reading.found, OK)
        return Condition(
            self.check, self.level, wanted, reading.found, DIFFERS, reading.remedy or self.remedy
        )
