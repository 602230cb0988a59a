"""Intel's hardware events for H, M and C, by processor generation.

Source: Intel's event tables (SDM volume 3, chapter "Performance Monitoring Events"). A raw event is
``umask << 8 | event``. Per generation: loads and stores of STLB hits (H), completed walks (M, may include
speculative ones) and walk cycles (C; Skylake and later count pending walks, each walker on its own).
AMD processors count H and M but no walk cycles, so they are not listed.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Generation:
    """``events`` maps an event's name to its raw code."""

    name: str
    models: frozenset[int]  # of family 6
    events: dict[str, int]


def _events(load: int, store: int, hit: int, completed: int, cycles: int, cycles_name: str) -> dict[str, int]:
    """Loads and stores share their unit masks on these generations."""
    masks = {"stlb_hit": hit, "walk_completed": completed, cycles_name: cycles}
    return {
        f"dtlb_{kind}_misses.{name}": mask << 8 | event
        for kind, event in (("load", load), ("store", store))
        for name, mask in masks.items()
    }


_HASWELL = _events(0x08, 0x49, hit=0x60, completed=0x0E, cycles=0x10, cycles_name="walk_duration")
_SKYLAKE = _events(0x08, 0x49, hit=0x20, completed=0x0E, cycles=0x10, cycles_name="walk_pending")

GENERATIONS = (
    Generation(
        "SandyBridge",
        frozenset({42, 45}),
        _events(0x08, 0x49, hit=0x10, completed=0x02, cycles=0x04, cycles_name="walk_duration"),
    ),
    Generation("Haswell", frozenset({60, 63, 69, 70}), _HASWELL),
    Generation("Broadwell", frozenset({61, 71, 79, 86}), _HASWELL),
    Generation("Skylake", frozenset({78, 94, 85, 142, 158, 165, 166}), _SKYLAKE),
    Generation("Ice Lake", frozenset({106, 108, 125, 126}), _SKYLAKE),
    Generation(
        "Sapphire Rapids",
        frozenset({143, 207}),
        _events(0x12, 0x13, hit=0x20, completed=0x0E, cycles=0x10, cycles_name="walk_pending"),
    ),
)


def generation(vendor: str, family: int, model: int) -> Generation | None:
    """The generation of a processor as CPUID names it; None if its events aren't known here."""
    if vendor != "GenuineIntel" or family != 6:
        return None
    return next((g for g in GENERATIONS if model in g.models), None)
