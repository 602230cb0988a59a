"""Marks for workloads whose traces lack a part of the program: in figures, captions, pages and notebooks.

The notes come from the cells (:attr:`tessera.core.results.loader.Loader.trace_notes`). A mark stands behind
each name of such a workload, and one sentence beside it gives the note.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import pandas as pd

from tessera.core.results.outcomes import NOTE_MARK

#: Numbers of whole programs: nobody simulated them from a trace.
_OF_PROGRAMS = ("measured", "published")
#: Elements of a page whose text is no prose: commands, code, what a browser shows elsewhere.
SKIPPED = ("head", "script", "style", "code", "pre")
PIECES = re.compile(r"(<[^>]*>)")


def marked(text: str, names: Iterable[str]) -> str:
    """The text with a mark behind each of these names; longer names that contain one stay as they are."""
    if not (each := sorted(map(re.escape, names), key=len, reverse=True)):
        return text
    return re.sub(rf"(?<![\w/.-])({'|'.join(each)})(?![\w/{NOTE_MARK}]|[.-]\w)", rf"\1{NOTE_MARK}", text)


def footnote(notes: Mapping[str, str]) -> str:
    """The sentence for marked workloads: name -> note."""
    each = "; ".join(f"the trace of {name} has {note}" for name, note in notes.items())
    return each and f"{NOTE_MARK} Numbers of a part of the program: {each}."


def noted(table: pd.DataFrame, workload: str, notes: Mapping[str, str]) -> dict[str, str]:
    """The notes that belong to a figure, by its workload or by the column ``workload`` of its data."""
    rows = table
    if "provenance" in table.columns:
        rows = table[~table["provenance"].isin(_OF_PROGRAMS)]
    column = "workload" if "workload" in rows.columns else None
    there = {workload, *(set(rows[column].dropna()) if column else ())}
    return {name: note for name, note in notes.items() if name in there}


def mark_figure(figure, names: Iterable[str]) -> None:
    """Mark the names in every text of a matplotlib figure."""
    from matplotlib.text import Text

    names = list(names)
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            before = [label.get_text() for label in axis.get_ticklabels()]
            after = [marked(text, names) for text in before]
            if after != before:
                axis.set_ticks(axis.get_ticklocs(), labels=after)
    for text in figure.findobj(Text):
        if (after := marked(text.get_text(), names)) != text.get_text():
            text.set_text(after)


def mark_page(page: str, notes: Mapping[str, str]) -> str:
    """The HTML page with marks in its text, and a footnote at the end of its main part, if it names any."""
    pieces, skipped, used = PIECES.split(page), 0, {}
    for i, piece in enumerate(pieces):
        if i % 2:
            tag = re.match(r"</?(\w+)", piece)
            if tag and tag[1] in SKIPPED:
                skipped += -1 if piece.startswith("</") else 1
        elif not skipped:
            pieces[i] = marked(piece, notes)
            used |= {name: note for name, note in notes.items() if name + NOTE_MARK in pieces[i]}
    if not used:
        return page
    foot = f'<p class="note threads" role="note">{footnote(used)}</p>\n'
    end = "</main>" if "</main>" in page else "</body>"
    return "".join(pieces).replace(end, foot + end)
