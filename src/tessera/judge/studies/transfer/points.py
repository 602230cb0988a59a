"""Points: a variant under a layout or mapping, with the three inputs, beside P under the same one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tessera.fit.models.bracket import Design
from tessera.judge.studies.transfer import rules
from tessera.judge.studies.transfer.classes import Variant, text_of
from tessera.judge.studies.transfer.declared import INPUTS, Point, asked, background_cycles, declared
from tessera.judge.studies.transfer.simulated import Cell, difference
from tessera.platforms import Platform
from tessera.results.status import is_ok


@dataclass(frozen=True)
class Measured:
    """A variant under one layout: its cell, P's under the same one, (H, M, C) by input, R_ideal in cycles.

    ``asked``: the design as the bracket asks for it; None without numbers.
    """

    variant: Variant
    changes: Mapping[str, int | str]
    cell: Cell
    base: Cell | None
    x: Mapping[str, Point]
    ideal: float
    asked: Design | None = None

    @property
    def ok(self) -> bool:
        return is_ok(self.cell.status) and self.base is not None and is_ok(self.base.status)

    @property
    def judged(self) -> bool:
        return self.ok and rules.matters(self.base.runtime, self.ideal)


def measured(
    variant: Variant, platform: Platform, base_platform: Platform, cell: Cell, base: Cell | None, ideal: float
) -> Measured:
    """A point; without numbers if the cell or P's is not ok."""
    changes = variant.changes(base_platform)
    if not is_ok(cell.status):
        return Measured(variant, changes, cell, base, {}, ideal)
    counts = cell.row, cell.structures, platform, base_platform
    return Measured(variant, changes, cell, base, declared(*counts), ideal, asked(*counts))


def key(point: Measured, inputs: str) -> dict:
    """Columns that name a point and an input."""
    return {
        "group": point.variant.group, "variant": point.variant.name, "layout": point.cell.layout,
        "inputs": inputs,
    }  # fmt: skip


def rows(point: Measured) -> list[dict]:
    """Rows of the table of points; one without numbers if the simulator rejected it."""
    head = {
        "family": point.variant.family, "status": point.cell.status, "message": point.cell.message,
        "changes": text_of(point.changes),
    }  # fmt: skip
    if not point.ok:
        if is_ok(point.cell.status):
            head |= {"status": "failed", "message": "P has no cell under this mapping"}
        return [key(point, INPUTS[0]) | head]
    gain = difference(point.base, point.cell)
    counted = {
        "background_cycles": background_cycles(point.cell.structures),
        "walkers": point.asked.walkers,
        "miss_cycles": point.asked.miss_cycles,
        "runtime_cycles": point.cell.runtime,
        "base_runtime_cycles": point.base.runtime,
        "ideal_runtime_cycles": point.ideal,
        "gain_cycles": point.base.runtime - point.cell.runtime,
        "gain_ci95_cycles": gain.ci95,
        "judged": point.judged,
        "informative": rules.informative(point.base.runtime, point.cell.runtime),
    }
    found = []
    for inputs in INPUTS:
        H, M, C = point.x[inputs]
        found.append(
            key(point, inputs) | head | {"stlb_hits": H, "stlb_misses": M, "walk_cycles": C} | counted
        )
    return found
