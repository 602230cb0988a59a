"""Replicated page tables: the kernel's tables and figures beside Mitosis, and where page tables lie."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from tessera.core import reference
from tessera.core.errors import TesseraError
from tessera.core.files import repo_root
from tessera.core.results.kernel_tables import FRAGMENTED, MAPS, PLACEMENTS, PROGRAMS
from tessera.core.results.outcomes import is_ok, ok_rows, other_rows, part_outcomes
from tessera.core.results.report_tables import REFERENCE
from tessera.core.units import GB, MB, format_bytes
from tessera.lab.kernel import ALL_PARTS
from tessera.lab.kernel.cost_experiments import table_bytes
from tessera.lab.numa.mitosis_figures import figure11_gains
from tessera.lab.numa.placement_costs import PLATFORM, published_machine
from tessera.report.figures import mitosis_numa
from tessera.report.page_elements import is_written, other_figures
from tessera.report.pages.claims import claim_rows

# Replicated page tables: Tables 4 to 6 and Figures 3 and 4 of Mitosis beside ours; tests of the patches.

KERNEL_HREF = "kernel.html"
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
    "operations": (
        "System calls by kind of page",
        "Instructions of one call on 8 MB, as in Table 5, by the accessed and dirty bits of the pages. "
        "Hardware adds nothing to a leaf with both bits, so the kernel need not read the copies; the paper "
        "has no such table.",
    ),
    "updates": (
        "One entry more",
        "Instructions, loads and stores that one more entry adds to a call, all work on its page included. "
        "Copies 0: the mechanism is off. In the paper an update of N copies takes 2N memory references, so "
        "each copy adds two.",
    ),
    "requests": (
        "Requests of a running process",
        "A process of this size asks for copies of its page tables and gives them back. Instructions are its "
        "processor time, elapsed instructions also have the time in which it waits.",
    ),
    "memory": (
        "Accounts of the memory of replicas",
        "What the kernel says about the replicas of one process, about those of all nodes, and about the "
        "memory of the process's cgroup. They must differ from step to step by 4 KiB for each page.",
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
    "lives": (
        "Random lives of page tables",
        "The same random operations on memory, without and with copies: the contents, the entries and the "
        "accessed and dirty bits must be the same, and without copies the same as on the unpatched kernel.",
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
KERNEL_CLAIMS = ("mitosis-", "tessera-kernel-")
MOST_ROWS = 100  #: longer tables are shown in part; the file has all


def kernel_page_exists(facts) -> bool:
    """Whether this run has kernel results; without them there is no page."""
    return is_written(KERNEL_HREF, facts)


def kernel_page(facts) -> dict:
    found = kernel_files(facts)
    return {
        "title": "Kernel",
        "parts": _kernel_parts(facts.results.tree.kernel_parts),
        "tables": [
            _kernel_table(facts, name, path) for name, path in found.items() if path.stem not in DRAWN
        ],
        "files": [(facts.results.tree.relative(path), name) for name, path in found.items()],
        "figures": other_figures(facts, KERNEL_HREF),
        "claims": [row for row in claim_rows(facts) if row["id"].startswith(KERNEL_CLAIMS)],
        "command": ALL_PARTS,
    }


def kernel_files(facts) -> dict[str, Path]:
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


def _kernel_parts(folder: Path) -> list[dict]:
    """Parts of the run that failed, with their messages; paths inside the checkout are relative."""
    return [
        {"name": name, **one, "message": one["message"].replace(f"{repo_root()}/", "")}
        for name, one in part_outcomes(folder).items()
        if not is_ok(one)
    ]


def _kernel_table(facts, name: str, path: Path) -> dict:
    table = facts.results.at(path)
    title, words = TITLES.get(path.stem, (path.stem.replace("_", " "), ""))
    view = table_for_reading(path.stem, table.head(MOST_ROWS))
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


# Tables 4, 5 and 6 of the Mitosis paper beside ours, and the tests of the patches, as rows for people.
#
# A builder takes the table of ``snakemake kernel`` and returns a :class:`Shown`; :data:`TABLE_BUILDERS` names
# the columns that it needs. A table without them is shown as it is.

MEASURED, PUBLISHED = "measured", "published"


@dataclass(frozen=True)
class Heading:
    """A heading; ``provenance`` is that of the column's numbers, ``unit`` follows the name."""

    name: str
    unit: str = ""
    provenance: str = ""
    number: bool = True


@dataclass(frozen=True)
class Shown:
    columns: tuple[Heading, ...]
    rows: list[tuple]  #: texts and numbers; numbers are shown with four digits


