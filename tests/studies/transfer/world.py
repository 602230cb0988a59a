"""A world without a simulator: R of P is a known function of H, M, C, and variants change known things."""

from __future__ import annotations

from pathlib import Path

from tessera.core import platforms
from tessera.core.errors import TesseraError
from tessera.lab.transfer import runs as simulated
from tessera.lab.transfer import study
from tessera.lab.transfer.classes import chosen
from tessera.lab.transfer.runs import Units
from tessera.simulate.runner import CellCache
from tessera.simulate.sampling import Intervals

P = platforms.load_platform("haswell-sim")
LAYOUTS = [f"growing-{i}" for i in range(9)] + [f"random-{i}" for i in range(9)]
MOSAICS = [f"mosaic-{i}" for i in range(40)]
NEW = ["new-0", "new-1"]
#: layout -> share of the misses that it leaves, and a second number that makes H and C independent of it
SHARES = {f"growing-{i}": (1 - i / 8, i % 3) for i in range(9)}
SHARES |= {f"random-{i}": (((5 * i + 2) % 9) / 9, (i * i) % 4) for i in range(9)}
SHARES |= {f"mosaic-{i}": (i / 39, i % 4) for i in range(40)}
SHARES |= {"new-0": (0.31, 1), "new-1": (0.77, 2), "medium": (0.9, 2), "high": (0.2, 1)}
IDEAL_CYCLES = 100_000_000
UNIT_COUNT = 4
#: how much slower R is with twice the walkers: the gap of the exact twins of `invisible`
SLOWER = 1.1


def counts(name: str) -> tuple[float, float, float]:
    """H, M, C of P."""
    share, other = SHARES[name]
    misses = 1e6 * share
    return 1e6 * (1 - share) + 1e4 * other, misses, 100 * misses + 3e5 * other


def runtime(H: float, M: float, C: float) -> float:
    """R of P: a plane."""
    return IDEAL_CYCLES + 7 * H + 3 * M + 2 * C


def fake_simulate(trace, platform, files, *, units, structures, kind, engine, **options):
    value = {key: platform.values[key].value for key in ("mmu.design", "walker.count", "tlb.stlb.entries")}
    if value["mmu.design"] == "hvc-many-segment":
        raise TesseraError("mmu.design", "the mapping has 9999 chunks", "another mapping", exit_code=2)
    rows = []
    for file in files:
        H, M, C = counts(file.stem)
        if value["tlb.stlb.entries"] == 2 * P.values["tlb.stlb.entries"].value:
            H, M, C = H + M / 2, M / 2, C - 50 * M  # half of the misses become hits
        if value["mmu.design"] == "hvc-delayed-tlb":
            R = 1.5 * runtime(H, M, C)
        elif value["mmu.design"] == "ideal":
            H, M, C, R = 0, 0, 0, IDEAL_CYCLES
        else:
            R = runtime(H, M, C) * (SLOWER if value["walker.count"] == 2 else 1)
        if value["mmu.design"] == "anchor":
            head = {"platform": platform.name, "layout": file.stem, "hits": 0}
            structures += [
                head | {"structure": "regular", "accesses": H + M, "lookup_cycles": 7.5 * H + 8 * M,
                        "background_cycles": None},
                head | {"structure": "background", "accesses": 9, "lookup_cycles": None,
                        "background_cycles": 5000},
            ]  # fmt: skip
        rows.append(
            {
                "layout": file.stem, "status": "ok", "message": "", "stlb_hits": H, "stlb_misses": M,
                "walk_cycles": C, "runtime_cycles": R if engine == "timing" else None,
                "instructions": 1000 * UNIT_COUNT, "accesses": 999,
            }
        )  # fmt: skip
        units += [
            {"platform": platform.name, "layout": file.stem, "unit": i, "instructions": 1000,
             "runtime_cycles": R / UNIT_COUNT}
            for i in range(UNIT_COUNT)
        ]  # fmt: skip
    return rows


def files(names) -> list[Path]:
    return [Path(f"{name}.csv") for name in names]


def subject_of(monkeypatch, variants, ladders=False, models=("basu", "poly1", "mosmodel")) -> study.Subject:
    """P in this world; `units` and layouts are made up."""
    monkeypatch.setattr(simulated, "simulate_platform", fake_simulate)
    monkeypatch.setattr(study, "random_layouts", lambda *of: (files(NEW), files(MOSAICS)))
    runs = simulated.Runs(
        "made", Path("t.tst"), Units(Intervals.of([]), UNIT_COUNT, 999, 99), CellCache(None)
    )
    maps = {"medium": Path("medium.csv"), "high": Path("high.csv")}
    return study.Subject(
        runs, P, files(LAYOUTS), maps, chosen(names=variants), models, Path("."), 40, 1, ladders, 50
    )
