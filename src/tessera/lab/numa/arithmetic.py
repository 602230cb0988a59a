"""Checks of archived and printed numbers against algebra; a function and a line in :data:`PARTS` each."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from tessera.core import reference
from tessera.core.errors import unknown_name
from tessera.core.reference.comparison import compare_printed
from tessera.core.results.schema import Table, columns
from tessera.core.results.table_io import frame_of
from tessera.core.units import PAGE_2MB, PAGE_4KB
from tessera.lab.numa.archive import Archive, column, figure_cycles, read_archive
from tessera.lab.numa.placement_costs import (
    HOG_SWEEP,
    LINE_BYTES,
    LOCAL,
    REMOTE_HOGGED,
    LoadCosts,
    NumaMachine,
    greatest_ratio,
    hog_lines,
    placement_named,
    printed_number,
    published_machine,
    wait_cycles,
)
from tessera.lab.study import Run, printed, study

# One check: a value, its bounds and a verdict.
#
# Verdicts are CONSISTENT and CONTRADICTED: proof-reading, no finding about a mechanism.

CONSISTENT, CONTRADICTED = "CONSISTENT", "CONTRADICTED"
CHECKS = Table(
    "numa-arithmetic", lambda tree: Path("arithmetic.csv"), "tessera lab run numa-arithmetic", "published",
    "archived and printed numbers of Mitosis beside algebra", columns("""
    part        text    -  group of checks
    check       text    -  what is checked
    workload    text    -  program of the paper, or all
    page_size   text    -  4KB, 2MB or empty
    value       number  1  in the unit of the column unit; empty: a number is missing or was set aside
    lower       number  1  least value that is consistent
    upper       number  1  greatest value that is consistent
    unit        text    -  of value, lower and upper
    verdict     text    -  CONSISTENT, CONTRADICTED, or empty: only listed
    note        text    -  a remark
    provenance  text    -  published
    """),
)  # fmt: skip


@dataclass(frozen=True)
class BoundedValue:
    """``value`` must lie in [``lower``, ``upper``]; without ``judged`` it is only listed.

    A value that cannot be computed (NaN: a number is missing or in quarantine) has no verdict either.
    """

    check: str
    workload: str
    page_size: str
    value: float
    lower: float
    upper: float
    unit: str
    note: str = ""
    judged: bool = True

    @property
    def verdict(self) -> str:
        """CONSISTENT, CONTRADICTED, or empty."""
        if math.isnan(self.value) or not self.judged:
            return ""
        return CONSISTENT if self.lower <= self.value <= self.upper else CONTRADICTED

    def row(self) -> list:
        """Values of :data:`CHECKS` without the part."""
        note = self.note
        if math.isnan(self.value):
            note = "a number that it needs is missing or was set aside"
        return [
            self.check, self.workload, self.page_size, self.value, self.lower, self.upper, self.unit,
            self.verdict, note, "published",
        ]  # fmt: skip


# Tolerances of the checks, by page size. They were chosen after a look at the archive.
#
# So they say how well the archive obeys a rule, and they are no test of a prediction. 2MB rows of one
# placement differ by up to a third between runs (HashJoin, TRP-RD), so no 2MB row is judged closer than 25%.

#: relative deviation without interference
QUIET_TOLERANCE = {"4KB": 0.05, "2MB": 0.25}
#: relative deviation with interference
HOGGED_TOLERANCE = {"4KB": 0.11, "2MB": 0.25}
#: difference of two shares of 2MB pages
COVERAGE_TOLERANCE = 0.10
#: an implied wait is judged if remote tables raise C by this much; below it, n is noise
LEAST_EXTRA = {"4KB": 0.10, "2MB": 0.25}


# Remote tables and remote data cost the same together as apart (Figure 6).
#
# R(RP-RD) = R(LP-RD) + R(RP-LD) - R(LP-LD), and the same with interference (RPI-RDI, LP-RDI, RPI-LD). The
# value is the relative deviation of the left side from the right side. This is what a fixed latency for each
# load predicts if placement changes no count of loads.

_ADDITIVE_SUMS = (
    ("RP-RD", "LP-RD", "RP-LD", QUIET_TOLERANCE),
    ("RPI-RDI", "LP-RDI", REMOTE_HOGGED, HOGGED_TOLERANCE),
)


def additive(archive: Archive) -> Iterator[BoundedValue]:
    """Runtime with remote tables and data is the sum of both effects."""
    for size in QUIET_TOLERANCE:
        runtime = figure_cycles(archive.good, "Figure 6", "runtime", size)
        for both, data, tables, tolerance in _ADDITIVE_SUMS:
            apart = column(runtime, data) + column(runtime, tables) - column(runtime, LOCAL)
            for workload, value in (column(runtime, both) / apart - 1).items():
                yield BoundedValue(
                    f"additive {both}",
                    str(workload),
                    size,
                    float(value),
                    -tolerance[size],
                    tolerance[size],
                    "1",
                )


# The placement of data leaves walk cycles as they are (Figure 6).
#
# C(LP-RD) = C(LP-LD) and C(RP-RD) = C(RP-LD), and the same with interference. The value is the ratio minus
# 1. The closed form (:mod:`tessera.lab.numa.placement_costs`) needs this: it has no term for data. It fails
# where walks wait behind the program's own loads.

_UNCHANGED_PAIRS = (
    ("LP-RD", LOCAL, QUIET_TOLERANCE),
    ("RP-RD", "RP-LD", QUIET_TOLERANCE),
    ("LP-RDI", LOCAL, HOGGED_TOLERANCE),
    ("RPI-RDI", REMOTE_HOGGED, HOGGED_TOLERANCE),
)


def unchanged(archive: Archive) -> Iterator[BoundedValue]:
    """Walk cycles do not depend on where data lie."""
    for size in QUIET_TOLERANCE:
        walk = figure_cycles(archive.good, "Figure 6", "walk", size)
        for remote, local, tolerance in _UNCHANGED_PAIRS:
            for workload, value in (column(walk, remote) / column(walk, local) - 1).items():
                yield BoundedValue(
                    f"walks of {remote}", str(workload), size, float(value), -tolerance[size],
                    tolerance[size], "1", f"over {local}",
                )  # fmt: skip


# The wait W of one walker load behind the hog, as the archive implies it (Figure 6).
#
# n = (C(RP-LD) - C(LP-LD)) / (remote - local latency), and W = (C(RPI-LD) - C(RP-LD)) / n. The queue of
# :mod:`tessera.lab.numa.placement_costs` assumes W; the bounds are the ends of its sweep. Nothing is fitted
# to these values.


def implied_waits(rows: pd.DataFrame, page_size: str, machine: NumaMachine) -> pd.DataFrame:
    """Implied waits of Figure 6.

    Args:
        rows: archived rows, as :class:`tessera.lab.numa.archive.Archive` holds them.

    Returns:
        A row for each workload: ``extra`` = C(RP-LD) / C(LP-LD) - 1, and ``wait_cycles``.
    """
    walk = figure_cycles(rows, "Figure 6", "walk", page_size)
    local, remote, hogged = (column(walk, name) for name in (LOCAL, "RP-LD", REMOTE_HOGGED))
    loads = (remote - local) / (machine.remote_load_cycles - machine.local_load_cycles)
    return pd.DataFrame({"extra": remote / local - 1, "wait_cycles": (hogged - remote) / loads})


def waits(archive: Archive) -> Iterator[BoundedValue]:
    """The hog's queue has the assumed length within a factor of 2."""
    machine = published_machine()
    assumed = wait_cycles(hog_lines(machine), machine.local_cycles_per_line)
    for size, least in LEAST_EXTRA.items():
        for workload, row in implied_waits(archive.good, size, machine).iterrows():
            judged = bool(row["extra"] >= least)
            note = (
                f"{assumed:.0f} assumed"
                if judged
                else f"n is noise: remote tables raise C by {row['extra']:.1%}"
            )
            yield BoundedValue(
                "implied wait", str(workload), size, float(row["wait_cycles"]), min(HOG_SWEEP) * assumed,
                max(HOG_SWEEP) * assumed, "cycles", note, judged,
            )  # fmt: skip