def table4(table: pd.DataFrame) -> Shown:
    """A row of the function and a row of the paper's digits for each footprint."""
    copies = sorted(set(table["replicas"]))
    rows = []
    for name, mine in table.groupby("footprint", sort=False):
        mine = mine.set_index("replicas")
        scale, unit = (GB, "GB") if mine["page_table_bytes"].iloc[0] >= GB else (MB, "MB")
        size = f"{mine['page_table_bytes'].iloc[0] / scale:.2f} {unit}"
        rows.append((name, "function", size, *_digits(mine["overhead"], copies)))
        rows.append((name, "printed", _printed_size(name), *_digits(mine["published_overhead"], copies)))
    head = (Heading("memory", number=False), Heading("source", number=False), Heading("size of one copy"))
    return Shown((*head, *(Heading(f"{n} copies" if n > 1 else "1 copy") for n in copies)), rows)


def table4_measured(table: pd.DataFrame) -> Shown:
    rows = []
    for row in table.itertuples():
        calculated = int(row.copies) * table_bytes(int(row.footprint_bytes))
        asked = (
            format_bytes(int(row.footprint_bytes)),
            int(row.copies),
            f"{row.page_table_bytes / 1024:.0f}",
        )
        rows.append((*asked, f"{calculated / 1024:.0f}", int(row.page_table_bytes) - calculated))
    return Shown(
        (
            Heading("memory", number=False),
            Heading("copies"),
            Heading("accounted by the kernel", "KB", MEASURED),
            Heading("the paper's function", "KB"),
            Heading("difference", "bytes"),
        ),
        rows,
    )


#: Columns of a table of instructions whose last numbers are those of the mechanism off, and of four copies.
OF_OFF = (
    Heading("off / unpatched", "ratio of instructions", MEASURED),
    Heading("off", "instructions", MEASURED),
    Heading("4 copies", "instructions", MEASURED),
)


def table5(table: pd.DataFrame) -> Shown:
    rows = [
        (
            row.operation, row.region, f"{row.replicated_ratio:.3f}", f"{row.published_ratio:.1f}",
            f"{row.off_ratio:.3f}", int(row.off_instructions), int(row.replicated_instructions),
        )
        for row in table.itertuples()
    ]  # fmt: skip
    return Shown(
        (
            Heading("call", number=False),
            Heading("region", number=False),
            Heading("4 copies / off", "ratio of instructions", MEASURED),
            Heading("4 copies / off", "ratio of cycles", PUBLISHED),
            *OF_OFF,
        ),
        rows,
    )


def table6(table: pd.DataFrame) -> Shown:
    rows = [
        (
            row.program, f"{row.overhead_percent:.2f}", _or_dash(row.published_overhead_percent),
            int(row.off_instructions), int(row.replicated_instructions),
        )
        for row in table.itertuples()
    ]  # fmt: skip
    return Shown(
        (
            Heading("program", number=False),
            Heading("4 copies add", "% of instructions", MEASURED),
            Heading("copies add", "% of time", PUBLISHED),
            Heading("off", "instructions", MEASURED),
            Heading("4 copies", "instructions", MEASURED),
        ),
        rows,
    )


def operations(table: pd.DataFrame) -> Shown:
    rows = [
        (
            row.operation, row.pages, f"{row.replicated_ratio:.3f}", f"{row.off_ratio:.3f}",
            int(row.off_instructions), int(row.replicated_instructions),
        )
        for row in table.itertuples()
    ]  # fmt: skip
    return Shown(
        (
            Heading("call", number=False),
            Heading("pages", number=False),
            Heading("4 copies / off", "ratio of instructions", MEASURED),
            *OF_OFF,
        ),
        rows,
    )


def updates(table: pd.DataFrame) -> Shown:
    rows = [
        (
            row.operation, row.pages, int(row.copies), f"{row.instructions:.1f}",
            f"{row.added_instructions:.1f}", f"{row.loads:.1f}", f"{row.stores:.1f}",
            f"{row.added_references:.1f}",
        )
        for row in table.itertuples()
    ]  # fmt: skip
    return Shown(
        (
            Heading("call", number=False),
            Heading("pages", number=False),
            Heading("copies"),
            Heading("an entry", "instructions", MEASURED),
            Heading("beyond off", "instructions", MEASURED),
            Heading("an entry", "loads", MEASURED),
            Heading("an entry", "stores", MEASURED),
            Heading("beyond off", "loads and stores", MEASURED),
        ),
        rows,
    )


def outcome_counts(name: str) -> Callable[[pd.DataFrame], Shown]:
    """A builder: a row per outcome with its count, and the names of those that did not pass."""

    def build(table: pd.DataFrame) -> Shown:
        rows = []
        for outcome, part in table.groupby("outcome", sort=False):
            names = "" if outcome == "passed" else ", ".join(part[name].astype(str))
            rows.append((outcome, len(part), names))
        return Shown(
            (Heading("outcome", number=False), Heading("count"), Heading("which", number=False)), rows
        )

    return build


