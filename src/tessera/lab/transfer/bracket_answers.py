"""The source `bracket` in the study: its answers, which classes are *open*, the table "For a new design"."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from tessera.core.errors import TesseraError
from tessera.core.results.outcomes import is_ok
from tessera.core.results.table_io import frame_of
from tessera.core.results.transfer_tables import NEW_DESIGNS
from tessera.fit.models.samples import check_samples
from tessera.fit.predict.answers import Answer, Reason, Refused
from tessera.fit.predict.bracket import SOURCE, Bracket, ChangedCounts, ProcessorCounts
from tessera.fit.predict.decision import OF_BRACKET
from tessera.lab.transfer import rules
from tessera.lab.transfer.classes import GROUPS, IDEAL
from tessera.lab.transfer.points import BUSY, COUNTED, LATENCY

# Whether a class of designs is *open* for the bracket: may an answer for a new workload be relied on?
#
# The rule is part of the protocol (config/claims-changes.md): fixed before the run with 12 workloads. Only
# judged points count, and the workload that is asked about never does. A refusal is unanswered: it counts
# for neither side.
#
# An answer needs more than an open class: `family_openness` asks the same of the design's family (larger
# STLBs, coalescing, ...). This was added after the run, because larger STLBs are most of `reach`, and
# coalescing designs are covered far less (docs/explain/predict.md).

LEAST_WORKLOADS = 9  #: other workloads with judged answers
COVERED = 0.9  #: share of a workload's answers whose interval contains R
COVERED_WORKLOADS = 0.9  #: share of the workloads that reach it
PASSING = 0.5  #: share of the informative answers that pass
ANSWERED, REFUSED = "answered", "refused"
#: 9 of 10 must count as 90%, whatever rounding says
_SHARE_ROUNDING = 1e-9


@dataclass(frozen=True)
class Openness:
    """``reason``: one clause with the numbers; ``workloads``: others that have judged answers."""

    open: bool
    reason: str
    workloads: int


def openness(answered: pd.DataFrame, platform: str, group: str, without: str) -> Openness:
    """Is the class ``group`` open on ``platform`` for the workload ``without``?

    Args:
        answered: the table :data:`~tessera.core.results.transfer_tables.ANSWERED` of a run; any row order. A
            workload that the study lacks may be asked about, too: then all of its workloads count.
    """
    return _openness_of(_others(answered, platform, group, without), f"class {group}")


def family_openness(
    answered: pd.DataFrame, platform: str, group: str, without: str, families: Iterable[str]
) -> Openness:
    """Is ``group`` open, and each of ``families`` in it, by the same rule? The first that is not says why.

    A design of several classes has families of each; at least one must have judged answers in this class. A
    design without a family (``control``) needs the class alone.
    """
    found, families = openness(answered, platform, group, without), set(families)
    rows = _others(answered, platform, group, without)
    known = sorted(families & set(rows["family"]))
    if found.open and families and not known:
        why = f"class {group}: no judged answer of other workloads is of {', '.join(sorted(families))}"
        return Openness(False, why, 0)
    for family in known if found.open else ():
        found = _openness_of(rows[rows["family"] == family], f"class {group}, {family}")
        if not found.open:
            break
    return found


def _others(answered: pd.DataFrame, platform: str, group: str, without: str) -> pd.DataFrame:
    """Judged answers of the class, of the other workloads."""
    rows = judged_answers(answered)
    return rows[(rows["platform"] == platform) & (rows["group"] == group) & (rows["workload"] != without)]


def _openness_of(rows: pd.DataFrame, what: str) -> Openness:
    covered = rows["covered"].astype(bool).groupby(rows["workload"]).mean()
    workloads, reached = len(covered), int((covered >= COVERED - _SHARE_ROUNDING).sum())
    informative = rows[rows["informative"].astype(bool)]
    passing = int(informative["passes"].astype(bool).sum())
    if workloads < LEAST_WORKLOADS:
        why = f"the study has judged answers of {workloads} other workloads, and {LEAST_WORKLOADS} are needed"
        return Openness(False, f"{what}: {why}", workloads)
    wrong = []
    if reached < COVERED_WORKLOADS * workloads - _SHARE_ROUNDING:
        wrong.append(
            f"intervals cover {COVERED:.0%} of the answers in {reached} of {workloads} other workloads, "
            f"fewer than {COVERED_WORKLOADS:.0%} of them"
        )
    if passing < PASSING * len(informative):
        wrong.append(f"{passing} of {len(informative)} informative answers pass, fewer than half")
    if wrong:
        return Openness(False, f"{what}: {'; '.join(wrong)}", workloads)
    reason = (
        f"{what}: intervals cover {COVERED:.0%} of the answers in {reached} of {workloads} other "
        f"workloads, and {passing} of {len(informative)} informative answers pass"
    )
    return Openness(True, reason, workloads)


def judged_answers(answered: pd.DataFrame) -> pd.DataFrame:
    """Rows with an answer, of points that are judged."""
    return answered[(answered["status"] == ANSWERED) & answered["judged"].eq(True)]


# What the source `bracket` answers for each point: from P's samples, and H and C of the design alone.
#
# P is fitted by the samples of the study. The base is P under the same layout or mapping: its own R, H and
# C. The design has H by `latency`, C by `busy`, its number of walkers, and the longer look-ups of its
# misses. The bracket never sees R of a design. Classes that change the clock or the place of translation,
# and `ideal`, are refused, whatever it would say: it knows only what H, M and C tell.

POINT = ("group", "variant", "family", "layout")


def fitted_bracket(samples: Iterable[Mapping], hit_cycles: float) -> Bracket | Reason:
    """The bracket of one workload's rows of the table of samples, or why there is none.

    Args:
        samples: rows of :data:`~tessera.core.results.transfer_tables.SAMPLES`; the fitted ones count.
        hit_cycles: hit time of P's STLB.
    """
    table = pd.DataFrame([row for row in samples if row["fitted"]])
    try:
        return Bracket.fit(check_samples(table, "study of transfer").fitted, hit_cycles=hit_cycles)
    except TesseraError as error:
        return Reason(error.code or "no-fit", error.problem)


def answer_rows(samples: Sequence[Mapping], points: Sequence[Mapping], hit_cycles: float) -> list[dict]:
    """Rows of the table ANSWERED of one workload and platform, without the pair.

    Args:
        samples: rows of :data:`~tessera.core.results.transfer_tables.SAMPLES`, fitted or not: the bases.
        points: rows of :data:`~tessera.core.results.transfer_tables.POINTS`; only those that are ok count.
        hit_cycles: hit time of P's STLB.
    """
    bracket = fitted_bracket(samples, hit_cycles)
    counts = ("runtime_cycles", "stlb_hits", "walk_cycles")
    bases = {row["layout"]: ProcessorCounts(*(row[name] for name in counts)) for row in samples}
    by_input: dict[tuple, dict] = {}
    for row in points:
        if is_ok(row):
            by_input.setdefault(tuple(row[name] for name in POINT), {})[row["inputs"]] = row
    found = []
    for key, rows in by_input.items():
        hits, design = rows[LATENCY], asked_point(rows)
        said = bracket if isinstance(bracket, Reason) else bracket.answer(bases[hits["layout"]], design)
        found.append(dict(zip(POINT, key, strict=True)) | _answer_row(hits, refused(hits["group"], said)))
    return found


def asked_point(rows: Mapping[str, Mapping]) -> ChangedCounts:
    """The design of a point: H by latency, busy C.

    Args:
        rows: input -> row of :data:`~tessera.core.results.transfer_tables.POINTS`.
    """
    hits, walks = rows[LATENCY], rows[BUSY]
    return ChangedCounts(
        float(hits["stlb_hits"]), float(walks["walk_cycles"]), int(walks["walkers"]),
        float(walks["miss_cycles"]),
    )  # fmt: skip


def refused(group: str, said: Answer | Refused | Reason) -> Answer | Refused:
    """What counts: the answer, unless the class is not the bracket's, or there is no bracket."""
    reasons = ()
    if group not in OF_BRACKET:
        reasons = (Reason("class", f"class {group} changes what H, M and C do not tell"),)
    if isinstance(said, Reason):
        return Refused(SOURCE, (*reasons, said))
    if isinstance(said, Refused):
        return Refused(SOURCE, (*reasons, *said.reasons), said.low, said.high)
    return Refused(SOURCE, reasons, said.low, said.high) if reasons else said


