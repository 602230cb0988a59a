"""The tables of a measurement as lines for people."""

from __future__ import annotations

from pathlib import Path

from tessera.results.read import read_file
from tessera.results.schema.faults import COMB, ENVIRONMENT, LATENCY, PASSES
from tessera.results.tree import Tree

#: Shares of touches in the printed table.
SHOWN = (0.01, 0.25, 0.5, 0.9, 0.99, 0.999)
Lines = tuple[list[str], list[list[str]]]


def _read(table, name: str, results: Path):
    return read_file(table, Tree(results).host_faults(name))


def environment_line(results: Path) -> str:
    """What the latencies depend on."""
    row = _read(ENVIRONMENT, "environment", results).iloc[0]
    where = "in a virtual machine" if row["virtual"] else "on bare metal"
    return (
        f"{row['processor']} {where}; Linux {row['kernel']}; THP {row['thp'] or 'absent'}; "
        f"governor {row['governor'] or 'absent'}; TSC {row['tsc_hertz'] / 1e9:.3f} GHz; "
        f"clock {row['clock_cycles']} cycles"
    )


def latency_lines(results: Path) -> Lines:
    """A line for each kind: quantiles in us."""
    table = _read(LATENCY, "latency", results)
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


def comb_lines(results: Path) -> Lines:
    """A line for each comb."""
    heads = ["kind", "reason", "period", "hits", "asked", "share", "by chance", "extra TSC cycles"]
    return heads, [
        [
            row.kind, row.reason, str(row.period), str(row.hits), str(row.asked),
            f"{100 * row.hits / row.asked:.1f}%" if row.asked else "-", f"{100 * row.chance:.1f}%",
            f"{row.extra_cycles:.0f}",
        ]
        for row in _read(COMB, "comb", results).itertuples()
    ]  # fmt: skip


def cosine_lines(results: Path) -> Lines:
    """A line for each kind: medians of the cosines, and how many passes and touches were dropped."""
    heads = [
        "kind", "constant", "repeat", "constant, clipped", "repeat, clipped", "passes refused",
        "touches over 1 ms",
    ]  # fmt: skip
    rows = []
    for kind, mine in _read(PASSES, "passes", results).groupby("kind", sort=False):
        counted = mine[mine["refused"] == ""]
        medians = counted[["cosine_constant", "cosine_repeat", "clipped_constant", "clipped_repeat"]].median()
        refused = len(mine) - len(counted)
        rows.append(
            [kind, *(f"{value:.2f}" for value in medians), str(refused), str(counted["outside"].sum())]
        )
    return heads, rows