#: file stem -> (columns that it needs, builder)
TABLE_BUILDERS: dict[str, tuple[tuple[str, ...], Callable[[pd.DataFrame], Shown]]] = {
    "table4": (("footprint", "page_table_bytes", "replicas", "overhead", "published_overhead"), table4),
    "table4_measured": (("footprint_bytes", "copies", "page_table_bytes"), table4_measured),
    "table5": (
        (
            "operation", "region", "off_instructions", "replicated_instructions", "replicated_ratio",
            "off_ratio", "published_ratio",
        ),
        table5,
    ),
    "table6": (
        (
            "program", "off_instructions", "replicated_instructions", "overhead_percent",
            "published_overhead_percent",
        ),
        table6,
    ),
    "operations": (
        (
            "operation", "pages", "off_instructions", "replicated_instructions", "replicated_ratio",
            "off_ratio",
        ),
        operations,
    ),
    "updates": (
        (
            "operation", "pages", "copies", "instructions", "added_instructions", "loads", "stores",
            "added_references",
        ),
        updates,
    ),
    "stress-ng": (("stressor", "outcome"), outcome_counts("stressor")),
    "selftests-mm": (("test", "outcome"), outcome_counts("test")),
    "bisect": (("patch", "outcome"), outcome_counts("patch")),
}  # fmt: skip


def table_for_reading(stem: str, table: pd.DataFrame) -> Shown:
    """A table for people: by its builder, or column by column."""
    needed, build = TABLE_BUILDERS.get(stem, ((), None))
    if build and set(needed) <= set(table.columns) and table[list(needed)[:1]].notna().all().all():
        return build(table)
    columns = tuple(
        Heading(name.replace("_", " "), number=pd.api.types.is_numeric_dtype(table[name]))
        for name in table.columns
    )
    rows = table.astype(object).where(table.notna(), "")
    return Shown(columns, list(rows.itertuples(index=False, name=None)))


def _digits(ratios: pd.Series, copies: list[int]) -> list[str]:
    return [f"{ratios[n]:.3f}" for n in copies]


def _printed_size(footprint: str) -> str:
    row = reference.select_published(
        "mitosis_table4", {"footprint": footprint, "quantity": "page_table_size"}
    ).iloc[0]
    decimals = 1 if row["value"] >= 10 else 2  # as printed: 32.0 GB, 2.00 GB
    return f"{row['value']:.{decimals}f} {row['unit']}"


def _or_dash(value: float) -> str:
    return f"{value:.2f}" if value == value else "\u2013"


# Where page tables lie: a computed GUPS under each placement of Mitosis Table 2.

#: claims about placements, by the beginnings of their names
PLACEMENT_CLAIMS = (
    "mitosis-migration-", "mitosis-remote-tables-", "mitosis-all-remote-", "mitosis-local-fastest",
    "mitosis-gups-2mb-", "mitosis-multi-socket-", "mitosis-fragmented-", "tessera-numa-",
)  # fmt: skip


def placements_page(facts) -> dict:
    rows = facts.results.read(PLACEMENTS, expected=False)
    programs = facts.results.read(PROGRAMS, expected=False)
    return {
        "title": "Placements",
        "figure": facts.figure(mitosis_numa.PLACEMENTS_NAME),
        "machine": published_machine(),
        "rows": ok_rows(rows).to_dict("records") if len(rows) else [],
        "failed": other_rows(rows).to_dict("records") if len(rows) else [],
        "bars": _bars(facts) if len(ok_rows(programs)) else [],
        "programs_figure": facts.figure(mitosis_numa.PROGRAMS_NAME) if len(programs) else None,
        "failed_programs": other_rows(programs).to_dict("records") if len(programs) else [],
        "maps": facts.results.read(MAPS, expected=False).to_dict("records"),
        "fragmented": facts.results.read(FRAGMENTED, expected=False).to_dict("records"),
        "gains": _gains(facts),
        "claims": [row for row in facts.claims.to_dict("records") if row["id"].startswith(PLACEMENT_CLAIMS)],
    }


def _gains(facts) -> list[dict]:
    """Gains of Figure 11; none without shares of a guest, or without simulated costs."""
    fragmented = ok_rows(facts.results.read(FRAGMENTED, expected=False))
    rows = ok_rows(facts.results.read(PLACEMENTS, expected=False))
    rows = rows[rows["platform"] == PLATFORM]
    if fragmented.empty or rows.empty:
        return []
    try:
        return figure11_gains(
            fragmented, rows, facts.results.read(REFERENCE["archived"], expected=False)
        ).to_dict("records")
    except TesseraError:  # a cell that the gain needs has failed; its row says so
        return []


def _bars(facts) -> list[dict]:
    """The bars of programs, with the size and scale of each."""
    sizes = facts.results.read(PROGRAMS, expected=False).drop_duplicates("workload").set_index("workload")
    found = mitosis_numa.judged_program_bars(facts.results).to_dict("records")
    return [row | sizes.loc[row["workload"], ["scale", "footprint_bytes"]].to_dict() for row in found]
