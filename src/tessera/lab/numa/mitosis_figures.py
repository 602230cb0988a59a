"""Simulated slowdowns beside the bars of Mitosis Figures 6, 10 and 11, with verdicts."""

from __future__ import annotations

import math
from pathlib import Path

import pandas as pd

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.results.kernel_tables import PROGRAMS
from tessera.core.results.outcomes import ok_rows
from tessera.core.results.schema import Table, columns
from tessera.core.results.table_io import frame_of, read_file
from tessera.lab.numa.archive import column, figure_cycles, read_archive
from tessera.lab.numa.arithmetic import FRAGMENTED_FIGURE, implied_shares, verdicts_shown
from tessera.lab.numa.placement_costs import HOG_SWEEP, LEAST_RATIO, LOCAL, MIGRATED, REMOTE_HOGGED
from tessera.lab.study import Paths, Run, study

# Slowdowns of programs beside the bars of Figures 6 and 10, with a verdict for each.
#
# A bar is a runtime over that of LP-LD (Figure 6), or that of RPI-LD over RPI-LD+M (Figure 10). Judged is
# its gain, the ratio minus 1: it holds if it is within half of the published gain, and its 95% interval
# excludes 0. Two kinds of bars are listed without a verdict: those published below 1.05, because half of
# such a gain cannot fail, and those with 2MB pages, because Linux gave the paper's programs only some. The
# assumed number of the hog's lines decides; other numbers give the range.

HOLDS, FAILS = "HOLDS-IN-SIMULATION", "FAILS-IN-SIMULATION"
GAIN_TOLERANCE = 0.5  #: of the published gain
JUDGED = Table(
    "numa-judge", lambda tree: Path("judged.csv"), "tessera lab run numa-judge", "simulated",
    "simulated programs beside bars of Mitosis Figures 6 and 10", columns("""
    program          text    -  of Mitosis Table 1
    workload         text    -  its workload
    platform         text    -  scaled platform
    page_size        text    -  4KB or 2MB
    figure           text    -  6 or 10
    configuration    text    -  of the bar
    ratio            number  1  simulated, with the assumed number of the hog's lines
    ratio_ci95       number  1  half-width of its 95% interval
    least_ratio      number  1  least one over all numbers of lines
    greatest_ratio   number  1  greatest one over all numbers of lines
    published_ratio  number  1  quotient of archived cycles
    verdict          text    -  HOLDS-IN-SIMULATION, FAILS-IN-SIMULATION, or empty: only listed
    note             text    -  why it is only listed, or how it fails
    provenance       text    -  of ratio: simulated
    """),
)  # fmt: skip
DECIDING = ("", HOG_SWEEP[1.0])  #: assumptions of the rows that decide


def judge_bars(rows: pd.DataFrame, archived: pd.DataFrame) -> pd.DataFrame:
    """A row for each bar of the programs among ``rows``: the table :data:`JUDGED`.

    Args:
        rows: tables :data:`PROGRAMS`, one or several joined.
        archived: rows of the archive in use; may be empty, then nothing is judged.
    """
    found = []
    good = ok_rows(rows).dropna(subset=["runtime_ratio"])
    for (workload, size), mine in good.groupby(["workload", "page_size"], sort=False):
        published = _published(archived, str(mine["program"].iloc[0]), str(size))
        for bar in _simulated_bars(mine):
            printed = published.get(bar["configuration"], math.nan)
            verdict, note = bar_verdict(bar["ratio"], bar["ratio_ci95"], printed, str(size))
            found.append(
                {"program": mine["program"].iloc[0], "workload": workload, "page_size": size}
                | {"platform": mine["platform"].iloc[0], "provenance": "simulated"}
                | bar
                | {"published_ratio": printed, "verdict": verdict, "note": note}
            )
    return frame_of(JUDGED, found)


@study(JUDGED, show=verdicts_shown(HOLDS, FAILS))
def judge(run: Run, programs: Paths, source: Path | None = None) -> pd.DataFrame:
    """Compare simulated programs with the archived bars of Mitosis Figures 6 and 10.

    A gain (ratio minus 1) holds if it is within half of the published gain and its interval excludes 0.
    Published bars below 1.05, and rows with 2MB pages, are listed without a verdict.

    Example: ./run tessera lab run numa-judge programs=/tmp/xsbench.csv --out /tmp/judged.csv

    Args:
        programs: table of the study numa-program.
        source: folder of unpacked data; default: what `tessera dev reference fetch mitosis` downloads.

    Raises:
        TesseraError: the archive is not here, or a file is no such table.
    """
    rows = pd.concat([read_file(PROGRAMS, path) for path in programs])
    return judge_bars(rows, read_archive(source).good)


def bar_verdict(ratio: float, ci95: float, published: float, page_size: str) -> tuple[str, str]:
    """Verdict of a bar, empty if it is only listed, and why it is or how it fails."""
    if math.isnan(published):
        return "", "no published cycles in use"
    if page_size != "4KB":
        return "", "listed: 2MB pages everywhere are a bound"
    if published < LEAST_RATIO:
        return "", f"listed: the published bar is below {LEAST_RATIO:g}"
    if abs(ratio - 1) <= ci95:
        return FAILS, "the 95% interval of the gain includes 0"
    if abs(ratio - published) > GAIN_TOLERANCE * (published - 1):
        return FAILS, f"more than {GAIN_TOLERANCE:.0%} from the published gain"
    return HOLDS, ""