# Walk cycles rise at most by the ratio of latencies (Figures 6 and 9).
#
# Every cycle of a walk is at most a load from memory, so C(RP-LD) / C(LP-LD) lies between 1 and 580 / 280,
# and C(RPI-LD) / C(LP-LD) below (580 + W) / 280 with the assumed W. On four sockets, a leaf table lies on
# one socket, so the remote shares that the sockets see sum to 3. With equal numbers of walks on all sockets,
# C(F) / C(F+M) is at most (280 + 3 x 580) / 4 / 280. Upper bounds have no tolerance, lower bounds that of
# noise.


def bounds(archive: Archive) -> Iterator[BoundedValue]:
    """Ratios of walk cycles within the ratios of latencies."""
    machine = published_machine()
    wait = wait_cycles(hog_lines(machine), machine.local_cycles_per_line)
    costs = LoadCosts(machine.local_load_cycles, machine.remote_load_cycles, wait)
    pairs = [
        ("Figure 6", name, LOCAL, greatest_ratio(placement_named(name), costs))
        for name in ("RP-LD", REMOTE_HOGGED)
    ]
    spread = machine.first_touch_load_cycles / machine.local_load_cycles
    pairs += [("Figure 9a", name, f"{name}+M", spread) for name in ("F", "F-A", "I")]
    for size, noise in QUIET_TOLERANCE.items():
        for figure, far, near, upper in pairs:
            walk = figure_cycles(archive.good, figure, "walk", size)
            for workload, value in (column(walk, far) / column(walk, near)).items():
                yield BoundedValue(
                    f"walks of {far}",
                    str(workload),
                    size,
                    float(value),
                    1 - noise,
                    upper,
                    "ratio",
                    f"over {near}",
                )


