"""Compare the simulator with real runs under mosaics: relative differences between layouts, never times.

dR of a layout is its runtime over the all-4KB runtime, minus one; measured dR comes from interleaved pairs,
simulated dR from the cells of a platform. The error of a layout is |dR simulated - dR measured| over the
measured gain of 2MB pages. Skill is one minus the sum of squared errors over that of a plain rival on the
same layouts:

- *constant*: the mean of the measured differences;
- *Yaniv line*: through the measured 4KB and 2MB points, a line in simulated walk cycles (MICRO'20 section
  III). It uses two measured points that the simulator does not, so it is judged on the layouts between them.

Ranks count only for pairs of layouts whose measured difference exceeds three standard errors. *Shape* is the
simulation scaled to the measured gain: it shows whether the simulated curve bends like the real one.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pandas as pd

from tessera.core.layouts.layout import ALL_2MB, ALL_4KB
from tessera.core.results.machine_tables import COMPARISON, FINDINGS, MOSAICS, MOSAICS_SUMMARY
from tessera.core.results.outcomes import is_ok, ok_rows
from tessera.core.results.table_io import empty_table, frame_of, read_cells, read_file
from tessera.core.results.tree import ResultsTree
from tessera.lab.study import Run, study
from tessera.measure.hybrid_cells import RunLog
from tessera.measure.rounds import times

AIM = 0.25  #: of the measured gain
SIGMAS = 3.0
MET, MISSED, UNDECIDED = "MET", "MISSED", "NOT MEASURED"


def mosaic_rows(comparison: pd.DataFrame, cells: pd.DataFrame, platform: str) -> pd.DataFrame:
    """One row per measured layout (:data:`MOSAICS`); empty where the 4KB or the 2MB layout is missing.

    Args:
        comparison: ``host/comparison.csv``.
        cells: simulated cells of the same workload on one platform.
    """
    measured = comparison.dropna(subset="measured_delta").set_index("layout")
    cells = ok_rows(cells).drop_duplicates("layout").set_index("layout")
    anchors = {ALL_4KB, ALL_2MB}
    if not anchors <= set(measured.index) or not anchors <= set(cells.index):
        return empty_table(MOSAICS)
    gain = -float(measured.at[ALL_2MB, "measured_delta"])
    walks = cells["walk_cycles"].astype(float)
    cycles = cells["runtime_cycles"].astype(float)
    span = walks[ALL_4KB] - walks[ALL_2MB]
    rows = []
    for layout in [name for name in measured.index if name in cells.index]:
        delta = float(measured.at[layout, "measured_delta"])
        simulated = cycles[layout] / cycles[ALL_4KB] - 1
        rows.append(
            {
                "platform": platform, "layout": layout, "measured_delta": delta,
                "measured_ci95": measured.at[layout, "measured_ci95"], "pairs": measured.at[layout, "pairs"],
                "simulated_delta": simulated, "walk_cycles": walks[layout],
                "yaniv_delta": -gain * (walks[ALL_4KB] - walks[layout]) / span if span else math.nan,
                "error_of_gain": abs(simulated - delta) / gain if gain > 0 else math.nan,
                "runtime_provenance": "measured",
            }
        )  # fmt: skip
    return frame_of(MOSAICS, rows)


def mosaics_summary(judged: pd.DataFrame, platform: str, ranks: tuple[int, int], reason: str) -> pd.DataFrame:
    """Errors, skills and ranks of one platform (:data:`MOSAICS_SUMMARY`).

    Args:
        ranks: pairs in the right order, pairs that differ by more than three standard errors.
        reason: why a miss is no surprise on this machine; goes to what was missed.
    """
    if judged.empty:
        row = [platform, "largest error", math.nan, "of the gain", f"<= {AIM:.0%}", UNDECIDED]
        why = "no real runs with 4KB and with 2MB pages (./run --reserve reproduce)"
        return frame_of(MOSAICS_SUMMARY, [[*row, why]])
    others = judged[judged["layout"] != ALL_4KB]
    between = others[others["layout"] != ALL_2MB]
    gain = -float(judged.loc[judged["layout"] == ALL_2MB, "measured_delta"].iloc[0])
    simulated_gain = -float(judged.loc[judged["layout"] == ALL_2MB, "simulated_delta"].iloc[0])
    stretched = (
        between["simulated_delta"] * (gain / simulated_gain) if simulated_gain else between["simulated_delta"]
    )
    largest = float(others["error_of_gain"].max())
    right, decided = ranks
    rows = [
        ("measured gain of 2MB pages", gain, "of R", "", ""),
        ("simulated gain of 2MB pages", simulated_gain, "of R", "", ""),
        ("largest error", largest, "of the gain", f"<= {AIM:.0%}", MET if largest <= AIM else MISSED),
        (
            "median error",
            float(others["error_of_gain"].median()),
            "of the gain",
            f"<= {AIM:.0%}",
            MET if others["error_of_gain"].median() <= AIM else MISSED,
        ),
        _skill(
            "skill against a constant", others, others["simulated_delta"], others["measured_delta"].mean()
        ),
        _skill("skill against the Yaniv line", between, between["simulated_delta"], between["yaniv_delta"]),
        _skill("skill of the shape against the Yaniv line", between, stretched, between["yaniv_delta"]),
        (
            "pairs in the right order",
            right / decided if decided else math.nan,
            f"of {decided} pairs that differ by more than {SIGMAS:g} standard errors",
            "100%",
            UNDECIDED if not decided else MET if right == decided else MISSED,
        ),
    ]
    table = frame_of(MOSAICS_SUMMARY, [(platform, *row, "") for row in rows])
    table.loc[table["verdict"] == MISSED, "reason"] = reason
    return table


def _skill(name: str, rows: pd.DataFrame, predicted: pd.Series, rival) -> tuple:
    """One minus squared errors over the rival's; positive: better than the rival."""
    squared = float(((predicted - rows["measured_delta"]) ** 2).sum())
    theirs = float(((rival - rows["measured_delta"]) ** 2).sum())
    value = 1 - squared / theirs if theirs else math.nan
    verdict = UNDECIDED if math.isnan(value) else MET if value > 0 else MISSED
    return name, value, "1 is perfect, 0 the rival's", "> 0", verdict


