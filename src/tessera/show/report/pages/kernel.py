"""Replicated page tables: Tables 4 to 6 and Figures 3 and 4 of Mitosis beside ours; what patches stood."""

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
#: file stem -> (title, what was measured and what the paper measured instead); in the page's order
TITLES = {
    "table4": (
        "Table 4: memory",
        "Memory with so many copies of the page tables over memory with one. Both rows are arithmetic: "
        "the paper's function for a compact address space of 4KB pages, computed here, and the digits "
        "that it prints.",
    ),
    "table4_measured": (
        "Table 4, asked of the kernel",
        "What the kernel itself says that page tables and their copies weigh, after a program in the "
        "guest has touched so much memory. The paper computes this and measures no memory.",
    ),
    "table5": (
        "Table 5: system calls",
        "Instructions of one call under emulation, without debug checks: the median of repeated calls. "
        "The paper counts cycles of a processor, which an emulator does not have, so the two ratios "
        "answer one question with two measures. Its largest region is 4 GB, ours 1 GB. Off over unpatched "
        "is what the patches cost who does not use them.",
    ),
    "table6": (
        "Table 6: whole programs",
        "Instructions of whole runs, initialisation and kernel included. The paper takes the time of runs "
        "of minutes (GUPS and Redis), where initialisation weighs little; ours are short, and btree "
        "stands in the place of Redis.",
    ),
    "summary": (
        "What the patches stood",
        "Selftests, refusals and random operations in the guest, with a checker in the kernel and a "
        "walker outside that compares all copies.",
    ),
    "prove": (
        "A forgotten hook",
        "The series without one store to the copies: the checker inside and the walker outside must both "
        "report it, and neither may report the whole series.",
    ),
    "selftests-mm": (
        "The kernel's own tests",
        "Linux's tests of memory management, each without and with copies: one that passes without must "
        "pass with.",
    ),
    "stress-ng": ("stress-ng", "Memory stressors that verify, with copies on all nodes and the checker on."),
    "bisect": ("Patch by patch", "The kernel after each patch builds and boots."),
}
#: tables that figures show; the page has them as files only
DRAWN = ("instructions", "placement", "figure4")
#: how the ids of the claims start that these results decide
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
    """Parts of the run that failed, with what they said; paths inside the checkout are relative."""
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
