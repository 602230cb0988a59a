"""Replicated page tables: the tables that ``snakemake kernel`` wrote, as they are."""

from __future__ import annotations

from pathlib import Path

from tessera.report import tables

#: file stem -> (title, what it shows); other tables follow by their name
TITLES = {
    "summary": (
        "What it stands",
        "Selftests and random operations in the guest, watched from inside and outside.",
    ),
    "prove": (
        "A forgotten hook",
        "The series without one store to replicas: checker inside and walker outside report it.",
    ),
    "stress-ng": (
        "stress-ng",
        "Memory stressors that verify, with replicas on all nodes and the checker on.",
    ),
    "bisect": ("Patch by patch", "Each patch builds and boots."),
    "table4": ("Memory of page tables", "With 1, 2 and 4 replicas (Mitosis, Table 4)."),
    "table5": (
        "Cost of system calls",
        "mmap, mprotect and munmap with replicas against without (Mitosis, Table 5).",
    ),
    "table4_measured": (
        "Memory of page tables, measured",
        "The kernel's own account, with 1, 2 and 4 copies.",
    ),
    "table6": ("Whole programs", "Instructions with replicas against without (Mitosis, Table 6: time)."),
    "instructions": ("Instructions", "Counted in the guest: time under emulation is not the processor's."),
    "placement": ("Where page tables lie", "Tables and pointers by level and socket."),
    "figure4": (
        "Leaf tables on other sockets",
        "Share of leaf entries that a socket's processors find elsewhere.",
    ),
}
MOST_ROWS = 400  #: longer tables are shown in part; the file has all


def exists(facts) -> bool:
    """Whether this run has kernel results; without them there is no page."""
    return bool(_files(facts.results.directory))


def page(facts) -> dict:
    return {
        "title": "Kernel",
        "tables": [_table(path, facts.results.directory) for path in _files(facts.results.directory)],
    }


def _files(results: Path) -> list[Path]:
    found = {path.stem: path for path in sorted((results / "kernel").rglob("*.csv"))}
    order = [name for name in TITLES if name in found]
    return [found[name] for name in [*order, *sorted(set(found) - set(order))]]


def _table(path: Path, results: Path) -> dict:
    table = tables.read(path)
    title, words = TITLES.get(path.stem, (path.stem.replace("_", " "), ""))
    return {
        "id": path.stem,
        "title": title,
        "words": words,
        "columns": list(table.columns),
        "rows": tables.rows(table.head(MOST_ROWS)),
        "left_out": max(0, len(table) - MOST_ROWS),
        "file": f"data/kernel-{path.stem}.csv",
        "path": path.relative_to(results).as_posix(),
    }


def files(facts) -> dict[str, Path]:
    """Names in the site's data folder -> files to copy there."""
    return {f"kernel-{path.stem}.csv": path for path in _files(facts.results.directory)}