def _answer_row(point: Mapping, said: Answer | Refused) -> dict:
    R, R_0 = point["runtime_cycles"], point["base_runtime_cycles"]
    row = {
        "source": SOURCE, "low_cycles": said.low, "high_cycles": said.high, "runtime_cycles": R,
        "base_runtime_cycles": R_0, "judged": point["judged"], "informative": point["informative"],
        "constant_passes": rules.constant_passes(R_0, R),
    }  # fmt: skip
    if isinstance(said, Refused):
        text = "; ".join(reason.text for reason in said.reasons)
        return row | {"status": REFUSED, "codes": " ".join(said.codes), "message": text}
    return row | {
        "status": ANSWERED, "centre_cycles": said.centre, "half_width": said.half_width,
        "covered": bool(said.low <= R <= said.high), "passes": _answer_passes(R_0, R, said.centre),
    }  # fmt: skip


def _answer_passes(base: float, runtime: float, predicted: float) -> bool:
    """S1, and S2 where it applies."""
    gain = rules.gain_holds(base, runtime, predicted)
    return rules.passes(rules.bound_holds(runtime, predicted), gain)


# The table "For a new design": how often the bracket answers, and how right it is, beside two rivals.
#
# Coverage alone would praise wide intervals and refusals. So it stands beside the share of answered points,
# the width, and the interval score; and beside what `constant` (nothing changes) and Mosmodel reach on the
# same answered points. Only judged points count; a refusal counts for neither side.

