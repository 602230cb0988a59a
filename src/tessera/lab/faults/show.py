"""The tables of a measurement, and a recording, as lines for people."""

from __future__ import annotations

from pathlib import Path

from tessera.core.results.os_tables import FAULT_COMB, FAULT_ENVIRONMENT, FAULT_LATENCY, FAULT_PASSES
from tessera.core.results.table_io import read_file
from tessera.core.results.tree import ResultsTree
from tessera.lab.faults.kinds import BATCH, TABLE
from tessera.lab.faults.latencies import comb
from tessera.lab.faults.recorded_faults import (
    in_order,
    largest,
    lines_by_structure,
    ordinary,
    summary_of_counts,
)
from tessera.lab.faults.recording import RecordedFaults

# The tables of a measurement as lines for people.

#: Shares of touches in the printed table.
SHOWN = (0.01, 0.25, 0.5, 0.9, 0.99, 0.999)
Lines = tuple[list[str], list[list[str]]]


def _read(table, name: str, results: Path):
    return read_file(table, ResultsTree(results).host_faults(name))


def environment_line(results: Path) -> str:
    """What the latencies depend on."""
    row = _read(FAULT_ENVIRONMENT, "environment", results).iloc[0]
    where = "in a virtual machine" if row["virtual"] else "on bare metal"
    return (
        f"{row['processor']} {where}; Linux {row['kernel']}; THP {row['thp'] or 'absent'}; "
        f"governor {row['governor'] or 'absent'}; TSC {row['tsc_hertz'] / 1e9:.3f} GHz; "
        f"clock {row['clock_cycles']} cycles"
    )


def latency_lines(results: Path) -> Lines:
    """A line for each kind: quantiles in us."""
    table = _read(FAULT_LATENCY, "latency", results)
    heads = ["kind", *(f"p{100 * share:g}" for share in SHOWN), "p50 of passes", "passes"]
    rows = []
    for kind, mine in table.groupby("kind", sort=False):
        by_share = mine.set_index("share")
        us = by_share["ns"] / 1e3
        middle = by_share.loc[0.5]
        scale = us[0.5] / middle["tsc_cycles"]
        spread = f"{middle['low_cycles'] * scale:.2f} to {middle['high_cycles'] * scale:.2f}"
        rows.append([kind, *(f"{us[share]:.2f}" for share in SHOWN), spread, str(middle["passes"])])
    return heads, rows


def measured_comb_lines(results: Path) -> Lines:
    """A line for each comb."""
    heads = ["kind", "reason", "period", "hits", "asked", "share", "by chance", "extra TSC cycles"]
    return heads, [
        [
            row.kind, row.reason, str(row.period), str(row.hits), str(row.asked),
            f"{100 * row.hits / row.asked:.1f}%" if row.asked else "-", f"{100 * row.chance:.1f}%",
            f"{row.extra_cycles:.0f}",
        ]
        for row in _read(FAULT_COMB, "comb", results).itertuples()
    ]  # fmt: skip


def cosine_lines(results: Path) -> Lines:
    """A line for each kind: medians of the cosines, and how many passes and touches were dropped."""
    heads = [
        "kind", "constant", "repeat", "constant, clipped", "repeat, clipped", "passes refused",
        "touches over 1 ms",
    ]  # fmt: skip
    rows = []
    for kind, mine in _read(FAULT_PASSES, "passes", results).groupby("kind", sort=False):
        counted = mine[mine["refused"] == ""]
        medians = counted[["cosine_constant", "cosine_repeat", "clipped_constant", "clipped_repeat"]].median()
        refused = len(mine) - len(counted)
        rows.append(
            [kind, *(f"{value:.2f}" for value in medians), str(refused), str(counted["outside"].sum())]
        )
    return heads, rows


# A recording as lines for people.

#: Instructions vary less than time: a tooth has this many times those around it.
INSTRUCTIONS_FACTOR = 1.2
NO_LINES = (0, 0, 0)


def kind_lines(recording: RecordedFaults) -> Lines:
    """A line for each kind: counts of all its faults."""
    heads = [
        "kind", "faults", "instructions: least", "median", "largest", "loads", "stores", "bytes by strings",
        "lines of 64 bytes",
    ]  # fmt: skip
    rows = []
    for kind, counts in recording.counts.items():
        one = summary_of_counts(counts)
        numbers = (*one.instructions, one.loads, one.stores, one.string_bytes, one.lines)
        rows.append([kind, str(one.faults), *(f"{number:,.0f}" for number in numbers)])
    return heads, rows


def structure_lines(recording: RecordedFaults, kind: str) -> Lines:
    """A line for each structure: lines of 64 bytes of the ordinary fault, and of the largest."""
    heads = ["structure", "lines loaded", "lines stored", "lines", "lines of the largest fault"]
    one, other = (lines_by_structure(of(recording.chosen[kind])) for of in (ordinary, largest))
    names = sorted({*one, *other}, key=lambda name: [-both.get(name, NO_LINES)[2] for both in (one, other)])
    return heads, [
        [name, *map(str, one.get(name, NO_LINES)), str(other.get(name, NO_LINES)[2])] for name in names
    ]


def recorded_comb_lines(recording: RecordedFaults) -> Lines:
    """The combs of the kinds that have them, in instructions instead of time."""
    heads = ["kind", "reason", "period", "hits", "asked", "extra instructions"]
    rows = []
    for kind, teeth in (("write-4kb", TABLE), ("write-4kb", BATCH), ("read-zero", TABLE)):
        found = comb([in_order(recording.counts[kind])], teeth, INSTRUCTIONS_FACTOR)
        rows.append(
            [kind, teeth.reason, str(teeth.period), str(found.hits), str(found.asked), f"{found.extra:,.0f}"]
        )
    return heads, rows
