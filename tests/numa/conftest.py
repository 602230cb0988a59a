"""An archive made by hand, whose numbers obey the closed form to the cycle, and its folder on disk."""

from __future__ import annotations

import copy
from pathlib import Path

import pytest

from tessera.lab.numa import archive

#: Figure 6: walker latency of a configuration, its data's latency; local 280, remote 580, wait 700
LATENCIES = {
    "LP-LD": (280, 280), "LP-RD": (280, 580), "LP-RDI": (280, 1280), "RP-LD": (580, 280),
    "RPI-LD": (1280, 280), "RP-RD": (580, 580), "RPI-RDI": (1280, 1280), "RPI-LD+M": (280, 280),
}  # fmt: skip
#: workload -> walker loads with 4KB pages, data loads, other walk cycles, other cycles
WORKLOADS = {
    "GUPS": (1_000_000, 1_000_000, 20_000_000, 80_000_000),
    "Redis": (100_000, 400_000, 10_000_000, 90_000_000),
}
SHARES = {"Alpha": (75, 75, 75, 75), "Beta": (18, 82, 100, 100)}
MMAP = (1_000_000_000, 1_180_000_000)  #: cycles for 4GB, off and on: 172 cycles more for each of 2^20 pages


def figure6(share: float = 0.5) -> dict[str, dict[str, tuple[int, int, int]]]:
    """workload -> configuration -> runtime, walk, non-walk cycles.

    ``share``: walker loads with 2MB pages, of those with 4KB pages.
    """
    cycles: dict = {}
    for name, (walker, data, other_walk, other) in WORKLOADS.items():
        cycles[name] = {}
        for prefix, loads in (("", walker), ("T", round(walker * share))):
            for configuration, (tables, memory) in LATENCIES.items():
                walk = other_walk + loads * tables + len(configuration)  # no two rows are equal
                rest = other + data * memory + len(prefix)
                cycles[name][prefix + configuration] = (walk + rest, walk, rest)
    return cycles


def figure9() -> dict:
    """Walk cycles fall by 20% with +M, the rest stays; 2MB pages have half of the walk cycles."""
    cycles: dict = {"Alpha": {}}
    for at, (prefix, base) in enumerate((("", 500_000), ("T", 250_000))):
        for order, name in enumerate(("F", "F-A", "I")):
            rest = 1_000_000 - 100_000 * order - at
            for suffix, walk in (("", base + order), ("+M", base * 4 // 5 + order)):
                cycles["Alpha"][prefix + name + suffix] = (walk + rest, walk, rest)
    return cycles


def cycles_text(cycles: dict, header: str = "Config") -> str:
    lines = ["\t".join(["Workload", header, "Runtime Cycles", "Walk Cycles", "Non-Walk Cycles"])]
    for workload, rows in cycles.items():
        lines += ["\t".join([workload, name, *map(str, row)]) for name, row in rows.items()]
    return "\n".join(lines) + "\n"


def shares_text(shares: dict) -> str:
    lines = ["Workloads\tSocket 0\tSocket 1\tSocket 2\tSocket 3"]
    lines += ["\t".join([name, *(f"{share}%" for share in row)]) for name, row in shares.items()]
    return "\n".join(lines) + "\n"


def operations_text(off: int, on: int) -> str:
    head = "label npages pagesize mitosis min avg 99th max min/nmages avg/npages 99th/page max/npages".split()
    lines = ["\t".join(head)]
    for state, average in enumerate((off, on)):
        row = ["MAP", 1 << 20, 4096, state, average, average, average, average, 0, 0, 0, 0]
        lines.append("\t".join(map(str, row)))
    return "\n".join(lines) + "\n"


def only(cycles: dict, names: tuple[str, ...]) -> dict:
    return {workload: {name: rows[name] for name in names} for workload, rows in cycles.items()}


@pytest.fixture
def folder(tmp_path):
    """Makes the folder; ``rows`` replace those of Figure 6 by (workload, configuration)."""

    def make(rows: dict | None = None, shares: dict | None = None, mmap: tuple[int, int] = MMAP) -> Path:
        six = copy.deepcopy(figure6())
        for (workload, configuration), row in (rows or {}).items():
            six[workload][configuration] = row
        names = ("LP-LD", "RPI-LD", "RPI-LD+M", "TLP-LD", "TRPI-LD", "TRPI-LD+M")
        fragmented = ("LP-LD", "TLP-LD", "TRPI-LD", "TRPI-LD+M")
        texts = {
            "figure4/figure4_normalized.csv": shares_text(SHARES | (shares or {})),
            "figure6/figure6_absolute.csv": cycles_text(six, "Configuration"),
            "figure9/figure9a_absolute.csv": cycles_text(figure9()),
            "figure9/figure9b_absolute.csv": "",
            "figure10/figure10a_absolute.csv": cycles_text(only(six, names)),
            "figure10/figure10b_absolute.csv": "",
            "figure11/figure11_absolute.csv": cycles_text(only(figure6(0.75), fragmented)),
            "table5/table5_absolute.csv": operations_text(*mmap),
            "table6/table6_absolute.csv": "",
        }
        place = tmp_path / "mitosis"
        for name, text in texts.items():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            (place / name).write_text(text)
        return place

    return make


@pytest.fixture
def read(folder):
    """Makes the folder and reads it."""
    return lambda **changes: archive.read_archive(folder(**changes))