# Table 6 as extra cycles of a mapped page, beside the archived cost of mmap (Table 5).
#
# Both runs of Table 6 have everything local, so they show the cost of replicas without their gain. Extra
# cycles of a page = (on - off) x frequency / pages, with 4KB pages of the footprint of Table 1 (GB as powers
# of two). The standard deviation of a difference is the root of the sum of squares; bounds are two of them
# on either side. Table 6 prints no unit. Seconds are the only one that fits: the same program without
# initialization takes fewer seconds in Figure 6. The number of replicas is not printed either.
#
# The archived mmap of 4GB is in quarantine, because Table 5 prints 1.4e9 cycles and the archive has 3.4e9.
# Its difference between on and off is used here beside Table 6, and the note says so.

MMAP_REGION_BYTES = 1 << 32  #: of the archived mmap
TABLE6_DEVIATIONS = 2
TABLE6_PROGRAMS = ("GUPS", "Redis")


def extra_cycles_a_page(program: str) -> tuple[float, float]:
    """Extra cycles of Mitosis for each mapped page of Table 6, and their standard deviation."""
    name = program.lower()
    where = {"workload": program, "scenario": "migration"}
    pages = reference.lookup("mitosis_table1", where) * 2**30 / PAGE_4KB
    off, on = (
        reference.lookup("mitosis_values", {"quantity": f"runtime_{name}_{state}"}) for state in ("off", "on")
    )
    spread = math.hypot(printed_number(f"deviation_{name}_off"), printed_number(f"deviation_{name}_on"))
    cycles = published_machine().frequency_hz / pages
    return (on - off) * cycles, spread * cycles


