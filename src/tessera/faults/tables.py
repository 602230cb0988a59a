"""Rows of the tables of a measurement (``tessera.results.schema.faults``)."""

from __future__ import annotations

from dataclasses import asdict
from itertools import pairwise

import numpy as np

from tessera.faults.comb import comb
from tessera.faults.conditions import Environment
from tessera.faults.cosine import clipped, cosine, with_constant
from tessera.faults.quantiles import quantiles
from tessera.faults.series import Pass, Series

MEASURED = {"provenance": "measured"}


def latency_rows(series: Series) -> list[dict]:
    """A row for each quantile; none if no pass counts."""
    counted = [one.kept for one in series.counted]
    if not counted:
        return []
    return [
        {
            "kind": series.kind.name, "share": one.share, "tsc_cycles": one.median,
            "low_cycles": one.low, "high_cycles": one.high, "ns": 1e9 * one.median / series.hertz,
            "passes": len(counted), **MEASURED,
        }
        for one in quantiles(counted)
    ]  # fmt: skip


def comb_rows(series: Series) -> list[dict]:
    """A row for each comb that the kind can have; none if no pass counts."""
    counted = [one.cycles for one in series.counted]
    rows = []
    for teeth in series.kind.teeth if counted else ():
        found = comb(counted, teeth)
        rows.append(
            {
                "kind": series.kind.name, "reason": teeth.reason, "period": teeth.period,
                "asked": found.asked, "hits": found.hits, "chance": found.chance,
                "extra_cycles": found.extra, **MEASURED,
            }
        )  # fmt: skip
    return rows


def pass_rows(series: Series) -> list[dict]:
    """A row for each pass."""
    following = {id(one): other for one, other in pairwise(series.counted)}
    rows = []
    for number, one in enumerate(series.passes):
        row = {
            "kind": series.kind.name, "pass": number, "refused": one.refused, "touches": len(one.cycles),
            "outside": int(one.outside.sum()), "minor_faults": one.minor_faults, "huge_bytes": one.huge_bytes,
            "median_cycles": float(np.median(one.kept)) if len(one.kept) else None,
            "cosine_constant": with_constant(one.cycles),
            "clipped_constant": with_constant(clipped(one.cycles)), **MEASURED,
        }  # fmt: skip
        rows.append(row | _repeat(one, following.get(id(one))))
    return rows


def _repeat(one: Pass, other: Pass | None) -> dict:
    """Cosines with the next pass that counts."""
    if other is None:
        return {}
    return {
        "cosine_repeat": cosine(one.cycles, other.cycles),
        "clipped_repeat": cosine(clipped(one.cycles), clipped(other.cycles)),
    }


def environment_row(found: Environment, series: Series, pass_bytes: int) -> dict:
    """The one row of the environment."""
    clock = {"tsc_hertz": series.hertz, "clock_cycles": series.clock_cycles, "pass_bytes": pass_bytes}
    return asdict(found) | clock | MEASURED
