"""Points: a variant under a layout or mapping, with the three inputs, beside P under the same one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tessera.core.platforms import Platform
from tessera.core.results.outcomes import is_ok
from tessera.fit.predict.bracket import ChangedCounts
from tessera.lab.transfer import rules
from tessera.lab.transfer.classes import DESIGN, HIT, OWN_HIT, WALKERS, Variant, text_of_changes
from tessera.lab.transfer.runs import Cell, difference

# The three inputs that a study can declare: what H and C count (docs/explain/transfer.md, Three inputs).

COUNTED, LATENCY, BUSY = DECLARED_INPUTS = ("counted", "latency", "busy")
BACKGROUND = "background"
#: Designs that list look-ups of a second level of their own; others have the STLB of P.
DELAYED, SEGMENTS = "hvc-delayed-tlb", "hvc-many-segment"
_DELAYED_CYCLES = ("design.hvc-delayed-tlb.delayed_cycles", 7)


@dataclass(frozen=True)
class DeclaredInput:
    """(H, M, C) in translations, translations, cycles."""

    H: float
    M: float
    C: float

    def __iter__(self):
        return iter((self.H, self.M, self.C))


def background_cycles(structures: Sequence[Mapping]) -> float:
    """B of a cell; 0 without background loads."""
    return float(sum(row["background_cycles"] or 0 for row in structures if row["structure"] == BACKGROUND))


def declared(
    row: Mapping, structures: Sequence[Mapping], platform: Platform, base: Platform
) -> dict[str, DeclaredInput]:
    """Input -> (H, M, C) of a cell of ``platform``, a variant of ``base``."""
    hits, misses, cycles = (float(row[name]) for name in ("stlb_hits", "stlb_misses", "walk_cycles"))
    latency = look_up_cycles(hits, misses, structures, platform)[0] / int(base.values[HIT].value)
    return {
        COUNTED: DeclaredInput(hits, misses, cycles),
        LATENCY: DeclaredInput(latency, misses, cycles),
        BUSY: DeclaredInput(hits, misses, cycles + background_cycles(structures)),
    }


def asked(row: Mapping, structures: Sequence[Mapping], platform: Platform, base: Platform) -> ChangedCounts:
    """The design of a cell as the bracket asks for it: H by latency, busy C, longer look-ups of misses."""
    hits, misses, cycles = (float(row[name]) for name in ("stlb_hits", "stlb_misses", "walk_cycles"))
    of_hits, of_misses = look_up_cycles(hits, misses, structures, platform)
    of_p = int(base.values[HIT].value)
    return ChangedCounts(
        of_hits / of_p, cycles + background_cycles(structures), int(platform.values[WALKERS].value),
        of_misses - misses * of_p,
    )  # fmt: skip


def look_up_cycles(
    hits: float, misses: float, structures: Sequence[Mapping], platform: Platform
) -> tuple[float, float]:
    """Cycles of look-ups behind the first one: of all hits (hits x cycles of each structure), of all misses.

    The simulator gives the look-up cycles of all accesses, so those of the misses are subtracted. A design
    that is not listed here is taken to look up hits and misses in the same time, on average.
    """
    design, of_p = str(platform.values[DESIGN].value), int(platform.values[HIT].value)
    rows = {row["structure"]: row for row in structures if row["structure"] != BACKGROUND}
    total = float(sum(row["lookup_cycles"] or 0 for row in rows.values()))
    if not total:
        return hits * of_p, misses * of_p
    if design == SEGMENTS:
        first, table = rows["segment-cache"], rows["segment-table"]
        deeper = sum(rows[name]["lookup_cycles"] for name in ("index-cache", "segment-table"))
        miss = first["lookup_cycles"] / first["accesses"] + deeper / max(1, table["accesses"])
    elif design == DELAYED:
        miss = _value(platform, *_DELAYED_CYCLES)
    elif design in OWN_HIT:
        miss = max(_value(platform, *OWN_HIT[design]), of_p)
    else:
        miss = total / max(1.0, hits + misses)
    of_hits = max(0.0, total - misses * miss) if hits else 0.0
    return of_hits, misses * miss


def _value(platform: Platform, key: str, default: int) -> int:
    found = platform.values.get(key)
    return default if found is None else int(found.value)


# Points, and their rows.


@dataclass(frozen=True)
class Measured:
    """A variant under one layout: its cell, P's under the same one, (H, M, C) by input, R_ideal in cycles.

    ``asked``: the design as the bracket asks for it; None without numbers.
    """

    variant: Variant
    changes: Mapping[str, int | str]
    cell: Cell
    base: Cell | None
    x: Mapping[str, DeclaredInput]
    ideal: float
    asked: ChangedCounts | None = None

    @property
    def ok(self) -> bool:
        return is_ok(self.cell.status) and self.base is not None and is_ok(self.base.status)

    @property
    def judged(self) -> bool:
        return self.ok and rules.matters(self.base.runtime, self.ideal)


def point_of_cell(
    variant: Variant,
    platform: Platform,
    base_platform: Platform,
    cell: Cell,
    base: Cell | None,
    ideal: float,
) -> Measured:
    """A point; without numbers if the cell or P's is not ok."""
    changes = variant.changes(base_platform)
    if not is_ok(cell.status):
        return Measured(variant, changes, cell, base, {}, ideal)
    counts = cell.row, cell.structures, platform, base_platform
    return Measured(variant, changes, cell, base, declared(*counts), ideal, asked(*counts))


def point_key(point: Measured, inputs: str) -> dict:
    """Columns that name a point and an input."""
    return {
        "group": point.variant.group, "variant": point.variant.name, "layout": point.cell.layout,
        "inputs": inputs,
    }  # fmt: skip


def point_rows(point: Measured) -> list[dict]:
    """Rows of the table of points; one without numbers if the simulator rejected it."""
    head = {
        "family": point.variant.family, "status": point.cell.status, "message": point.cell.message,
        "changes": text_of_changes(point.changes),
    }  # fmt: skip
    if not point.ok:
        if is_ok(point.cell.status):
            head |= {"status": "failed", "message": "P has no cell under this mapping"}
        return [point_key(point, DECLARED_INPUTS[0]) | head]
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
    for inputs in DECLARED_INPUTS:
        H, M, C = point.x[inputs]
        found.append(
            point_key(point, inputs) | head | {"stlb_hits": H, "stlb_misses": M, "walk_cycles": C} | counted
        )
    return found