def archived_mmap(archive: Archive) -> float:
    """Extra cycles a page of mmap of 4GB in the archive; NaN if it is not there."""
    rows = archive.every
    rows = rows[(rows["workload"] == "mmap") & (rows["quantity"] == "avg")]
    rows = rows[rows["region_bytes"] == MMAP_REGION_BYTES].set_index("configuration")["value"]
    if not {"on", "off"} <= set(rows.index):
        return float("nan")
    return float(rows["on"] - rows["off"]) / (MMAP_REGION_BYTES / PAGE_4KB)


def table6_units(archive: Archive) -> Iterator[BoundedValue]:
    """Table 6 costs as much for a page as mmap does, and its unit is seconds."""
    mmap = archived_mmap(archive)
    runtime = column(figure_cycles(archive.good, "Figure 6", "runtime", "4KB"), LOCAL)
    for program in TABLE6_PROGRAMS:
        extra, spread = extra_cycles_a_page(program)
        yield BoundedValue(
            "mmap beside Table 6", program, "4KB", mmap, extra - TABLE6_DEVIATIONS * spread,
            extra + TABLE6_DEVIATIONS * spread, "cycles a page",
            f"Table 6: {extra:.0f} +- {spread:.0f} cycles a page; archived mmap of 4GB, set aside",
        )  # fmt: skip
    for program in TABLE6_PROGRAMS:
        whole = reference.lookup("mitosis_values", {"quantity": f"runtime_{program.lower()}_off"})
        seconds = float(runtime.get(program, float("nan"))) / published_machine().frequency_hz
        yield BoundedValue(
            "part of Table 6's run",
            program,
            "4KB",
            seconds,
            0,
            whole,
            "s",
            "Figure 6, without initialization",
        )


# The share of memory with 2MB pages after fragmentation, as Figure 11 implies it.
#
# Let a share p of a program's memory be in 2MB pages. If its accesses are uniform, C = p x C(2MB) + (1 - p)
# x C(4KB), so p = (C(4KB) - C) / (C(4KB) - C(2MB)). C(4KB) and C(2MB) are those of Figure 10, without
# fragmentation: Figure 11 of the archive has 4KB pages with local tables only. The node of the page tables
# does not change the pages, so p must be the same with local tables and with remote ones and a hog.

FRAGMENTED_FIGURE, WHOLE_FIGURE = "Figure 11", "Figure 10a"


def implied_shares(rows: pd.DataFrame) -> dict[str, pd.Series]:
    """Configuration (local tables, remote ones with a hog) -> share of 2MB pages of each workload.

    Args:
        rows: rows of the archive in use.
    """
    pieces = figure_cycles(rows, FRAGMENTED_FIGURE, "walk", "2MB")
    small, large = (
        figure_cycles(rows, WHOLE_FIGURE, "walk", size).reindex(pieces.index) for size in ("4KB", "2MB")
    )
    return {
        name: (column(small, name) - column(pieces, name)) / (column(small, name) - column(large, name))
        for name in (LOCAL, REMOTE_HOGGED)
    }


def coverage(archive: Archive) -> Iterator[BoundedValue]:
    """The share of 2MB pages with remote tables, in the bounds that local tables give."""
    shares = implied_shares(archive.good)
    for workload in shares[LOCAL].index:
        local, remote = (float(shares[name][workload]) for name in (LOCAL, REMOTE_HOGGED))
        yield BoundedValue(
            f"2MB pages of {FRAGMENTED_FIGURE}", str(workload), "2MB", remote,
            local - COVERAGE_TOLERANCE, local + COVERAGE_TOLERANCE, "share", f"{LOCAL}: {local:.2f}",
        )  # fmt: skip


# Numbers of the text beside those of tables and of the archive.
#
# Maxima and minima that the text prints must be those of the archived bars, within the rounding of their
# printed digits. :mod:`tessera.core.reference.comparison` computes most of them. The shares of Figure 4, the
# working sets of Table 1 and the lines of section 8.2 are added here.

_ENTRY_BYTES = 8


