"""The three inputs that a study can declare: what H and C count (docs/transfer.md, Three inputs)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tessera.fit.models.bracket import Design
from tessera.judge.studies.transfer.classes import DESIGN, HIT, OWN_HIT, WALKERS
from tessera.platforms import Platform

COUNTED, LATENCY, BUSY = INPUTS = ("counted", "latency", "busy")
BACKGROUND = "background"
#: Designs that list look-ups of a second level of their own; others have the STLB of P.
DELAYED, SEGMENTS = "hvc-delayed-tlb", "hvc-many-segment"
_DELAYED_CYCLES = ("design.hvc-delayed-tlb.delayed_cycles", 7)


@dataclass(frozen=True)
class Point:
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
) -> dict[str, Point]:
    """Input -> (H, M, C) of a cell of ``platform``, a variant of ``base``."""
    hits, misses, cycles = (float(row[name]) for name in ("stlb_hits", "stlb_misses", "walk_cycles"))
    latency = look_up_cycles(hits, misses, structures, platform)[0] / int(base.values[HIT].value)
    return {
        COUNTED: Point(hits, misses, cycles),
        LATENCY: Point(latency, misses, cycles),
        BUSY: Point(hits, misses, cycles + background_cycles(structures)),
    }


def asked(row: Mapping, structures: Sequence[Mapping], platform: Platform, base: Platform) -> Design:
    """The design of a cell as the bracket asks for it: H by latency, busy C, longer look-ups of misses."""
    hits, misses, cycles = (float(row[name]) for name in ("stlb_hits", "stlb_misses", "walk_cycles"))
    of_hits, of_misses = look_up_cycles(hits, misses, structures, platform)
    of_p = int(base.values[HIT].value)
    return Design(
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
