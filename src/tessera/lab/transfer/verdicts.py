"""Verdicts of models by class and input, and which number to simulate, class by class, in sentences."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from tessera.core.results.outcomes import ok_rows
from tessera.core.results.table_io import frame_of
from tessera.core.results.transfer_tables import VERDICTS, WIDTHS
from tessera.core.units import percent_text
from tessera.lab.transfer import rules
from tessera.lab.transfer.classes import GROUPS, IDEAL
from tessera.lab.transfer.points import BUSY, COUNTED, DECLARED_INPUTS, LATENCY
from tessera.lab.transfer.predictions import CONSTANT, POINT_KEY

# Verdicts of models by class and input, from the tables of points, predictions, twins and fits.

_OF_POINT = ["family", "runtime_cycles", "base_runtime_cycles", "gain_ci95_cycles", "judged", "informative"]


def verdicts(
    points: pd.DataFrame, predictions: pd.DataFrame, twins: pd.DataFrame, fits: pd.DataFrame
) -> pd.DataFrame:
    """The table :data:`VERDICTS`; a class without a judged point is a row, too."""
    joined = _joined(points, predictions)
    good_on_p = {(r.workload, r.platform, r.model): r.good_on_p for r in ok_rows(fits).itertuples()}
    rows = []
    for platform, part in points.groupby("platform", sort=False):
        mine, models = joined[joined["platform"] == platform], predictions["model"].unique()
        pairs = twins[(twins["platform"] == platform) & twins["gap"].notna()]
        for group in part["group"].unique():
            for inputs in DECLARED_INPUTS:
                where = (mine["group"] == group) & (mine["inputs"] == inputs)
                gaps = pairs[(pairs["group"] == group) & (pairs["inputs"] == inputs)]["least_error"]
                bound = {"twins": len(gaps), "least_error": gaps.max() if len(gaps) else None}
                head = {"platform": platform, "inputs": inputs, "group": group, "provenance": "simulated"}
                for model in models:
                    own = mine[where & (mine["model"] == model)]
                    row = {"model": model} | bound | _judged(own, good_on_p)
                    if row["judged"] and model != CONSTANT:
                        counts = (row[name] for name in ("informative", "passing", "constant_passing"))
                        row["worth"] = rules.worth(*counts)
                    rows.append(head | row)
    return frame_of(VERDICTS, rows)


def widths(points: pd.DataFrame, predictions: pd.DataFrame) -> pd.DataFrame:
    """The table :data:`WIDTHS`."""
    joined = _joined(points, predictions)
    judged = joined[joined["judged"].astype(bool)]
    keys, found = ["platform", "inputs", "group", "model"], []
    workloads = points["workload"].unique()
    for key, part in judged.groupby(keys, sort=False):
        made = rules.widths_of(part, workloads)
        found.append(made.assign(**dict(zip(keys, key, strict=True)), provenance="simulated"))
    return frame_of(WIDTHS, pd.concat(found, ignore_index=True) if found else [])


def _joined(points: pd.DataFrame, predictions: pd.DataFrame) -> pd.DataFrame:
    """Predictions with their points, the error by all digits of R, and conformal scores."""
    joined = predictions.merge(
        ok_rows(points)[[*POINT_KEY, *_OF_POINT]], on=POINT_KEY, validate="many_to_one"
    )
    R, guess = joined["runtime_cycles"], joined["predicted_cycles"]
    return joined.assign(error=guess / R - 1, score=rules.conformal_scores(R, guess))


def _judged(own: pd.DataFrame, good_on_p: dict) -> dict:
    judged = own[own["judged"].astype(bool)] if len(own) else own
    passing = judged["passes"].astype(bool) if len(judged) else pd.Series(dtype=bool)
    shares = passing.groupby(judged["workload"]).mean() if len(judged) else pd.Series(dtype=float)
    share = float(passing.mean()) if len(judged) else float("nan")
    row = {
        "verdict": rules.verdict(shares, share), "workloads": len(shares), "points": len(own),
        "judged": len(judged), "passing": int(passing.sum()),
    }  # fmt: skip
    if not len(judged):
        return row
    errors = judged["error"].abs().fillna(np.inf)
    worst = errors.groupby(judged["workload"]).max()
    gains = judged["gain_holds"].dropna().astype(bool)
    informative = judged["informative"].astype(bool)
    R, R_0 = judged["runtime_cycles"], judged["base_runtime_cycles"]
    pairs, inversions = _orders(judged)
    return row | {
        "pass_share": share, "least_workload_share": float(shares.min()),
        "bound_share": float(judged["bound_holds"].astype(bool).mean()),
        "gains": len(gains), "gain_share": float(gains.mean()) if len(gains) else None,
        "pairs": pairs, "inversions": inversions,
        "worst_error": float(worst.max()), "median_error": float(worst.median()),
        **_two_by_two(judged, shares, good_on_p), **_warnings(judged, passing),
        "informative": int(informative.sum()), "informative_passing": int((informative & passing).sum()),
        "constant_passing": sum(rules.constant_passes(*pair) for pair in zip(R_0, R, strict=True)),
        "variant_share": float(passing.groupby(judged["variant"]).mean().mean()),
        **rules.coverage_columns(judged),
    }  # fmt: skip


def _orders(judged: pd.DataFrame) -> tuple[int, int]:
    """S3 over all layouts; variants under layouts of one workload."""
    columns = ("workload", "layout", "base_runtime_cycles", "runtime_cycles")
    values = [judged[name].tolist() for name in (*columns, "gain_ci95_cycles", "predicted_cycles")]
    under: dict[tuple, list[tuple[float, float, float]]] = {}
    for workload, layout, base, R, width, guess in zip(*values, strict=True):
        under.setdefault((workload, layout, base), []).append((R, 0.0 if width != width else width, guess))
    found = [rules.orders(points, base) for (_, _, base), points in under.items()]
    return sum(pairs for pairs, _ in found), sum(inversions for _, inversions in found)


def _two_by_two(judged: pd.DataFrame, shares: pd.Series, good_on_p: dict) -> dict:
    """Workloads by (good on P, good on P-bar); those whose errors on P are not known are in no cell."""
    found = dict.fromkeys(("good_good", "good_bad", "bad_good", "bad_bad"), 0)
    platform, model = judged["platform"].iloc[0], judged["model"].iloc[0]
    for workload, share in shares.items():
        known = good_on_p.get((workload, platform, model))
        if known is None or known != known:
            continue
        after = "good" if share >= rules.SURVIVES else "bad"
        found[f"{'good' if known else 'bad'}_{after}"] += 1
    return found


def _warnings(judged: pd.DataFrame, passing: pd.Series) -> dict:
    """Does the warning of the hull predict failure?"""
    inside = judged["hull_distance"] == 0
    return {
        "inside_pass": int((inside & passing).sum()), "inside_fail": int((inside & ~passing).sum()),
        "outside_pass": int((~inside & passing).sum()), "outside_fail": int((~inside & ~passing).sum()),
    }  # fmt: skip


def survivors(table: pd.DataFrame, group: str, inputs: str, platform: str | None = None) -> list[str]:
    """Models that survive a class by an input, on one platform or on all of the table."""
    return list(_survivors(table, group, inputs, platform))


def _survivors(table: pd.DataFrame, group: str, inputs: str, platform: str | None) -> Iterator[str]:
    part = table[(table["group"] == group) & (table["inputs"] == inputs)]
    if platform is not None:
        part = part[part["platform"] == platform]
    for model, rows in part.groupby("model", sort=False):
        judged = rows[rows["verdict"] != rules.NOT_JUDGED]
        if len(judged) and (judged["verdict"] == rules.SURVIVED).all():
            yield str(model)


# Which number to simulate, class by class: sentences from the table of verdicts.

SUFFICE, RESCUED, ENGINE_ONLY = "suffice", "rescued", "engine"
_REMEDY = {
    LATENCY: "weigh hits by their look-up time (`latency`)",
    BUSY: "add background loads to C (`busy`)",
}


@dataclass(frozen=True)
class Advice:
    """What to simulate for a class; ``models`` survive by ``inputs``."""

    group: str
    kind: str
    inputs: str = ""
    models: tuple[str, ...] = ()


def advice(verdicts: pd.DataFrame, group: str) -> Advice:
    """The first declared input by which a model survives on every platform."""
    rows = verdicts[verdicts["group"] == group]
    if not (rows["verdict"] != rules.NOT_JUDGED).any():
        return Advice(group, rules.NOT_JUDGED)
    for inputs in DECLARED_INPUTS:
        models = tuple(name for name in survivors(rows, group, inputs) if name != CONSTANT)
        if models:
            return Advice(group, SUFFICE if inputs == COUNTED else RESCUED, inputs, models)
    return Advice(group, ENGINE_ONLY)


def which_number(verdicts: pd.DataFrame) -> list[str]:
    """One sentence or more for each class."""
    there = set(verdicts["group"])
    return [_sentence(verdicts, group) for group in GROUPS if group in there and group != IDEAL]


def _sentence(verdicts: pd.DataFrame, group: str) -> str:
    found = advice(verdicts, group)
    head = f"{group} ({GROUPS[group]})"
    if found.kind == rules.NOT_JUDGED:
        return f"{head}: no point is judged, because translation takes less than 5% of R."
    if found.kind == SUFFICE:
        text = f"{head}: H, M and C suffice. These models survive: {', '.join(found.models)}."
    elif found.kind == RESCUED:
        text = (
            f"{head}: H, M and C as counted do not suffice; {_REMEDY[found.inputs]}. "
            f"Then these models survive: {', '.join(found.models)}."
        )
    else:
        text = f"{head}: simulate time, because no model survives. {_best(verdicts, group)}"
    return text + _constant(verdicts, group) + _bound(verdicts, group)


def _best(verdicts: pd.DataFrame, group: str) -> str:
    rows = verdicts[(verdicts["group"] == group) & (verdicts["model"] != CONSTANT)]
    best = rows.loc[rows["pass_share"].astype(float).idxmax()]
    passing, judged = int(best["passing"]), int(best["judged"])
    return f"The best is {best['model']} by `{best['inputs']}`: {passing} of {judged} points pass."


def _constant(verdicts: pd.DataFrame, group: str) -> str:
    if CONSTANT not in survivors(verdicts, group, COUNTED):
        return ""
    return " The constant R_0 survives, too, so these designs hardly change R."


def _bound(verdicts: pd.DataFrame, group: str) -> str:
    rows = verdicts[(verdicts["group"] == group) & (verdicts["inputs"] == COUNTED)]
    bound = rows["least_error"].max()
    if not bound > rules.BOUND:
        return ""
    least = percent_text(bound)
    return f" Some designs have H, M and C of P and another R: no function is nearer than {least} to both."
