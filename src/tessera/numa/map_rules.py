"""The rules that a map can follow: configurations of Mitosis Table 2 without a hog, and policies.

A configuration may have ``+M`` behind its name: the tables have moved to the program's socket while the
program lived (Figures 10 and 11). ``T`` in front of it: transparent huge pages are on. Linux 6.12 then gives
a 2MB page to a range of 2MB that is accessible as a whole and has no page yet (``mm/memory.c``,
``create_huge_pmd``), as long as its node has a free block.
"""

from __future__ import annotations

from dataclasses import dataclass

from tessera.core.errors import TesseraError, unknown_name
from tessera.numa.placement import MIGRATED, Placement, placements
from tessera.numa.policies import POLICIES

HUGE = "T"
LOCAL_NODE, REMOTE_NODE = 0, 1  #: the paper's sockets A and B


@dataclass(frozen=True)
class MapRule:
    """One rule.

    Attributes:
        name: as asked for.
        policy: of :data:`tessera.numa.policies.POLICIES`; empty for a configuration.
        begins: the configuration under which the program runs; None for a policy.
        migrated: its tables have moved when the map is taken.
        huge: transparent huge pages are on.
    """

    name: str
    policy: str = ""
    begins: Placement | None = None
    migrated: bool = False
    huge: bool = False

    @property
    def where(self) -> Placement | None:
        """The configuration that the map shows; None for a policy."""
        return self.begins.migrated() if self.begins and self.migrated else self.begins


def map_rule(name: str) -> MapRule:
    """The rule of this name.

    Raises:
        TesseraError: an unknown name, or a configuration with a hog, which no guest can show.
    """
    known = {place.name: place for place in placements().values() if place.hog is None}
    if name in POLICIES:
        return MapRule(name, policy=name)
    base = name.removesuffix(MIGRATED).removeprefix(HUGE)
    if base not in known or name not in _spellings(base):
        forms = [*known, f"one of them with {HUGE} in front or {MIGRATED} behind it", *POLICIES]
        raise unknown_name("configuration without a hog, or policy", name, forms)
    return MapRule(name, "", known[base], name.endswith(MIGRATED), name.startswith(HUGE))


def guest_rule(name: str) -> MapRule:
    """The rule of this name, if a guest can show it.

    Raises:
        TesseraError: ``auto``, or an unknown name.
    """
    if name == "auto":
        raise TesseraError(
            "policy 'auto' in a guest",
            "the program stops at its end, and automatic migration acts on threads that go on",
            f"give one of {', '.join(sorted(POLICIES.keys() - {name}))}, or a configuration of Table 2",
            code="numa-map-rule",
        )
    return map_rule(name)


def node_of(part: str, where: Placement) -> int:
    """Node of a socket name of Table 2; the program runs on node 0."""
    return LOCAL_NODE if part == where.program else REMOTE_NODE


def _spellings(base: str) -> list[str]:
    return [front + base + end for front in ("", HUGE) for end in ("", MIGRATED)]
