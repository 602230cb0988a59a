"""The table "For a new design": how often the bracket answers, and how right it is, beside two rivals.

Coverage alone would praise wide intervals and refusals. So it stands beside the share of answered points, the
width, and the interval score; and beside what `constant` (nothing changes) and Mosmodel reach on the
same answered points. Only judged points count; a refusal counts for neither side.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from tessera.judge.studies.transfer import coverage, rules
from tessera.judge.studies.transfer.classes import GROUPS, IDEAL
from tessera.judge.studies.transfer.declared import COUNTED
from tessera.judge.studies.transfer.openness import judged_answers, openness
from tessera.results.schema.transfer import NEW_DESIGNS
from tessera.results.write import frame_of

#: Workloads on which members, slopes and widening of the bracket were chosen.
TUNED = ("gups-8gb", "graph500-4gb", "network-simplex")
ALL, NEW = SCOPES = ("all", "new")
EVERY = "all"  #: the group of all classes K0 to K5
RIVAL = "mosmodel"
_POINT = ["workload", "platform", "group", "variant", "layout"]


def new_designs(answered: pd.DataFrame, predictions: pd.DataFrame) -> pd.DataFrame:
    """The table :data:`NEW_DESIGNS`, from the tables ANSWERED and PREDICTIONS of a run."""
    rows = []
    for platform, part in answered.groupby("platform", sort=False):
        judged = _judged(part, predictions)
        for scope in SCOPES:
            mine = judged if scope == ALL else judged[~judged["workload"].isin(TUNED)]
            for group in (*(name for name in GROUPS if name != IDEAL), EVERY):
                own = mine if group == EVERY else mine[mine["group"] == group]
                head = {"platform": platform, "scope": scope, "group": group, "provenance": "simulated"}
                row = head | _counts(own)
                if group != EVERY:
                    row["worth"] = rules.TRIVIAL if row["informative"] < rules.LEAST_INFORMATIVE else ""
                    answers = part[part["group"] == group]
                    names = own["workload"].unique()
                    row["open_for"] = sum(openness(answers, str(platform), group, n).open for n in names)
                rows.append(row)
    return frame_of(NEW_DESIGNS, rows)


def _judged(answered: pd.DataFrame, predictions: pd.DataFrame) -> pd.DataFrame:
    """Judged points of K0 to K5 with what the rivals say: columns rival_passes, q (of `constant`), level.

    The interval of `constant` for a point comes from all other workloads of the study, in both scopes: it is
    tuned on none.
    """
    judged = answered[answered["judged"].eq(True) & (answered["group"] != IDEAL)]
    rival = predictions[(predictions["model"] == RIVAL) & (predictions["inputs"] == COUNTED)]
    rival = rival[[*_POINT, "passes"]].rename(columns={"passes": "rival_passes"})
    judged = judged.merge(rival, on=_POINT, how="left", validate="one_to_one")
    judged = judged.assign(
        rival_passes=judged["rival_passes"].eq(True),
        score=coverage.scores(judged["runtime_cycles"], judged["base_runtime_cycles"]),
    )
    made = [
        coverage.widths_of(part, part["workload"].unique()).assign(group=group)
        for group, part in judged.groupby("group", sort=False)
    ]
    if not made:
        return judged.assign(q=np.nan, level=np.nan)
    of_constant = pd.concat(made).rename(columns={"half_width": "q"})
    keys = ["group", "family", "workload"]
    return judged.merge(of_constant[[*keys, "q", "level"]], on=keys, how="left", validate="many_to_one")


def _counts(judged: pd.DataFrame) -> dict:
    answers = judged_answers(judged)
    informative = answers[answers["informative"].astype(bool)]

    def count(rows: pd.DataFrame, column: str) -> int:
        return int(rows[column].eq(True).sum())

    return {
        "workloads": judged["workload"].nunique(), "judged": len(judged), "answered": len(answers),
        "covered": count(answers, "covered"), "passing": count(answers, "passes"),
        "informative": count(judged, "informative"), "informative_answered": len(informative),
        "informative_covered": count(informative, "covered"),
        "informative_passing": count(informative, "passes"),
        "constant_passing": count(answers, "constant_passes"),
        "mosmodel_passing": count(answers, "rival_passes"),
        "mosmodel_informative_passing": count(informative, "rival_passes"), **_intervals(answers),
    }  # fmt: skip


def _intervals(answers: pd.DataFrame) -> dict:
    """Width and scores; that of `constant` only if each answered point has an interval of 90%."""
    if answers.empty:
        return {}
    R, R_0 = answers["runtime_cycles"], answers["base_runtime_cycles"]
    own = coverage.interval_score(answers["low_cycles"], answers["high_cycles"], R) / R_0
    found = {"half_width": float(answers["half_width"].median()), "interval_score": float(own.mean())}
    if (answers["level"] >= coverage.LEVEL).all():
        low, high = coverage.interval(R_0, answers["q"])
        found["constant_interval_score"] = float((coverage.interval_score(low, high, R) / R_0).mean())
    return found