def rank_pairs(runs_path: Path, simulated: pd.Series) -> tuple[int, int]:
    """Pairs of layouts in the measured order, and pairs whose measured ratio is known to differ from one.

    Args:
        runs_path: ``host/runs.csv``; pairs are of the same round.
        simulated: runtime by layout.
    """
    runs = [run for run in RunLog(runs_path).read() if is_ok(run.status)]
    latest = {run.layout: run.key for run in runs}
    runs = [run for run in runs if run.key == latest[run.layout]]
    names = [name for name in dict.fromkeys(run.layout for run in runs) if name in simulated.index]
    right = decided = 0
    for i, one in enumerate(names):
        for other in names[i + 1 :]:
            first, second = times(runs, one), times(runs, other)
            rounds = sorted(first.keys() & second.keys())
            if len(rounds) < 3:
                continue
            logs = np.log([first[r] / second[r] for r in rounds])
            error = logs.std(ddof=1) / math.sqrt(len(logs))
            if abs(logs.mean()) <= SIGMAS * error:
                continue
            decided += 1
            right += bool(np.sign(logs.mean()) == np.sign(simulated[one] - simulated[other]))
    return right, decided


def reason_of(findings: pd.DataFrame, platform: str) -> str:
    """What this machine does that no platform file can say, from the chase's findings."""
    answers = dict(zip(findings["finding"], findings["answer"], strict=True))
    reasons = []
    if answers.get("2MB pages are splintered") == "yes":
        reasons.append(
            "the hypervisor backs guest 2MB pages with 4KB ones: real runs under 2MB pages still miss the "
            "TLB, with shorter walks, where the simulation has hits"
        )
    reasons.append("a real walk goes through two dimensions of page tables, a simulated one through one")
    if platform == "host-sim":
        reasons.append(
            "nothing in this platform file was measured: it holds CPUID's, published and assumed values"
        )
    return "; ".join(reasons)


def say_verdicts(_: pd.DataFrame, summaries: pd.DataFrame) -> None:
    """Print each quantity of each platform with its verdict."""
    for row in summaries.itertuples():
        print(f"{row.platform}, {row.quantity}: {row.value:.3g} {row.unit} {row.verdict}")


@study(MOSAICS, MOSAICS_SUMMARY, show=say_verdicts)
def mosaics(
    run: Run, comparison: Path, simulated: tuple[Path, ...], findings: Path
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Compare simulated differences between layouts with real runs under the same layouts.

    Example, after ./run --reserve smoke:
      ./run tessera lab run mosaics comparison=results/smoke/host/comparison.csv \\
        simulated=results/smoke/host/simulated.csv findings=results/smoke/validation/findings.csv \\
        --out /tmp/mosaics.csv

    Args:
        comparison: host/comparison.csv of a run; the runs.csv beside it is read, too.
        simulated: cells files, each of one platform.
        findings: findings.csv of `tessera lab run explain-chase`.
    """
    compared, found = read_file(COMPARISON, comparison), read_file(FINDINGS, findings)
    runs = comparison.with_name(ResultsTree(".").host_runs.name)
    layouts, summaries = [], []
    for path in simulated:
        cells = read_cells(path)
        name = str(cells["platform"].iloc[0]) if len(cells) else path.stem
        judged = mosaic_rows(compared, cells, name)
        good = ok_rows(cells).drop_duplicates("layout").set_index("layout")["runtime_cycles"].astype(float)
        ranks = rank_pairs(runs, good) if len(judged) else (0, 0)
        layouts.append(judged)
        summaries.append(mosaics_summary(judged, name, ranks, reason_of(found, name)))
    return pd.concat(layouts, ignore_index=True), pd.concat(summaries, ignore_index=True)
