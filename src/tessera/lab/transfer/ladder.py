"""Ladders: P becomes a design of another class, one mechanism a step, so the steps sum to the gap.

A mechanism that the simulator has no key for is part of the next step, whose name then lists both.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from tessera.core.platforms import Platform, all_keys, own_key
from tessera.core.results.outcomes import is_ok
from tessera.lab.transfer.classes import DESIGN, HIT, THP, Changes, text_of_changes
from tessera.lab.transfer.points import background_cycles
from tessera.lab.transfer.runs import Cell

CONTENTS, HIT_TIME, BACKGROUND, WALK_CACHES, PLACE = (
    "contents", "hit time", "background loads", "walk caches", "place and first load of a walk",
)  # fmt: skip
START = "P"
#: 0: background loads have walkers of their own; 1: they take those of the accesses.
SERVES = "walker.serves_background"
#: The flat look-up of a tree with four cached levels and the segment cache (Park, 2.4.4).
TREE_CYCLES = 20


@dataclass(frozen=True)
class Rung:
    """``changes`` of P after the step (all of them, not only its own)."""

    mechanism: str
    changes: Callable[[Platform], Changes]


def _hit(p: Platform) -> int:
    return int(p.values[HIT].value)


def _anchored(later: int, serves: int) -> Callable[[Platform], Changes]:
    return lambda p: {DESIGN: "anchor", "design.anchor.anchor_cycles": _hit(p) + later, SERVES: serves}


def _delayed(hit: bool, caches: bool) -> Callable[[Platform], Changes]:
    def changes(p: Platform) -> Changes:
        made: Changes = {DESIGN: THP, "tlb.stlb.entries": 1024, "tlb.stlb.ways": 8}
        if hit:
            made[HIT] = 7
        if not caches:
            made |= {f"pwc.{level}.{what}": 0 for level in ("pde", "pdpte", "pml4e")
                     for what in ("entries", "ways")}  # fmt: skip
        return made

    return changes


def _ranges(cycles: int | None) -> Callable[[Platform], Changes]:
    return lambda p: {
        DESIGN: "rmm", "design.rmm.entries": 2048,
        "design.rmm.range_cycles": _hit(p) if cycles is None else cycles, SERVES: 0,
    }  # fmt: skip


LADDERS: dict[str, tuple[Rung, ...]] = {
    "anchor-8": (
        Rung(CONTENTS, _anchored(0, 0)),
        Rung(BACKGROUND, _anchored(0, 1)),
        Rung(HIT_TIME, _anchored(1, 1)),
    ),
    "delayed-tlb": (
        Rung(CONTENTS, _delayed(hit=False, caches=True)),
        Rung(HIT_TIME, _delayed(hit=True, caches=True)),
        Rung(WALK_CACHES, _delayed(hit=True, caches=False)),
        Rung(PLACE, lambda p: {DESIGN: "hvc-delayed-tlb"}),
    ),
    "many-segment": (
        Rung(CONTENTS, _ranges(None)),
        Rung(HIT_TIME, _ranges(TREE_CYCLES)),
        Rung(PLACE, lambda p: {DESIGN: "hvc-many-segment"}),
    ),
}


def steps_of(name: str, platform: Platform) -> list[tuple[str, Changes]]:
    """(mechanism, changes) of each step; steps in a row that an absent key makes equal are one step."""
    found: list[tuple[str, Changes]] = []
    waiting: list[str] = []
    steps = LADDERS[name]
    for number, step in enumerate(steps):
        changes = _known(step.changes(platform))
        later = _known(steps[number + 1].changes(platform)) if number + 1 < len(steps) else None
        if changes == later:
            waiting.append(step.mechanism)
            continue
        found.append((" and ".join([*waiting, step.mechanism]), changes))
        waiting = []
    return found


def _known(changes: Changes) -> Changes:
    keys = all_keys()
    return {key: value for key, value in changes.items() if key in keys or own_key(key) is not None}


def ladder_rows(
    name: str,
    layout: str,
    cells: Sequence[tuple[str, Mapping, Cell]],
    predict: Callable[[Sequence[float]], float],
) -> list[dict]:
    """Rows of a ladder under one mapping; ``cells``: (mechanism, changes, cell), P first.

    A rejected step has no numbers, and the next one counts from the last that has some.
    """
    ends = [cell for _, _, cell in cells if is_ok(cell.status)]
    whole = ends[-1].runtime - ends[0].runtime if is_ok(cells[-1][2].status) and ends else None
    found, last = [], None
    for number, (mechanism, changes, cell) in enumerate(cells):
        row = {
            "ladder": name, "layout": layout, "step": number, "mechanism": mechanism,
            "status": cell.status, "message": cell.message, "changes": text_of_changes(changes),
        }  # fmt: skip
        if is_ok(cell.status):
            H, M, C = cell.x
            row |= {
                "stlb_hits": H, "stlb_misses": M, "walk_cycles": C,
                "background_cycles": background_cycles(cell.structures), "runtime_cycles": cell.runtime,
                "step_cycles": 0.0 if last is None else cell.runtime - last, "gap_cycles": whole,
                "predicted_cycles": predict(cell.x),
            }  # fmt: skip
            last = cell.runtime
        found.append(row)
    return found