def printed_values(archive: Archive) -> Iterator[BoundedValue]:
    """Numbers of the text are those of the figures."""
    for _, row in compare_printed(archive.good, archive.every, None).iterrows():
        if pd.isna(row["archived"]) or row["quantity"].startswith("overhead of "):
            continue
        slack = _half_a_digit(row["printed"])
        lower = 0 if row["bound"] == "at most" else row["printed"] - slack
        yield BoundedValue(
            row["quantity"], "all", "", float(row["archived"]), lower, row["printed"] + slack, row["unit"],
            f"{row['location']}, printed {row['printed']:g}",
        )  # fmt: skip
    yield _printed_shares(archive)
    sizes = reference.select_published("mitosis_table1", {"scenario": "migration"})["value"]
    for what, value in (("least", sizes.min()), ("most", sizes.max())):
        text = printed_number(f"working_set_{what}")
        yield BoundedValue(
            f"working_set_{what}", "all", "", float(value), text - 0.5, text + 0.5, "GB",
            f"Table 1; section 8.2 prints {text:g}",
        )  # fmt: skip
    covered = LINE_BYTES // _ENTRY_BYTES * PAGE_2MB
    text = printed_number("data_lines_per_leaf_line_2mb")
    yield BoundedValue(
        "data_lines_per_leaf_line", "GUPS", "2MB", covered / LINE_BYTES / 1024, text / 1e3 - 0.5,
        text / 1e3 + 0.5, "1024 lines", "8 entries of 2MB pages in a line; section 8.2",
    )  # fmt: skip


def _printed_shares(archive: Archive) -> BoundedValue:
    shares = archive.good[archive.good["quantity"] == "remote_leaf_entries"]["value"]
    text = reference.lookup("mitosis_text", {"quantity": "remote_leaf_share_one_socket"})
    most = float(shares.max()) if len(shares) else float("nan")
    return BoundedValue(
        "remote_leaf_share_one_socket", "all", "", most, text - 0.5, text + 0.5, "percent",
        f"Figure 4; section 3.1 prints {text:g}",
    )  # fmt: skip


def _half_a_digit(value: float) -> float:
    decimals = len(f"{value:g}".partition(".")[2])
    return 0.5 * 10.0**-decimals


# All checks.

#: name -> checks
PARTS: dict[str, Callable[[Archive], Iterable[BoundedValue]]] = {
    "additive": additive,
    "unchanged": unchanged,
    "waits": waits,
    "bounds": bounds,
    "table6": table6_units,
    "coverage": coverage,
    "printed": printed_values,
}


def archive_checks(archive: Archive, parts: Iterable[str] = PARTS) -> pd.DataFrame:
    """Rows of the named parts: the table :data:`CHECKS`."""
    return frame_of(CHECKS, [[name, *check.row()] for name in parts for check in PARTS[name](archive)])


def verdicts_shown(*words: str) -> Callable[[pd.DataFrame], None]:
    """A ``show`` that prints the rows, and how many have which of these verdicts."""

    def show(table: pd.DataFrame) -> None:
        printed(3, without=["provenance"])(table)
        counts = [f"{(table['verdict'] == word).sum()} {word}" for word in words]
        print(f"{', '.join(counts)}, {(table['verdict'] == '').sum()} listed without a verdict")

    return show


@study(CHECKS, show=verdicts_shown(CONSISTENT, CONTRADICTED))
def arithmetic_study(run: Run, source: Path | None = None, part: str = "") -> pd.DataFrame:
    """Check the archived numbers of Mitosis against algebra: CONSISTENT or CONTRADICTED.

    Example: ./run tessera lab run numa-arithmetic part=waits --out /tmp/arithmetic.csv

    Args:
        source: folder of unpacked data; default: what `tessera dev reference fetch mitosis` downloads.
        part: one group of checks only: additive, unchanged, waits, bounds, table6, coverage or printed.

    Raises:
        TesseraError: the archive is not here.
    """
    if part and part not in PARTS:
        raise unknown_name("part", part, tuple(PARTS))
    return archive_checks(read_archive(source), [part] if part else list(PARTS))
