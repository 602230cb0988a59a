"""The ablations: effects of a mechanism on the slope and the curvature of runtime over walk cycles.

Each ablation of :data:`tessera.judge.studies.variants.ABLATIONS` is simulated under the same layouts with the
same samples as the baseline. Only the switches of one mechanism change. So H and M are equal in all of them.
C is, too, except in the variants that say otherwise (:attr:`~tessera.judge.studies.variants.Variant.walks`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

import pandas as pd

from tessera.core.errors import TesseraError
from tessera.fit.models.samples import check_table
from tessera.judge.studies import shape, variants
from tessera.layouts.names import ALL_2MB, ALL_4KB
from tessera.platforms import Platform
from tessera.results.schema.studies import SHAPES, VARIANTS
from tessera.results.status import is_ok, other_rows
from tessera.results.trace_notes import note_of_all
from tessera.results.write import frame_of
from tessera.simulate.cache import CellCache
from tessera.simulate.plan import Sampling
from tessera.simulate.runner import simulate_each

ENGINE = "timing"
#: program loads that the 4KB run has more than the 2MB run, at each level (MICRO'20 Table 7 compares them)
EXTRA_LOADS = ("extra_l2_loads", "extra_l3_loads", "extra_dram_loads")
HEAD = ("workload", "platform", "variant", "provenance")


def simulate_variants(
    workload: str,
    trace: Path,
    platform: Platform,
    layouts: list[Path],
    sampling: Sampling,
    cache: CellCache,
    progress: Callable[[str], None] = lambda line: None,
    only: Sequence[str] = (),
) -> pd.DataFrame:
    """Cells of every ablation (:data:`VARIANTS`), or of those in ``only`` and the baseline.

    All variants are simulated in one run. A rejected one gives ``failed`` rows.
    """
    asked = variants.named(only)
    found: dict[str, list[dict] | TesseraError] = {}
    platforms: dict[str, Platform] = {}
    for variant in asked:
        try:
            why = f"ablation: {variant.sentence}"
            platforms[variant.name] = variants.varied(platform, variant.changes, why)
        except TesseraError as error:
            found[variant.name] = error
    cells = simulate_each(
        trace, list(platforms.values()), layouts,
        workload=workload, engine=ENGINE, sampling=sampling, cache=cache, progress=progress,
    )  # fmt: skip
    found |= dict(zip(platforms, cells, strict=True))
    rows = []
    for variant in asked:
        cells = found[variant.name]
        if isinstance(cells, TesseraError):
            message = f"{cells.asked}: {cells.found}; {cells.remedy}"
            cells = _failed_cells(workload, platform.name, layouts, message)
        rows += [{"variant": variant.name} | row for row in cells]
    return frame_of(VARIANTS, rows)


def shapes(table: pd.DataFrame) -> pd.DataFrame:
    """:data:`SHAPES`, a row per workload, platform and variant of a table of :data:`VARIANTS`.

    A variant whose H, M or C differ from the baseline's is ``failed``: it changed more than its mechanism.
    """
    rows = []
    walks = {variant.name for variant in variants.ABLATIONS if variant.walks}
    for _, pair in table.groupby(["workload", "platform"], sort=False):
        base = _counts(pair[pair["variant"] == variants.BASELINE])
        for keys, part in pair.groupby(["workload", "platform", "variant"], sort=False):
            row = _row(keys, part)
            kept = ["stlb_hits", "stlb_misses"] + ["walk_cycles"] * (keys[-1] not in walks)
            own, known = _counts(part)[kept], base[kept]
            if is_ok(row) and known.notna().all(axis=None) and not own.equals(known):
                off = int((own != known.reindex(own.index)).any(axis=1).sum())
                which = "H, M or C" if "walk_cycles" in kept else "H or M"
                message = f"{which} differ from the baseline's in {off} of {len(own)} layouts"
                row = {name: row[name] for name in HEAD} | {"status": "failed", "message": message}
            rows.append(row)
    return frame_of(SHAPES, rows)


def _counts(part: pd.DataFrame) -> pd.DataFrame:
    return part.set_index("layout")[["stlb_hits", "stlb_misses", "walk_cycles"]].astype(float)


def failed(workload: str, platform: str, message: str) -> pd.DataFrame:
    """One row that says why there is no ablation."""
    row = {"workload": workload, "platform": platform, "variant": variants.BASELINE}
    return frame_of(SHAPES, [row | {"status": "failed", "message": message}])


def _row(keys: tuple[str, str, str], part: pd.DataFrame) -> dict:
    row = dict(zip(("workload", "platform", "variant"), keys, strict=True)) | {"provenance": "simulated"}
    bad = other_rows(part)
    if len(bad):
        return row | {"status": "failed", "message": bad["message"].iloc[0]}
    try:
        found = shape.shape(check_table(part.drop(columns="variant")).fitted)
    except TesseraError as error:
        return row | {"status": "failed", "message": f"{error.asked}: {error.found}"}
    note = note_of_all(part["message"])
    return row | {"status": "ok", "message": note} | asdict(found) | _extra(part.set_index("layout"))


def _extra(part: pd.DataFrame) -> dict[str, float]:
    level = {name: f"program_{name.removeprefix('extra_')}" for name in EXTRA_LOADS}
    return {
        name: float(part.loc[ALL_4KB, column] - part.loc[ALL_2MB, column]) for name, column in level.items()
    }


def _failed_cells(workload: str, platform: str, layouts: list[Path], message: str) -> list[dict]:
    head = {"workload": workload, "platform": platform, "repeat": 0, "status": "failed", "message": message}
    return [head | {"layout": path.stem, "engine": ENGINE} for path in layouts]
