"""The table "For a new design": docs and the report's first page show it, all from one file.

The file is `new_designs.csv` of the study of transfer (docs/explain/transfer.md). The page in git shows that
of the archive; after a new archive, this writes it into the page again::

    python -m tessera.report.new_designs notebooks/data docs/explain/transfer.md
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from tessera.core.errors import TesseraError
from tessera.core.files import write_text
from tessera.core.results.table_io import read_file
from tessera.core.results.transfer_tables import NEW_DESIGNS
from tessera.core.results.tree import ResultsTree
from tessera.core.units import percent_text
from tessera.lab.transfer.rules import LEAST_INFORMATIVE, TRIVIAL

#: A class has a sentence from so many judged points of so many workloads on.
LEAST_JUDGED, LEAST_WORKLOADS = 30, 2
ALL, NEW = "all", "new"  #: scopes: all workloads, and those on which nothing was tuned
TOTAL = "all"  #: the group that sums the classes
#: class -> what a design of it changes
CHANGES = {
    "control": "nothing",
    "reach": "what TLBs hold",
    "hit-time": "cycles of a hit",
    "invisible": "walkers, queues",
    "walk-cost": "walk caches, page tables",
    "behind-l3": "place of translation",
}
HEAD = (
    "| class: what changes | questions | answered | covered | passing | `constant` | Mosmodel "
    "| informative: passing | informative: Mosmodel |"
)
LAST = "No R was counted on a processor."


def of_scope(table: pd.DataFrame, scope: str, platform: str) -> pd.DataFrame:
    """Rows with judged points of a scope on a platform, classes in order, their sum last."""
    order = {group: place for place, group in enumerate([*CHANGES, TOTAL])}
    mine = table[(table["scope"] == scope) & (table["platform"] == platform) & (table["judged"] > 0)]
    mine = mine[mine["group"].isin(list(order))]
    return mine.sort_values("group", key=lambda names: names.map(order)).reset_index(drop=True)


def tables(table: pd.DataFrame) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """(platform, scope, rows) of each with judged points; rows have a ``label``, None for no number."""
    for platform in table["platform"].unique():
        for scope in (NEW, ALL):
            rows = of_scope(table, scope, platform)
            if len(rows):
                labels = [label(group) for group in rows["group"]]
                yield platform, scope, rows.astype(object).where(rows.notna(), None).assign(label=labels)


def markdown(table: pd.DataFrame) -> str:
    """The table of a run as Markdown, from :data:`HEAD` to :data:`LAST`; classes by new workloads if any.

    Raises:
        TesseraError: no row has a judged point.
    """
    found = [text for platform in table["platform"].unique() for text in _of_platform(table, platform)]
    if not found:
        raise TesseraError("the table of new designs", "no judged point", "run the study: ./run reproduce")
    return "\n\n".join([*found, LAST])


def _of_platform(table: pd.DataFrame, platform: str) -> list[str]:
    everything, new = (of_scope(table, scope, platform) for scope in (ALL, NEW))
    if everything.empty:
        return []
    shown = everything if new.empty else new
    total = _workloads(shown)
    lines = [HEAD, "|---|" + "---|" * (HEAD.count("|") - 2)]
    lines += [_line(label(row.group), row) for row in shown.itertuples() if row.group != TOTAL]
    if new.empty:
        lines += [_line(f"all, {total} workloads", row) for row in _total(everything)]
        about = f"Simulated on {platform}, exploratory: the bracket was tuned on these workloads."
        return ["\n".join(lines), about]
    tuned = _workloads(everything) - total
    lines += [_line(f"all, {total} workloads", row) for row in _total(new)]
    lines += [_line(f"with the {tuned} it was tuned on", row) for row in _total(everything)]
    about = f"Simulated on {platform}. The classes count the {total} workloads on which nothing was tuned."
    return ["\n".join(lines), about]


def _workloads(rows: pd.DataFrame) -> int:
    return int(rows["workloads"].max())


def _total(rows: pd.DataFrame):
    return rows[rows["group"] == TOTAL].itertuples()


def label(group: str) -> str:
    """A class and what its designs change; the sum as it is called."""
    return f"{group}: {CHANGES[group]}" if group in CHANGES else group


def _line(label: str, row) -> str:
    rest = ["", "", "", "", "", ""]
    if row.answered:
        rest = [
            row.covered, row.passing, row.constant_passing, row.mosmodel_passing,
            f"{row.informative_passing:,} of {row.informative_answered:,}", row.mosmodel_informative_passing,
        ]  # fmt: skip
    return "| " + " | ".join(_cell(one) for one in (label, row.judged, row.answered, *rest)) + " |"


def _cell(value) -> str:
    return value if isinstance(value, str) else f"{int(value):,}"


def class_sentences(table: pd.DataFrame) -> list[str]:
    """A sentence or two for each class on each platform, as far as its points allow one."""
    found, platforms = [], list(table["platform"].unique())
    for platform in platforms:
        where = f" on {platform}" if len(platforms) > 1 else ""
        scopes = {scope: of_scope(table, scope, platform).set_index("group") for scope in (NEW, ALL)}
        for group in CHANGES:
            rows = {name: part.loc[group] for name, part in scopes.items() if group in part.index}
            if rows:
                found.append(f"{label(group)}{where}. {_sentence(rows)}")
    return found


def _sentence(rows: dict[str, pd.Series]) -> str:
    """Of the new workloads if they are enough, else of all, which is then said."""
    for scope, row in rows.items():
        if not too_few(row["judged"], row["workloads"]):
            tuned = " Exploratory: it was tuned on some of these workloads." if scope == ALL else ""
            return _of_row(row) + tuned
    row = rows.get(ALL, next(iter(rows.values())))
    return too_few(row["judged"], row["workloads"])


def too_few(judged, workloads) -> str:
    """Why a class has no sentence; empty if its points are enough."""
    if judged >= LEAST_JUDGED and workloads >= LEAST_WORKLOADS:
        return ""
    return (
        f"Too few points: {_count(judged, 'judged point')} of {_count(workloads, 'workload')}; "
        f"a sentence needs {LEAST_JUDGED} of {LEAST_WORKLOADS}."
    )


def _of_row(row: pd.Series) -> str:
    judged, answered = int(row["judged"]), int(row["answered"])
    if not answered:
        return f"None of {judged:,} judged points has an answer: such a change needs a clock."
    text = (
        f"The bracket answers {answered:,} of {judged:,} judged points. R is in {int(row['covered']):,} of "
        f"the intervals, whose median half-width is {percent_text(row['half_width'])}. It passes "
        f"{int(row['passing']):,}, constant {int(row['constant_passing']):,}, "
        f"Mosmodel {int(row['mosmodel_passing']):,}. "
    )
    if row["worth"] == TRIVIAL:
        points = _count(row["informative"], "informative point")
        text += f"Trivial: it has {points}, and {LEAST_INFORMATIVE} are needed."
    else:
        text += (
            f"Of {int(row['informative_answered']):,} informative answers it passes "
            f"{int(row['informative_passing']):,}, Mosmodel {int(row['mosmodel_informative_passing']):,}."
        )
        if row["passing"] <= row["constant_passing"]:
            text += " It passes no more than constant, so it is of no use here."
    return text + _level(row)


def _level(row: pd.Series) -> str:
    """What an answer of this class is worth (docs/explain/predict.md)."""
    opened = 0 if pd.isna(row["open_for"]) else int(row["open_for"])
    if not opened:
        return " Its answers have level C at most."
    return (
        f" The class is open for {_count(opened, 'workload')}: level B needs that, an open family of the "
        "design, and a measured P."
    )


def _count(number, word: str) -> str:
    return f"{int(number):,} {word}" + ("" if number == 1 else "s")


def study_sentences(table: pd.DataFrame) -> str:
    """How often the bracket answers on each platform, and how often it is right; empty without points."""
    return " ".join(
        f"The study of transfer on {platform}, {int(row.workloads)} workloads: the bracket answers "
        f"{int(row.answered):,} of {int(row.judged):,} questions; R is in {int(row.covered):,} intervals."
        for platform in table["platform"].unique()
        for row in _total(of_scope(table, ALL, platform))
    )


def new_design_table(folder: Path) -> pd.DataFrame:
    """The table of a results folder, such as the archive's.

    Raises:
        TesseraError: it has none.
    """
    return read_file(
        NEW_DESIGNS, NEW_DESIGNS.place(ResultsTree(folder)), f"the table of new designs in {folder}"
    )


def rewritten(page: str, block: str) -> str:
    """``page`` with ``block`` (of :func:`markdown`) instead of the one that it has.

    Raises:
        TesseraError: the page has none.
    """
    pattern = re.compile(re.escape(HEAD) + r".*?" + re.escape(LAST), re.DOTALL)
    if not pattern.search(page):
        raise TesseraError("the table of new designs in a page", "the page has none", f"write a line: {HEAD}")
    return pattern.sub(lambda _: block, page, count=1)


if __name__ == "__main__":
    made = markdown(new_design_table(Path(sys.argv[1])))
    for name in sys.argv[2:]:
        write_text(Path(name), rewritten(Path(name).read_text(), made))
    if not sys.argv[2:]:
        print(made)