def _simulated_bars(rows: pd.DataFrame) -> list[dict]:
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
    moved, before = (
        rows[rows["configuration"] == REMOTE_HOGGED + MIGRATED],
        rows[rows["configuration"] == REMOTE_HOGGED],
    )
    if len(moved) and len(_deciding(before)):
        base, deciding = moved.iloc[0], _deciding(before).iloc[0]
        ratio = deciding["runtime_cycles"] / base["runtime_cycles"]
        shares = [one["runtime_cycles_ci95"] / one["runtime_cycles"] for one in (deciding, base)]
        bars.append(
            {"figure": "10", "configuration": f"{REMOTE_HOGGED} / {REMOTE_HOGGED}{MIGRATED}"}
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
    six = figure_cycles(archived, "Figure 6", "runtime", page_size)
    ten = figure_cycles(archived, "Figure 10a", "runtime", page_size)
    found = {}
    if program in six.index:
        base = column(six, LOCAL)[program]
        found = {name: float(column(six, name)[program] / base) for name in six.columns if name != LOCAL}
    if program in ten.index:
        quotient = column(ten, REMOTE_HOGGED)[program] / column(ten, REMOTE_HOGGED + MIGRATED)[program]
        found[f"{REMOTE_HOGGED} / {REMOTE_HOGGED}{MIGRATED}"] = float(quotient)
    return found


# Cost of a program with a share of its memory in 2MB pages, from its costs with pages of one size.
#
# If accesses are uniform, a share p of them goes to 2MB pages, so C = p x C(2MB) + (1 - p) x C(4KB), and R
# in the same way (Figure 11; the shares that the archive implies: :mod:`tessera.lab.numa.arithmetic`). Not
# modelled: entries of both page sizes compete for one STLB, and for the caches.


def mixed_cycles(small: float, large: float, share: float) -> float:
    """Cycles with this share of 2MB pages.

    Raises:
        TesseraError: a share outside 0 to 1.
    """
    if not 0 <= share <= 1:
        raise TesseraError(
            "share of 2MB pages", f"it is {share}", "give a share from 0 to 1", code="numa-share"
        )
    return share * large + (1 - share) * small


def mixed_gain(rows: pd.DataFrame, share: float, quantity: str, configuration: str = REMOTE_HOGGED) -> float:
    """Cycles of a configuration over those with its tables moved (+M), with this share of 2MB pages.

    Args:
        rows: rows of ``studies/numa/placements.csv`` of one workload and platform.
        quantity: ``walk_cycles`` or ``runtime_cycles``.

    Raises:
        TesseraError: a row is missing or has no such cycles, or a share outside 0 to 1.
    """
    return _mixed_cycles_of(rows, share, quantity, configuration) / _mixed_cycles_of(
        rows, share, quantity, configuration + MIGRATED
    )


def _mixed_cycles_of(rows: pd.DataFrame, share: float, quantity: str, configuration: str) -> float:
    chosen = rows[(rows["configuration"] == configuration) & rows["assumption"].fillna("").isin(DECIDING)]
    by_size = chosen.dropna(subset=[quantity]).drop_duplicates("page_size").set_index("page_size")[quantity]
    if not {"4KB", "2MB"} <= set(by_size.index):
        raise TesseraError(
            f"{quantity} of {configuration} with 4KB and with 2MB pages",
            f"there are those with {', '.join(by_size.index) or 'none'}",
            "simulate them: tessera lab run numa-placements",
            exit_code=EXIT_FAILED,
            code="numa-mixed",
        )
    return mixed_cycles(float(by_size["4KB"]), float(by_size["2MB"]), share)


# Figure 11 for GUPS: what moving the page tables gains in fragmented memory, by share of 2MB pages.
#
# Shares come from a guest with fragmented memory (:mod:`tessera.lab.numa.fragmented_memory`, measured) and
# from archived walk cycles (:mod:`tessera.lab.numa.arithmetic`, published). The gain with a share is
# simulated (:func:`mixed_gain`); beside it is the quotient of archived runtimes.

FIGURE11_PROGRAM = "GUPS"  #: the only one of Figure 11 that is computed at its size
FIGURE11_COLUMNS = (
    "source", "configuration", "share", "share_provenance", "walk_gain", "runtime_gain", "archived_gain",
)  # fmt: skip


def figure11_gains(
    fragmented: pd.DataFrame, placements: pd.DataFrame, archived: pd.DataFrame
) -> pd.DataFrame:
    """A row for each share; columns are :data:`FIGURE11_COLUMNS`.

    Args:
        fragmented: table ``kernel/fragmented/fragmented.csv``; its control is left out.
        placements: rows of ``studies/numa/placements.csv`` of one workload and platform that succeeded.
        archived: rows of the archive in use; may be empty, then there are no published shares.
    """
    shares = [
        (f"guest, {row.blocks} blocks", row.configuration, float(row.share), "measured")
        for row in ok_rows(fragmented).itertuples()
        if row.least_index > 0
    ]
    published = math.nan
    if len(archived):
        implied = {name: of.get(FIGURE11_PROGRAM) for name, of in implied_shares(archived).items()}
        shares += [
            ("archive", f"T{name}", float(share), "published")
            for name, share in implied.items()
            if share is not None and 0 <= share <= 1
        ]
        cycles = figure_cycles(archived, FRAGMENTED_FIGURE, "runtime", "2MB")
        quotient = column(cycles, REMOTE_HOGGED) / column(cycles, REMOTE_HOGGED + MIGRATED)
        published = float(quotient.get(FIGURE11_PROGRAM, math.nan))
    rows = [
        (
            *known,
            *(mixed_gain(placements, known[2], f"{what}_cycles") for what in ("walk", "runtime")),
            published,
        )
        for known in shares
    ]
    return pd.DataFrame(rows, columns=list(FIGURE11_COLUMNS))