#: Workloads on which members, slopes and widening of the bracket were chosen.
TUNED = ("gups-8gb", "graph500-4gb", "network-simplex")
ALL, NEW = SCOPES = ("all", "new")
EVERY = "all"  #: the group of all classes but `ideal`
RIVAL = "mosmodel"
_POINT_KEY = ["workload", "platform", "group", "variant", "layout"]


def new_designs(answered: pd.DataFrame, predictions: pd.DataFrame) -> pd.DataFrame:
    """The table :data:`NEW_DESIGNS`, from the tables ANSWERED and PREDICTIONS of a run."""
    rows = []
    for platform, part in answered.groupby("platform", sort=False):
        judged = _judged_rows(part, predictions)
        for scope in SCOPES:
            mine = judged if scope == ALL else judged[~judged["workload"].isin(TUNED)]
            for group in (*(name for name in GROUPS if name != IDEAL), EVERY):
                own = mine if group == EVERY else mine[mine["group"] == group]
                head = {"platform": platform, "scope": scope, "group": group, "provenance": "simulated"}
                row = head | _counts_of_answers(own)
                if group != EVERY:
                    row["worth"] = rules.TRIVIAL if row["informative"] < rules.LEAST_INFORMATIVE else ""
                    answers = part[part["group"] == group]
                    names = own["workload"].unique()
                    row["open_for"] = sum(openness(answers, str(platform), group, n).open for n in names)
                rows.append(row)
    return frame_of(NEW_DESIGNS, rows)


def _judged_rows(answered: pd.DataFrame, predictions: pd.DataFrame) -> pd.DataFrame:
    """Judged points, without `ideal`, with what the rivals say: rival_passes, q (of `constant`), level.

    The interval of `constant` for a point comes from all other workloads of the study, in both scopes: it is
    tuned on none.
    """
    judged = answered[answered["judged"].eq(True) & (answered["group"] != IDEAL)]
    rival = predictions[(predictions["model"] == RIVAL) & (predictions["inputs"] == COUNTED)]
    rival = rival[[*_POINT_KEY, "passes"]].rename(columns={"passes": "rival_passes"})
    judged = judged.merge(rival, on=_POINT_KEY, how="left", validate="one_to_one")
    judged = judged.assign(
        rival_passes=judged["rival_passes"].eq(True),
        score=rules.conformal_scores(judged["runtime_cycles"], judged["base_runtime_cycles"]),
    )
    made = [
        rules.widths_of(part, part["workload"].unique()).assign(group=group)
        for group, part in judged.groupby("group", sort=False)
    ]
    if not made:
        return judged.assign(q=np.nan, level=np.nan)
    of_constant = pd.concat(made).rename(columns={"half_width": "q"})
    keys = ["group", "family", "workload"]
    return judged.merge(of_constant[[*keys, "q", "level"]], on=keys, how="left", validate="many_to_one")


def _counts_of_answers(judged: pd.DataFrame) -> dict:
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
        "mosmodel_informative_passing": count(informative, "rival_passes"), **_interval_columns(answers),
    }  # fmt: skip


def _interval_columns(answers: pd.DataFrame) -> dict:
    """Width and scores; that of `constant` only if each answered point has an interval of 90%."""
    if answers.empty:
        return {}
    R, R_0 = answers["runtime_cycles"], answers["base_runtime_cycles"]
    own = rules.interval_score(answers["low_cycles"], answers["high_cycles"], R) / R_0
    found = {"half_width": float(answers["half_width"].median()), "interval_score": float(own.mean())}
    if (answers["level"] >= rules.LEVEL).all():
        low, high = rules.interval_of(R_0, answers["q"])
        found["constant_interval_score"] = float((rules.interval_score(low, high, R) / R_0).mean())
    return found
