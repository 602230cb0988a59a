"""Tables 4, 5 and 6 of the Mitosis paper beside ours, and the tests of the patches, as rows for people.

A builder takes the table of ``snakemake kernel`` and returns a :class:`Shown`; :data:`BUILDERS` names the
columns that it needs. A table without them is shown as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd

from tessera import reference
from tessera.core.units import GB, MB, format_bytes
from tessera.kernel.overhead import table_bytes

MEASURED, PUBLISHED = "measured", "published"


@dataclass(frozen=True)
class Column:
    """A heading; ``provenance`` is that of the column's numbers, ``unit`` follows the name."""

    name: str
    unit: str = ""
    provenance: str = ""
    number: bool = True


@dataclass(frozen=True)
class Shown:
    columns: tuple[Column, ...]
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
    head = (Column("memory", number=False), Column("source", number=False), Column("size of one copy"))
    return Shown((*head, *(Column(f"{n} copies" if n > 1 else "1 copy") for n in copies)), rows)


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
            Column("memory", number=False),
            Column("copies"),
            Column("accounted by the kernel", "KB", MEASURED),
            Column("the paper's function", "KB"),
            Column("difference", "bytes"),
        ),
        rows,
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
            Column("call", number=False),
            Column("region", number=False),
            Column("4 copies / off", "ratio of instructions", MEASURED),
            Column("4 copies / off", "ratio of cycles", PUBLISHED),
            Column("off / unpatched", "ratio of instructions", MEASURED),
            Column("off", "instructions", MEASURED),
            Column("4 copies", "instructions", MEASURED),
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
            Column("program", number=False),
            Column("4 copies add", "% of instructions", MEASURED),
            Column("copies add", "% of time", PUBLISHED),
            Column("off", "instructions", MEASURED),
            Column("4 copies", "instructions", MEASURED),
        ),
        rows,
    )


def outcomes(name: str) -> Callable[[pd.DataFrame], Shown]:
    """A builder: a row per outcome with its count, and the names of those that did not pass."""

    def build(table: pd.DataFrame) -> Shown:
        rows = []
        for outcome, part in table.groupby("outcome", sort=False):
            names = "" if outcome == "passed" else ", ".join(part[name].astype(str))
            rows.append((outcome, len(part), names))
        return Shown((Column("outcome", number=False), Column("count"), Column("which", number=False)), rows)

    return build


#: file stem -> (columns that it needs, builder)
BUILDERS: dict[str, tuple[tuple[str, ...], Callable[[pd.DataFrame], Shown]]] = {
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
    "stress-ng": (("stressor", "outcome"), outcomes("stressor")),
    "selftests-mm": (("test", "outcome"), outcomes("test")),
    "bisect": (("patch", "outcome"), outcomes("patch")),
}  # fmt: skip


def shown(stem: str, table: pd.DataFrame) -> Shown:
    """A table for people: by its builder, or column by column."""
    needed, build = BUILDERS.get(stem, ((), None))
    if build and set(needed) <= set(table.columns) and table[list(needed)[:1]].notna().all().all():
        return build(table)
    columns = tuple(
        Column(name.replace("_", " "), number=pd.api.types.is_numeric_dtype(table[name]))
        for name in table.columns
    )
    rows = table.astype(object).where(table.notna(), "")
    return Shown(columns, list(rows.itertuples(index=False, name=None)))


def _digits(ratios: pd.Series, copies: list[int]) -> list[str]:
    return [f"{ratios[n]:.3f}" for n in copies]


def _printed_size(footprint: str) -> str:
    row = reference.select("mitosis_table4", {"footprint": footprint, "quantity": "page_table_size"}).iloc[0]
    decimals = 1 if row["value"] >= 10 else 2  # as printed: 32.0 GB, 2.00 GB
    return f"{row['value']:.{decimals}f} {row['unit']}"


def _or_dash(value: float) -> str:
    return f"{value:.2f}" if value == value else "\u2013"
