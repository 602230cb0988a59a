"""Replicated page tables: Tables 4 to 6 and Figures 3 and 4 of Mitosis beside ours; tests of the patches."""

from __future__ import annotations

from pathlib import Path

from tessera.core.paths import repo_root
from tessera.kernel import ALL_PARTS
from tessera.results.attempts import outcomes
from tessera.results.status import is_ok
from tessera.show.report.pages import claims
from tessera.show.report.pages.kernel_tables import shown
from tessera.show.report.placing import others, written

HREF = "kernel.html"
#: file stem -> (title, what is measured here and in the paper), in the order of the page
TITLES = {
    "table4": (
        "Table 4: memory",
        "Memory with N copies of the page tables, divided by memory with one copy. Both rows are "
        "arithmetic. One evaluates the paper's function for a compact address space of 4KB pages; the other "
        "has the digits that the paper prints.",
    ),
    "table4_measured": (
        "Table 4, measured in the kernel",
        "Size of the page tables and their copies, as the kernel accounts it, after a program in the guest "
        "has touched this much memory. The paper computes this size and does not measure it.",
    ),
    "table5": (
        "Table 5: system calls",
        "Instructions of one call under emulation, without debug checks: the median of repeated calls. "
        "The paper counts cycles of a processor. An emulator has none, so the two ratios have different "
        "units. The largest region is 4 GB in the paper and 1 GB here. The column off / unpatched is the "
        "overhead of the patches for a process without copies.",
    ),
    "table6": (
        "Table 6: whole programs",
        "Instructions of whole runs, including initialisation and the kernel. The paper measures the time "
        "of GUPS and Redis over minutes, where initialisation is a small part. The runs here are short, and "
        "btree replaces Redis.",
    ),
    "balancing": (
        "A process that moves to another socket",
        "A process fills memory on socket 0 and moves to socket 1 of the guest. Automatic NUMA balancing "
        "moves its data after it; the page tables stay, so its leaf entries are remote. Then it asks for "
        "page tables on its new socket. A table has moved if another physical page translates its range.",
    ),
    "summary": (
        "Tests of the patches",
        "Selftests, invalid input and random operations in the guest. A checker in the kernel and a walker "
        "outside the guest compare all copies.",
    ),
    "prove": (
        "A missing hook",
        "A kernel without one of the stores to the copies: the checker inside and the walker outside must "
        "both report an error. For the complete series, neither may report one.",
    ),
    "selftests-mm": (
        "The kernel's own tests",
        "Linux's tests of memory management. Each runs without and with copies; a test that passes without "
        "copies must also pass with them.",
    ),
    "maps": (
        "Maps of a program",
        "Nodes of pages and page tables of GUPS in the guest, beside those that the rules of placement give.",
    ),
    "fragmented": (
        "Fragmented memory",
        "2MB pages that GUPS gets in a guest whose memory was fragmented (Figure 11).",
    ),
    "stress-ng": (
        "stress-ng",
        "Memory stressors that verify their results, with copies on all nodes and the checker.",
    ),
    "bisect": ("Patch by patch", "After each patch, the kernel must build and boot."),
}
#: tables that figures show; the page has them as files only
DRAWN = ("instructions", "placement", "figure4")
#: prefixes of the ids of the claims that these results decide
CLAIMS = ("mitosis-", "tessera-kernel-")
MOST_ROWS = 100  #: longer tables are shown in part; the file has all


def exists(facts) -> bool:
    """Whether this run has kernel results; without them there is no page."""
    return written(HREF, facts)


def page(facts) -> dict:
    found = files(facts)
    return {
        "title": "Kernel",
        "parts": _parts(facts.results.tree.kernel_parts),
        "tables": [_table(facts, name, path) for name, path in found.items() if path.stem not in DRAWN],
        "files": [(facts.results.tree.relative(path), name) for name, path in found.items()],
        "figures": others(facts, HREF),
        "claims": [row for row in claims.rows(facts) if row["id"].startswith(CLAIMS)],
        "command": ALL_PARTS,
    }


def files(facts) -> dict[str, Path]:
    """Names in the site's data folder -> files to copy there, known tables first.

    Two parts may have a table of the same name (``instructions.csv``): the second gets its part's in front.
    """
    found = facts.results.tree.found(facts.results.tree.kernel("*", "*.csv"))
    order = list(TITLES)
    named: dict[str, Path] = {}
    for path in sorted(found, key=lambda p: (order.index(p.stem) if p.stem in order else len(order), str(p))):
        name = f"kernel-{path.name}"
        named[f"kernel-{path.parent.name}-{path.name}" if name in named else name] = path
    return named


def _parts(folder: Path) -> list[dict]:
    """Parts of the run that failed, with their messages; paths inside the checkout are relative."""
    return [
        {"name": name, **one, "message": one["message"].replace(f"{repo_root()}/", "")}
        for name, one in outcomes(folder).items()
        if not is_ok(one)
    ]


def _table(facts, name: str, path: Path) -> dict:
    table = facts.results.at(path)
    title, words = TITLES.get(path.stem, (path.stem.replace("_", " "), ""))
    view = shown(path.stem, table.head(MOST_ROWS))
    return {
        "id": name.removeprefix("kernel-").removesuffix(".csv"),
        "title": title,
        "words": words,
        "columns": view.columns,
        "rows": view.rows,
        "left_out": max(0, len(table) - MOST_ROWS),
        "file": f"data/{name}",
        "path": facts.results.tree.relative(path),
    }
