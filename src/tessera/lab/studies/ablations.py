"""The ablations: effects of a mechanism on the slope and the curvature of runtime over walk cycles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import pandas as pd
from scipy.special import stdtr

from tessera.core.errors import TesseraError
from tessera.core.layouts.layout import ALL_2MB, ALL_4KB
from tessera.core.platforms import Platform
from tessera.core.results.outcomes import is_ok, note_of_all, other_rows
from tessera.core.results.study_tables import SHAPES, VARIANTS
from tessera.core.results.table_io import frame_of
from tessera.fit.evaluation.accuracy import relative_errors
from tessera.fit.models.registry import create
from tessera.fit.models.samples import Samples, check_samples
from tessera.lab.studies import variations
from tessera.lab.studies.placements import inputs_under_layouts
from tessera.lab.study import Inputs, Names, Recording, Run, study
from tessera.simulate.runner import CellCache, simulate_each
from tessera.simulate.sampling import Plan, parse_sampling

# How runtime depends on walk cycles: slope and curvature of R over C, from the layouts of one platform.
#
# - ``slope``: least squares over all layouts (MICRO'20 section VII-A); ``slope_two_point``: the line through
#   the 4KB and the 2MB run (section III, Yaniv).
# - ``curvature``: the quadratic coefficient of poly2, with C as a share of its range and R as a share of its
#   range. Positive: the more walk cycles there are, the more each costs. 1 means that the slope changes by
#   twice the mean slope from the least to the greatest C.
# - ``curvature_p``: two-sided p of that coefficient (t-test of ordinary least squares). Layouts are no
#   random sample and residuals are no noise: it only says how the bend compares with the scatter about it.


@dataclass(frozen=True)
class Shape:
    """Numbers of the text above; NaN where the layouts do not determine one. Errors are fractions of R."""

    layouts: int
    walk_cycles_least: float
    walk_cycles_greatest: float
    slope: float
    slope_two_point: float
    slope_at_least: float
    slope_at_greatest: float
    curvature: float
    curvature_p: float
    linear_max_error: float
    quadratic_max_error: float


#: a bend of up to so many rounding errors of R is none
_ROUNDINGS = 64


def shape(samples: Samples) -> Shape:
    """Slope and curvature of R over C."""
    linear, quadratic, line = (_fit(name, samples) for name in ("poly1", "poly2", "yaniv"))
    bend, p = curvature(samples.C, samples.R)
    least, greatest = float(samples.C.min()), float(samples.C.max())

    def slope_at(c: float) -> float:
        return quadratic.get("C", np.nan) + 2 * quadratic.get("C^2", np.nan) * c

    return Shape(
        len(samples), least, greatest,
        linear.get("C", np.nan), line.get("C", np.nan), slope_at(least), slope_at(greatest), bend, p,
        _max_error("poly1", samples), _max_error("poly2", samples),
    )  # fmt: skip


def curvature(C: np.ndarray, R: np.ndarray) -> tuple[float, float]:
    """(coefficient, p) of the square of C in R, both scaled to their ranges; NaN without 4 different C."""
    if len(np.unique(C)) < 4 or np.ptp(R) == 0:
        return float("nan"), float("nan")
    x, y = (C - C.min()) / np.ptp(C), (R - R.min()) / np.ptp(R)
    design = np.column_stack([np.ones_like(x), x, x * x])
    weights, *_ = np.linalg.lstsq(design, y, rcond=None)
    rounding = np.finfo(float).eps * np.abs(R).max() / np.ptp(R)  # of one y
    if abs(weights[2]) <= _ROUNDINGS * rounding:  # a line to working precision
        return 0.0, 1.0
    residual, freedom = y - design @ weights, len(x) - 3
    variance = residual @ residual / freedom * np.linalg.inv(design.T @ design)[2, 2]
    if variance <= (1e-12 * max(1.0, abs(weights[2]))) ** 2:  # a parabola to working precision
        return float(weights[2]), 0.0
    return float(weights[2]), float(2 * stdtr(freedom, -abs(weights[2]) / np.sqrt(variance)))


def _fit(model: str, samples: Samples) -> dict[str, float]:
    try:
        return create(model).fit(samples).coefficients_
    except TesseraError:  # the layouts don't determine it: NaN in the table
        return {}


def _max_error(model: str, samples: Samples) -> float:
    try:
        fitted = create(model).fit(samples)
    except TesseraError:
        return float("nan")
    return float(relative_errors(samples.R, fitted.predict(samples.H, samples.M, samples.C)).max())


# Cells and shapes of all ablations.
#
# Each ablation of :data:`tessera.lab.studies.variations.ABLATIONS` is simulated under the same layouts with
# the same samples as the baseline. Only the switches of one mechanism change. So H and M are equal in all of
# them. C is, too, except in the variants that say otherwise
# (:attr:`~tessera.lab.studies.variations.Ablation.walks`).

CHEAP_PLAN = parse_sampling("units=10,warmup_accesses=500000,timed_instructions=500000")
#: program loads that the 4KB run has more than the 2MB run, at each level (MICRO'20 Table 7 compares them)
EXTRA_LOADS = ("extra_l2_loads", "extra_l3_loads", "extra_dram_loads")
HEAD = ("workload", "platform", "variant", "provenance")


@study(SHAPES, VARIANTS, failed={"variant": variations.BASELINE})
def ablations(
    run: Run,
    trace: Recording,
    manifest: Path,
    platform: Platform,
    cache: CellCache,
    layouts: Names = (),
    sampling: Plan = CHEAP_PLAN,
    only: Annotated[Names, variations.named_ablation] = (),
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Switch off one mechanism at a time; report slope and curvature of runtime over walk cycles.

    docs/explain/studies.md lists the ablations. The baseline is always simulated, too. cells.csv has every
    cell.

    Example, after ./run smoke:
      ./run tessera lab run ablations platform=sandybridge-sim --out /tmp/study \\
        trace=results/smoke/studies/windows/gups-1500000/info.json \\
        manifest=results/smoke/layouts/gups/sandybridge-sim/manifest.csv

    Args:
        trace: trace (.tst), or info.json of a recording or window.
        manifest: manifest.csv of its layouts.
        platform: name or YAML file.
        layouts: those to simulate; default: all but 1gb.
        sampling: plan (tessera simulate --help).
        only: names of ablations; default: all.
        cache: folder of finished simulations; default: .cache beside the tables.
    """
    inputs = inputs_under_layouts(run, trace, manifest, platform, cache, layouts, sampling)
    table = simulate_variants(inputs, only)
    return shapes(table), table


