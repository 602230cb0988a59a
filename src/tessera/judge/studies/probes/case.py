"""One case of a probe: accesses, a design with its keys, a layout or mapping, and its quantities."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tessera.judge.validation.synthetic.stream import Stream
from tessera.layouts.model import Layout
from tessera.mapping.states import Mapping


@dataclass(frozen=True)
class Counted:
    """Counts of one simulation: H, M, data accesses, and structure -> (accesses, hits)."""

    hits: int
    misses: int
    accesses: int
    structures: dict[str, tuple[int, int]]


@dataclass(frozen=True)
class Case:
    """One simulation.

    Attributes:
        name: of the case, within its probe.
        changes: keys of the platform, with ``mmu.design``.
        place: the layout or mapping of the pools.
        read: quantity -> percent.
    """

    probe: str
    name: str
    stream: Stream
    changes: dict[str, int | str]
    place: Layout | Mapping
    read: Callable[[Counted], dict[str, float]]


def percent(part: int, whole: int) -> float:
    """``part`` of ``whole``; 0 of nothing is 0."""
    return 100 * part / whole if whole else 0.0
