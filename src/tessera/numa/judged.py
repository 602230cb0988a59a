"""Simulated slowdowns of programs beside the bars of Mitosis Figures 6 and 10, with a verdict for each.

A bar is a runtime over that of LP-LD (Figure 6), or that of RPI-LD over RPI-LD+M (Figure 10). Judged is its
gain, the ratio minus 1: it holds if it is within half of the published gain, and its 95% interval excludes 0.
Two kinds of bars are listed without a verdict: those published below 1.05, because half of such a gain cannot
fail, and those with 2MB pages, because Linux gave the paper's programs only some. The assumed number of the
hog's lines decides; other numbers give the range.
"""

from __future__ import annotations

import math

import pandas as pd

from tessera.numa.archive import column, cycles_of
from tessera.numa.costs import LEAST_RATIO
from tessera.numa.placement import LOCAL, MIGRATED
from tessera.numa.queue import SWEEP
from tessera.results.status import ok_rows

HOLDS, FAILS = "HOLDS-IN-SIMULATION", "FAILS-IN-SIMULATION"
TOLERANCE = 0.5  #: of the published gain
MOVED = "RPI-LD"  #: Figure 10 moves the page tables of this configuration
COLUMNS = (
    "program", "workload", "platform", "page_size", "figure", "configuration", "ratio", "ratio_ci95",
    "least_ratio", "greatest_ratio", "published_ratio", "verdict", "note", "provenance",
)  # fmt: skip
DECIDING = ("", SWEEP[1.0])  #: assumptions of the rows that decide


def judge(rows: pd.DataFrame, archived: pd.DataFrame) -> pd.DataFrame:
    """A row for each bar of the programs among ``rows``; columns are :data:`COLUMNS`.

    Args:
        rows: tables of ``tessera numa program``, one or several joined.
        archived: rows of the archive in use; may be empty, then nothing is judged.

    Returns:
        ``ratio`` and its 95% half-width are simulated, with the assumed number of lines; ``least_ratio`` and
        ``greatest_ratio`` are over all numbers of lines. ``published_ratio``: quotient of archived cycles.
    """
    found = []
    good = ok_rows(rows).dropna(subset=["runtime_ratio"])
    for (workload, size), mine in good.groupby(["workload", "page_size"], sort=False):
        published = _published(archived, str(mine["program"].iloc[0]), str(size))
        for bar in _bars(mine):
            printed = published.get(bar["configuration"], math.nan)
            verdict, note = judged(bar["ratio"], bar["ratio_ci95"], printed, str(size))
            found.append(
                {"program": mine["program"].iloc[0], "workload": workload, "page_size": size}
                | {"platform": mine["platform"].iloc[0], "provenance": "simulated"}
                | bar
                | {"published_ratio": printed, "verdict": verdict, "note": note}
            )
    return pd.DataFrame(found, columns=list(COLUMNS))


def judged(ratio: float, ci95: float, published: float, page_size: str) -> tuple[str, str]:
    """Verdict of a bar, empty if it is only listed, and why it is or how it fails."""
    if math.isnan(published):
        return "", "no published cycles in use"
    if page_size != "4KB":
        return "", "listed: 2MB pages everywhere are a bound"
    if published < LEAST_RATIO:
        return "", f"listed: the published bar is below {LEAST_RATIO:g}"
    if abs(ratio - 1) <= ci95:
        return FAILS, "the 95% interval of the gain includes 0"
    if abs(ratio - published) > TOLERANCE * (published - 1):
        return FAILS, f"more than {TOLERANCE:.0%} from the published gain"
    return HOLDS, ""


def _bars(rows: pd.DataFrame) -> list[dict]:
    """Bars of one workload with one page size: six of Figure 6, one of Figure 10."""
    bars = []
    for name, mine in rows.groupby("configuration", sort=False):
        if name == LOCAL or str(name).endswith(MIGRATED):
            continue
        for _, row in _deciding(mine).iterrows():
            bars.append(
                {"figure": "6", "configuration": name}
                | _bar(row["runtime_ratio"], row["runtime_ratio_ci95"], mine["runtime_ratio"])
            )
    moved, before = rows[rows["configuration"] == MOVED + MIGRATED], rows[rows["configuration"] == MOVED]
    if len(moved) and len(_deciding(before)):
        base, deciding = moved.iloc[0], _deciding(before).iloc[0]
        ratio = deciding["runtime_cycles"] / base["runtime_cycles"]
        shares = [one["runtime_cycles_ci95"] / one["runtime_cycles"] for one in (deciding, base)]
        bars.append(
            {"figure": "10", "configuration": f"{MOVED} / {MOVED}{MIGRATED}"}
            | _bar(ratio, ratio * math.hypot(*shares), before["runtime_cycles"] / base["runtime_cycles"])
        )
    return bars


def _deciding(rows: pd.DataFrame) -> pd.DataFrame:
    """The row of a configuration that decides; none if it failed."""
    return rows[rows["assumption"].fillna("").isin(DECIDING)].head(1)


def _bar(ratio: float, ci95: float, every: pd.Series) -> dict:
    spread = {"least_ratio": float(every.min()), "greatest_ratio": float(every.max())}
    return {"ratio": float(ratio), "ratio_ci95": float(ci95)} | spread


def _published(archived: pd.DataFrame, program: str, page_size: str) -> dict[str, float]:
    """Archived quotients of a program by configuration; none without an archive or for other programs."""
    if archived.empty or not program:
        return {}
    six = cycles_of(archived, "Figure 6", "runtime", page_size)
    ten = cycles_of(archived, "Figure 10a", "runtime", page_size)
    found = {}
    if program in six.index:
        base = column(six, LOCAL)[program]
        found = {name: float(column(six, name)[program] / base) for name in six.columns if name != LOCAL}
    if program in ten.index:
        quotient = column(ten, MOVED)[program] / column(ten, MOVED + MIGRATED)[program]
        found[f"{MOVED} / {MOVED}{MIGRATED}"] = float(quotient)
    return found