def simulate_variants(inputs: Inputs, only: Sequence[str] = ()) -> pd.DataFrame:
    """The table :data:`VARIANTS` of every ablation, or of those in ``only`` and the baseline.

    All variants are simulated in one run. A rejected one gives ``failed`` rows.
    """
    asked = variations.named_ablation(only)
    found: dict[str, list[dict] | TesseraError] = {}
    platforms: dict[str, Platform] = {}
    for variant in asked:
        try:
            why = f"ablation: {variant.sentence}"
            platforms[variant.name] = variations.varied(inputs.platform, variant.changes, why)
        except TesseraError as error:
            found[variant.name] = error
    cells = simulate_each(inputs.trace, list(platforms.values()), list(inputs.files), **inputs.options)
    found |= dict(zip(platforms, cells, strict=True))
    rows = []
    for variant in asked:
        cells = found[variant.name]
        if isinstance(cells, TesseraError):
            cells = _failed_cells(inputs, cells.sentence)
        rows += [{"variant": variant.name} | row for row in cells]
    return frame_of(VARIANTS, rows)


def shapes(table: pd.DataFrame) -> pd.DataFrame:
    """:data:`SHAPES`, a row per workload, platform and variant of a table of :data:`VARIANTS`.

    A variant whose H, M or C differ from the baseline's is ``failed``: it changed more than its mechanism.
    """
    rows = []
    walks = {variant.name for variant in variations.ABLATIONS if variant.walks}
    for _, pair in table.groupby(["workload", "platform"], sort=False):
        base = _counts(pair[pair["variant"] == variations.BASELINE])
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


def _row(keys: tuple[str, str, str], part: pd.DataFrame) -> dict:
    row = dict(zip(("workload", "platform", "variant"), keys, strict=True)) | {"provenance": "simulated"}
    bad = other_rows(part)
    if len(bad):
        return row | {"status": "failed", "message": bad["message"].iloc[0]}
    try:
        found = shape(check_samples(part.drop(columns="variant")).fitted)
    except TesseraError as error:
        return row | {"status": "failed", "message": error.problem}
    note = note_of_all(part["message"])
    return row | {"status": "ok", "message": note} | asdict(found) | _extra(part.set_index("layout"))


