"""Which model of P may answer for a design of some classes, and how wide its answer is.

A model may answer if it survives every class of the design by one declared input, and if intervals made from
the other workloads cover at least 90% of the judged points of each class. Of several models, the one with
the smallest interval answers; inputs are tried in the order of :data:`INPUTS`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from tessera.core.errors import TesseraError
from tessera.judge.studies.transfer import coverage, rules
from tessera.judge.studies.transfer.declared import INPUTS
from tessera.judge.studies.transfer.fits import CONSTANT


@dataclass(frozen=True)
class Trusted:
    """``half_width`` of the relative error, from ``points`` points of other workloads.

    ``coverage``: with each workload left out, the least of the classes.
    """

    model: str
    inputs: str
    half_width: float
    coverage: float
    points: int


@dataclass(frozen=True)
class Decision:
    """The model that may answer, or None with ``reason``; ``least_error``: the largest bound by twins."""

    trusted: Trusted | None
    reason: str
    least_error: float


def decide(
    verdicts: pd.DataFrame, widths: pd.DataFrame, platform: str, workload: str,
    groups: Sequence[str], inputs: Sequence[str] = INPUTS,
) -> Decision:  # fmt: skip
    """Who may answer for ``workload`` on ``platform``; ``widths`` are those of the other workloads.

    For a workload outside the study, intervals come from all of its workloads.

    Raises:
        TesseraError: the study has no such platform, or no point of a class.
    """
    mine = verdicts[verdicts["platform"] == platform]
    if mine.empty:
        known = ", ".join(dict.fromkeys(verdicts["platform"])) or "none"
        raise TesseraError(
            f"models of {platform} in the study of transfer", f"it has these platforms: {known}",
            "name one of them, or make the study of this platform: ./run tessera study transfer --help",
        )  # fmt: skip
    widths = widths[(widths["platform"] == platform) & (widths["workload"] == workload)]
    if widths.empty:
        widths = mine[mine["half_width"].notna()].assign(points=mine["judged"])
    for group in groups:
        if not (mine[mine["group"] == group]["points"] > 0).any():
            known = ", ".join(dict.fromkeys(mine[mine["points"] > 0]["group"])) or "none"
            raise TesseraError(
                f"class {group} on {platform}", f"the study has points of these classes: {known}",
                "name one of them, or make the study with variants of this class",
            )  # fmt: skip
    bounds = mine[mine["group"].isin(groups) & mine["inputs"].isin(inputs[:1])]["least_error"]
    least = float(bounds.max()) if bounds.notna().any() else float("nan")
    reasons = []
    for name in inputs:
        part = mine[mine["inputs"] == name]
        found, why = _of_inputs(part, widths[widths["inputs"] == name], groups)
        if found:
            best = min(found, key=lambda one: (one.half_width, one.model))
            return Decision(best, f"it survives {_list(groups)} by `{name}`", least)
        reasons.append(f"by `{name}`, {why}")
    return Decision(None, "; ".join(reasons), least)


def _of_inputs(part, widths, groups: Sequence[str]) -> tuple[list[Trusted], str]:
    rows = part[part["group"].isin(groups) & (part["model"] != CONSTANT)]
    survived = [
        model for model, own in rows.groupby("model", sort=False)
        if len(own) == len(groups) and (own["verdict"] == rules.SURVIVED).all()
    ]  # fmt: skip
    if not survived:
        return [], f"no model survives {_list(groups)}"
    found, narrow = [], []
    for model in survived:
        judged = rows[rows["model"] == model]
        own = widths[(widths["model"] == model) & widths["group"].isin(groups)]
        covered, inputs = judged["coverage"].astype(float), str(judged["inputs"].iloc[0])
        if covered.isna().any() or len(own) < len(groups) or not np.isfinite(own["half_width"]).all():
            narrow.append(f"{model} survives, but no other workload gives an interval")
        elif covered.min() < coverage.LEAST:
            count = int(judged["judged"].sum())
            narrow.append(f"{model} survives, but intervals cover {covered.min():.0%} of {count} points")
        else:
            width, points = float(own["half_width"].max()), int(own["points"].sum())
            found.append(Trusted(model, inputs, width, float(covered.min()), points))
    return found, "; ".join(narrow)


def _list(groups: Sequence[str]) -> str:
    return " and ".join(groups)
