"""The archived measurements of Mitosis: those in use, those in quarantine, and the bars of its figures."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from tessera.core.errors import EXIT_FAILED, TesseraError, unknown_name
from tessera.core.reference import archived, records
from tessera.core.reference.quarantine import split
from tessera.core.results.schema import Table, columns
from tessera.core.results.table_io import frame_of
from tessera.lab.numa.placement_costs import LEAST_RATIO, LOCAL
from tessera.lab.study import Run, printed, study

# The archive: all numbers, those that can be used, and those in quarantine.
#
# They come from the fetched record, or from a folder with the same files. They are not part of the
# repository.

RECORD = "mitosis"
_PAGE = {"4KB": "", "2MB": "T"}


@dataclass(frozen=True)
class Archive:
    """Rows of :data:`tessera.core.reference.archived.COLUMNS`: all, those to use, those in quarantine."""

    every: pd.DataFrame
    good: pd.DataFrame
    aside: pd.DataFrame


def read_archive(folder: Path | None = None) -> Archive:
    """The archive in ``folder``, or the fetched record.

    Raises:
        TesseraError: it is not here, a file is missing, or a file has another layout.
    """
    record = records.load_record(RECORD)
    place = folder or record.data_folder
    if not place.is_dir():
        raise TesseraError(
            f"archived data of Mitosis ({record.doi}) in {place}",
            "the folder does not exist" if folder else "the record was not fetched",
            f"./run tessera dev reference fetch {RECORD}; or give a folder with {record.tables[0].file}",
            exit_code=EXIT_FAILED,
            code="numa-no-archive",
        )
    every = archived.read_archived(record, place)
    good, aside, _ = split(every, record)
    return Archive(every, good, aside)


def figure_cycles(rows: pd.DataFrame, figure: str, quantity: str, page_size: str) -> pd.DataFrame:
    """Cycles of one figure, a row for each workload and a column for each configuration.

    Args:
        figure: location, for example ``Figure 6``.
        quantity: ``runtime`` or ``walk``.
        page_size: ``4KB`` or ``2MB``; names of 2MB configurations lose their leading T.

    Returns:
        Workloads in the order of the file. Values that are not among ``rows`` are NaN.
    """
    chosen = rows[
        (rows["location"] == figure) & (rows["quantity"] == quantity) & (rows["page_size"] == page_size)
    ]
    wide = chosen.pivot(index="workload", columns="configuration", values="value")
    wide.columns = [str(name).removeprefix(_PAGE[page_size]) for name in wide.columns]
    return wide.reindex(chosen["workload"].drop_duplicates())


def column(wide: pd.DataFrame, configuration: str) -> pd.Series:
    """One configuration of :func:`figure_cycles`; all NaN if no row has it."""
    return wide[configuration] if configuration in wide else pd.Series(float("nan"), index=wide.index)


# Bars of Figures 6, 9, 10 and 11 as quotients of archived cycles, and the numbers above the bars.
#
# A bar is runtime over the runtime of the figure's base with 4KB pages. ``walk_share`` is its hashed part:
# walk cycles over the bar's own runtime. ``improvement`` is the number above a bar with Mitosis: runtime
# without Mitosis over runtime with it, in the same group. No bar is read off a drawing.
#
# 2MB rows of Figure 6 are not drawn (section 3.2), but Figure 10b has three of them. A number in quarantine
# gives an empty value and a note.

BARS = Table(
    "numa-bars", lambda tree: Path("bars.csv"), "tessera lab run numa-bars", "published",
    "bars of Mitosis Figures 6, 9, 10 and 11", columns("""
    figure              text    -  as drawn
    workload            text    -  program of the paper
    configuration       text    -  of Table 2 or 3
    page_size           text    -  4KB or 2MB
    normalized_runtime  number  1  runtime over that of the figure's base with 4KB pages
    walk_share          number  1  walk cycles over the bar's own runtime
    improvement         number  1  runtime without Mitosis over that with it; empty for other bars
    judgeable           truth   -  whether the effect is at least 5%
    note                text    -  why a number is missing
    provenance          text    -  published
    """),
)  # fmt: skip

_MIGRATION = [LOCAL, "RPI-LD", "RPI-LD+M"]
_MULTI_SOCKET = ["F", "F+M", "F-A", "F-A+M", "I", "I+M"]
#: drawn figure -> (location in the archive, base, page size, configurations without T)
BAR_FIGURES: dict[str, tuple[str, str, str, list[str]]] = {
    "6": ("Figure 6", LOCAL, "4KB", [LOCAL, "LP-RD", "LP-RDI", "RP-LD", "RPI-LD", "RP-RD", "RPI-RDI"]),
    "9a": ("Figure 9a", "F", "4KB", _MULTI_SOCKET),
    "9b": ("Figure 9a", "F", "2MB", _MULTI_SOCKET),
    "10a": ("Figure 10a", LOCAL, "4KB", _MIGRATION),
    "10b": ("Figure 10a", LOCAL, "2MB", _MIGRATION),
    "11": ("Figure 11", LOCAL, "2MB", _MIGRATION),
}
_ASIDE = "set aside by tessera dev reference compare"


@study(BARS, show=printed(3, without=["provenance"]))
def bars(run: Run, source: Path | None = None, figure: str = "") -> pd.DataFrame:
    """Compute the bars of Figures 6, 9, 10 and 11 of Mitosis as quotients of archived cycles.

    Example: ./run tessera lab run numa-bars figure=10a --out /tmp/bars.csv

    Args:
        source: folder of unpacked data; default: what `tessera dev reference fetch mitosis` downloads.
        figure: one figure only: 6, 9a, 9b, 10a, 10b or 11.

    Raises:
        TesseraError: the archive is not here, or has a workload without its base.
    """
    if figure and figure not in BAR_FIGURES:
        raise unknown_name("figure", figure, tuple(BAR_FIGURES))
    rows = archived_bars(read_archive(source))
    return rows[rows["figure"] == figure] if figure else rows


def archived_bars(archive: Archive) -> pd.DataFrame:
    """All bars: the table :data:`BARS`.

    ``judgeable`` is True for a slowdown of Figure 6 or an improvement of at least 5%; a smaller effect is too
    close to 1 to judge. ``provenance`` is ``published``.

    Raises:
        TesseraError: a workload without its base.
    """
    rows = [row for figure in BAR_FIGURES for row in _figure_bars(archive, figure)]
    return frame_of(BARS, rows)


def _figure_bars(archive: Archive, figure: str) -> list[list]:
    location, base_name, size, names = BAR_FIGURES[figure]
    base = column(figure_cycles(archive.good, location, "runtime", "4KB"), base_name)
    runtime, walk = (
        figure_cycles(archive.good, location, quantity, size) for quantity in ("runtime", "walk")
    )
    every = figure_cycles(archive.every, location, "runtime", size)
    rows = []
    for workload in every.index:
        if pd.isna(base.get(workload)):
            raise TesseraError(
                f"{location} of the archive, {workload}",
                f"no usable runtime of {base_name} with 4KB pages, the base of the bars",
                "compare the files with the record: ./run tessera dev reference verify mitosis",
                exit_code=EXIT_FAILED,
                code="numa-no-base",
            )
        for name in names:
            cycles = column(runtime, name).get(workload)
            bar = cycles / base[workload] if cycles is not None else float("nan")
            better = column(runtime, name.removesuffix("+M")).get(workload, float("nan")) / _divisor(cycles)
            improvement = better if name.endswith("+M") else float("nan")
            effect = improvement if name.endswith("+M") or figure != "6" else bar
            rows.append(
                [figure, workload, ("T" if size == "2MB" else "") + name, size, bar,
                 _share(column(walk, name).get(workload), cycles), improvement,
                 bool(effect >= LEAST_RATIO), _ASIDE if pd.isna(bar * better) else "", "published"]
            )  # fmt: skip
    return rows


def _divisor(cycles: float | None) -> float:
    """Cycles as a divisor; NaN if there are none."""
    return float("nan") if cycles is None or not cycles > 0 else float(cycles)


def _share(walk: float | None, runtime: float | None) -> float:
    return float("nan") if walk is None else float(walk) / _divisor(runtime)