def _extra(part: pd.DataFrame) -> dict[str, float]:
    level = {name: f"program_{name.removeprefix('extra_')}" for name in EXTRA_LOADS}
    return {
        name: float(part.loc[ALL_4KB, column] - part.loc[ALL_2MB, column]) for name, column in level.items()
    }


def _failed_cells(inputs: Inputs, message: str) -> list[dict]:
    head = inputs.pair | {"repeat": 0, "status": "failed", "message": message}
    return [head | {"layout": path.stem, "engine": "timing"} for path in inputs.files]


# MICRO'20's explanations of steep and bent curves, and whether an ablation removes the effect.
#
# The paper calls its explanation in section VII-A probable, and derives that of section VII-B from the shape
# of the curves. A simulator can switch the cause off. The *cases* of a hypothesis are the pairs that show
# the effect. A case *supports* it if the ablation at least halves the effect or, for a threshold, removes
# it.

SIGNIFICANT = 0.05  #: p of the bend
HALF = 0.5


@dataclass(frozen=True)
class Hypothesis:
    """``case`` and ``supported`` judge (baseline row, ablation row) of one workload and platform."""

    section: str
    statement: str
    variant: str
    test: str
    case: Callable[[pd.Series], bool]
    supported: Callable[[pd.Series, pd.Series], bool]


def _bends(base: pd.Series) -> bool:
    return base["curvature"] > 0 and base["curvature_p"] < SIGNIFICANT


def _bend_halved(base: pd.Series, other: pd.Series) -> bool:
    return other["curvature"] <= HALF * base["curvature"]


HYPOTHESES: tuple[Hypothesis, ...] = (
    Hypothesis(
        "MICRO'20 VII-A",
        "With 4KB pages the program loads more often from L3, because page-table entries evict its lines.",
        "no-pollution",
        "the program's extra L3 loads (4KB less 2MB) fall to half or less",
        lambda base: base["extra_l3_loads"] > 0,
        lambda base, other: other["extra_l3_loads"] <= HALF * base["extra_l3_loads"],
    ),
    Hypothesis(
        "MICRO'20 VII-A",
        "That interference is why a walk cycle can cost more than a cycle (slope above 1).",
        "no-pollution",
        "a slope above 1 falls to 1 or less",
        lambda base: base["slope"] > 1,
        lambda base, other: other["slope"] <= 1,
    ),
    Hypothesis(
        "MICRO'20 VII-B",
        "R bends upwards because the pipeline hides a few walk cycles better than many.",
        "no-overlap",
        "a significant upward bend falls to half or less",
        _bends,
        _bend_halved,
    ),
    Hypothesis(
        "MICRO'20 VII-B",
        "R bends upwards because page-table entries of many walks compete with the program for the caches.",
        "no-pollution",
        "a significant upward bend falls to half or less",
        _bends,
        _bend_halved,
    ),
    Hypothesis(
        "ours",
        "R bends upwards because many walks have to wait for a free walker.",
        "infinite-walkers",
        "a significant upward bend falls to half or less",
        _bends,
        _bend_halved,
    ),
)


def judged_hypotheses(shapes: pd.DataFrame) -> list[dict]:
    """A row per hypothesis: its text, ``cases``, ``supported``, and the pairs of both kinds."""
    rows = []
    pairs = {pair: part.set_index("variant") for pair, part in shapes.groupby(["workload", "platform"])}
    for one in HYPOTHESES:
        cases, kept = [], []
        for (workload, platform), part in pairs.items():
            if not {"baseline", one.variant} <= set(part.index) or not one.case(part.loc["baseline"]):
                continue
            cases.append(f"{workload} on {platform}")
            if one.supported(part.loc["baseline"], part.loc[one.variant]):
                kept.append(cases[-1])
        rows.append(
            {
                "section": one.section, "statement": one.statement, "variant": one.variant, "test": one.test,
                "cases": len(cases), "supported": len(kept), "pairs": kept,
                "against": [name for name in cases if name not in kept],
            }
        )  # fmt: skip
    return rows
