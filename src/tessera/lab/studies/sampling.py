"""The sampling study: intervals that methods choose, and full simulation beside what sampling makes of it."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.random_projection import GaussianRandomProjection

from tessera.core.errors import TesseraError
from tessera.core.layouts.layout import ALL_2MB, ALL_4KB, canonical_name
from tessera.core.platforms import Platform
from tessera.core.results.study_tables import INTERVALS, SAMPLING
from tessera.core.results.table_io import frame_of
from tessera.lab.studies import intervals
from tessera.lab.studies.intervals import (
    QUANTITIES,
    BlockVectors,
    Estimate,
    block_vectors,
    covering,
    unit_counts,
)
from tessera.lab.studies.placements import inputs_under_layouts
from tessera.lab.study import Inputs, Names, Recording, Run, Seed, Texts, study
from tessera.simulate.runner import CellCache, trace_note
from tessera.simulate.sampling import PLAN, Plan, parse_sampling

# Which intervals of a window a sampling method simulates, and what share of all each stands for.
#
# A window of n intervals of (about) equal length; every method may simulate k of them. The methods:
#
# - ``systematic``: k intervals at even distances (ours);
# - ``blind-first``, ``blind-middle``: one contiguous part, the practice that MICRO'20 section II-C
#   describes;
# - ``clustered``: basic-block vectors, projected to 15 dimensions, k-means; the interval nearest to each
#   centre stands for its cluster (Sherwood et al., ASPLOS 2002). MICRO'20 warns that this misses rare
#   events. Two differences: k is given by the cost, not chosen by a criterion; among intervals equally near
#   to the centre the middle one is taken, not the first.

DIMENSIONS = 15  #: of the projected vectors, as SimPoint
RESTARTS = 5


@dataclass(frozen=True)
class Places:
    """Interval numbers (k,) in ascending order and their shares (k,), which sum to 1."""

    method: str
    intervals: np.ndarray
    shares: np.ndarray


def systematic(instructions: np.ndarray, k: int) -> Places:
    """The middles of k equal stretches of the n intervals."""
    n = len(instructions)
    return _equal("systematic", np.unique(((np.arange(k) + 0.5) * n / k).astype(int)), instructions)


def blind(instructions: np.ndarray, k: int, where: str) -> Places:
    """k intervals in a row, at the ``first`` or in the ``middle``."""
    start = 0 if where == "first" else (len(instructions) - k) // 2
    return _equal(f"blind-{where}", np.arange(start, start + k), instructions)


def clustered(vectors: np.ndarray, instructions: np.ndarray, k: int, seed: int) -> Places:
    """One interval per cluster of the block vectors (n, blocks), weighted by the cluster's instructions.

    Fewer than k intervals come back when fewer vectors differ.
    """
    shares = vectors / vectors.sum(axis=1, keepdims=True)
    if shares.shape[1] > DIMENSIONS:
        shares = GaussianRandomProjection(DIMENSIONS, random_state=seed).fit_transform(shares)
    k = min(k, len(np.unique(np.round(shares, 12), axis=0)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = KMeans(k, n_init=RESTARTS, random_state=seed).fit(shares)
    picked, weights = [], []
    for cluster in range(k):
        members = np.flatnonzero(found.labels_ == cluster)
        if len(members) == 0:
            continue
        distance = np.linalg.norm(shares[members] - found.cluster_centers_[cluster], axis=1)
        nearest = members[distance <= distance.min() + 1e-9]
        picked.append(nearest[len(nearest) // 2])
        weights.append(instructions[members].sum())
    order = np.argsort(picked)
    weights = np.asarray(weights, dtype=float)[order]
    return Places("clustered", np.asarray(picked)[order], weights / weights.sum())


def all_methods(vectors: np.ndarray, instructions: np.ndarray, k: int, seed: int) -> list[Places]:
    """Every method at the cost of k intervals (all of them, if there are fewer)."""
    k = min(k, len(instructions))
    return [
        systematic(instructions, k),
        blind(instructions, k, "middle"),
        blind(instructions, k, "first"),
        clustered(vectors, instructions, k, seed),
    ]


def _equal(method: str, intervals: np.ndarray, instructions: np.ndarray) -> Places:
    own = instructions[intervals].astype(float)
    return Places(method, intervals, own / own.sum())


# Errors of sampling.
#
# MICRO'20 section II-C: simulations are usually sampled blindly, and whether any sampling is good enough for
# virtual memory is open. What counts here are differences between layouts, so errors of differences are
# given relative to the full gain (4KB to 2MB pages) beside the errors of the totals.
#
# The truth is a full simulation, cut into intervals. A method that simulates some intervals gets their
# counts from it, so with exactly right contents of TLBs and caches: what is left of its error is the choice
# of places alone. The plans are simulated as the pipeline does, with warm-up; their M is counted over all of
# the window.


@study(SAMPLING, INTERVALS, failed={})
def sampling(
    run: Run,
    trace: Recording,
    manifest: Path,
    platform: Platform,
    cache: CellCache,
    layouts: Names = (ALL_4KB, "growing-4", ALL_2MB, "sliding-40-4"),
    plans: Texts = (PLAN,),
    seed: Seed = 1,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Compare sampling methods (systematic, blind, clustered) with the full simulation of a window.

    Every method may simulate as many units and timed instructions as the first plan. Reports errors of
    totals, and errors of differences between layouts, relative to the gain from 4KB to 2MB pages in the full
    simulation. intervals.csv has every interval of the full simulation.

    Example, after ./run smoke:
      ./run tessera lab run sampling platform=sandybridge-sim --out /tmp/study \\
        trace=results/smoke/studies/windows/gups-1500000/info.json \\
        manifest=results/smoke/layouts/gups/sandybridge-sim/manifest.csv \\
        layouts=growing-0,growing-4,growing-8 plans=units=4,warmup_accesses=100000,timed_instructions=200000

    Args:
        trace: trace (.tst), or info.json of a recording or window.
        manifest: manifest.csv of its layouts.
        platform: name or YAML file.
        layouts: those to simulate, growing-0 and growing-8 among them.
        plans: sampling plans (tessera simulate --help).
        seed: of projection and clustering.
        cache: folder of finished simulations; default: .cache beside the tables.

    Returns:
        tables :data:`SAMPLING` and :data:`INTERVALS` of :mod:`tessera.core.results.study_tables`.

    Raises:
        TesseraError: the anchors ``growing-0`` and ``growing-8`` are not among the layouts, a plan is not
            of the form ``units=..``, or a simulation failed.
    """
    inputs = inputs_under_layouts(run, trace, manifest, platform, cache, layouts)
    return sampling_tables(inputs, plans, seed)


def sampling_tables(
    inputs: Inputs, plan_texts: Sequence[str], seed: int
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The tables of :func:`sampling`; ``inputs.sampling`` is not used."""
    names = [canonical_name(path.stem) for path in inputs.files]
    if missing := [name for name in (ALL_4KB, ALL_2MB) if name not in names]:
        raise TesseraError(
            f"sampling study of {inputs.workload}",
            f"no layout {', '.join(missing)}",
            "add it to the layouts",
        )
    plans = [parse_sampling(text) for text in plan_texts]
    if not plans or not all(plan.units for plan in plans):
        raise TesseraError(
            "sampling study", "no plan is given, or one is `full`", "give plans as units=..,.."
        )
    first = plans[0]
    inputs.say(f"{inputs.workload}: intervals of {first.timed_instructions} instructions")
    vectors = block_vectors(inputs.trace, first.timed_instructions)
    inputs.say(f"{inputs.workload}: full simulation in {len(vectors)} intervals")
    full = _simulated(inputs, covering(vectors))
    truth = full.groupby("layout")[[*QUANTITIES.values(), "instructions"]].sum()
    chosen = all_methods(vectors.vectors, vectors.instructions, first.units, seed)
    rows = [row for place in chosen for row in from_places(place, full, truth)]
    for plan in plans:
        inputs.say(f"{inputs.workload}: {plan.argument()}")
        rows += from_plan(_simulated(inputs, plan), truth, plan.warmup_accesses)
    about = inputs.pair | {
        "status": "ok", "message": trace_note(inputs.trace), "window_accesses": int(vectors.accesses.sum()),
        "window_instructions": int(vectors.instructions.sum()), "provenance": "simulated",
    }  # fmt: skip
    errors = frame_of(SAMPLING, [about | row for row in rows])
    return errors, _intervals(inputs, full, vectors, chosen)


def _simulated(inputs: Inputs, plan: Plan) -> pd.DataFrame:
    return unit_counts(replace(inputs, sampling=plan))


def from_places(place: Places, full: pd.DataFrame, truth: pd.DataFrame) -> list[dict]:
    """Errors of a method that simulates some intervals of ``full`` with perfect contents."""
    picked = full[full["unit"].isin(place.intervals)].sort_values("unit")
    estimated, cost = {}, 0
    for layout, part in picked.groupby("layout"):
        cost = int(part["instructions"].sum())
        for symbol, column in QUANTITIES.items():
            total = truth.loc[layout, "instructions"]
            estimated[symbol, layout] = intervals.weighted_estimate(
                part[column], part["instructions"], place.shares, total
            )
    about = {"method": place.method, "warmup": "perfect", "timed_instructions": cost}
    return [about | {"intervals": len(place.intervals)} | row for row in _judge(estimated, {}, truth)]


def from_plan(units: pd.DataFrame, truth: pd.DataFrame, warmup_accesses: int) -> list[dict]:
    """Errors of systematic samples with their own warm-up; H and M are exact there, so only R and C."""
    estimated, differences, cost, count = {}, {}, 0, 0
    base = units[units["layout"] == ALL_4KB].set_index("unit")
    for layout, part in units.groupby("layout"):
        part, total = part.set_index("unit"), truth.loc[layout, "instructions"]
        cost, count = int(part["instructions"].sum()), len(part)
        for symbol in ("R", "C"):
            column = QUANTITIES[symbol]
            estimated[symbol, layout] = intervals.ratio_estimate(part[column], part["instructions"], total)
            differences[symbol, layout] = intervals.ratio_estimate(
                part[column] - base[column], part["instructions"], total
            )
    about = {"method": "systematic", "warmup": f"{warmup_accesses} accesses", "timed_instructions": cost}
    return [about | {"intervals": count} | row for row in _judge(estimated, differences, truth)]


def _judge(
    estimated: dict[tuple[str, str], Estimate],
    differences: dict[tuple[str, str], Estimate],
    truth: pd.DataFrame,
) -> list[dict]:
    rows = []
    for (symbol, layout), found in estimated.items():
        column = QUANTITIES[symbol]
        true = float(truth.loc[layout, column])
        gain = abs(float(truth.loc[ALL_2MB, column] - truth.loc[ALL_4KB, column]))
        true_difference = true - float(truth.loc[ALL_4KB, column])
        plain = Estimate(found.value - estimated[symbol, ALL_4KB].value)
        difference = differences.get((symbol, layout), plain)
        off = difference.value - true_difference
        rows.append(
            {
                "layout": layout, "quantity": symbol, "truth": true, "estimate": found.value,
                "ci95": found.ci95, "error": (found.value - true) / true if true else None,
                "covers": found.covers(true),
                "true_difference": true_difference, "estimated_difference": difference.value,
                "difference_ci95": difference.ci95, "difference_error": off / gain if gain else None,
                "difference_covers": None if layout == ALL_4KB else difference.covers(true_difference),
            }
        )  # fmt: skip
    return rows


def _intervals(
    inputs: Inputs, full: pd.DataFrame, vectors: BlockVectors, chosen: list[Places]
) -> pd.DataFrame:
    table = full.rename(columns={"unit": "interval"})
    table["methods"] = table["interval"].map(
        lambda i: " ".join(place.method for place in chosen if i in place.intervals)
    )
    about = inputs.pair | {"provenance": "simulated"}
    return table.assign(**about)[list(INTERVALS.names)]
