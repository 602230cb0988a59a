"""What is done to every finished page: code marks, numbers without an ``e``, tables of at most eight columns.

Pages are HTML of the templates. Text of code, of scripts and of the head stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from tessera.report.trace_marks import PIECES, SKIPPED

#: columns of a table that a page shows at once
MOST_COLUMNS = 8

_TABLE = re.compile(r"<table\b[^>]*>.*?</table>", re.S)
_ROW = re.compile(r"<tr\b.*?</tr>", re.S)
_CELL = re.compile(r"<(?P<tag>t[hd])\b(?P<rest>[^>]*)>")
_HEAD = re.compile(r"<th\b[^>]*>(.*?)</th>", re.S)
_SHOWN = re.compile(r'\bdata-shown="([^"]*)"')
_CODE = re.compile(r"`([^`]+)`")
_EXPONENT = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)e([+-]?\d{1,3})(?!\w|\.\d)")
_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def finished(page: str) -> str:
    """The page as readers get it."""
    page = _TABLE.sub(lambda table: narrowed(table.group()), page)
    pieces, skipped = PIECES.split(page), 0
    for i, piece in enumerate(pieces):
        if i % 2:
            tag = re.match(r"</?(\w+)", piece)
            if tag and tag[1] in SKIPPED:
                skipped += -1 if piece.startswith("</") else 1
            elif "`" in piece:  # in an attribute, such as the words for an image
                pieces[i] = piece.replace("`", "")
        elif not skipped:
            _sort_by(pieces, i)
            pieces[i] = _EXPONENT.sub(readable, _CODE.sub(r"<code>\1</code>", piece))
    return "".join(pieces)


def _sort_by(pieces: list[str], i: int) -> None:
    """A cell whose text is one number with an exponent is sorted by that number."""
    if _EXPONENT.fullmatch(pieces[i].strip()) and re.match(r"<td\b(?!.*data-sort)", pieces[i - 1]):
        pieces[i - 1] = f'{pieces[i - 1][:-1]} data-sort="{pieces[i].strip()}">'


def readable(number: re.Match) -> str:
    """``4.481e+06`` as ``4,481,000``, ``1.755e-10`` as ``1.755 x 10^-10`` with a superscript."""
    digits, power = number[1], int(number[2])
    if 0 <= power <= 9:
        return f"{float(number.group()):,.0f}"
    ten = f"10{str(power).translate(_SUPERSCRIPT)}"
    return ten if digits == "1" else f"{digits} \u00d7 {ten}"


def narrowed(table: str) -> str:
    """A table with a switch above it, if it has more columns than :data:`MOST_COLUMNS`.

    ``data-shown`` of the table has the heads of the columns to show, separated by ``; ``, the first of each
    name; without it, the first eight columns are shown. The others have the class ``more``.
    """
    head = _ROW.search(table)
    names = [re.sub(r"<[^>]*>", "", name).strip() for name in _HEAD.findall(head.group())] if head else []
    if len(names) <= MOST_COLUMNS:
        return table
    wanted = _SHOWN.search(table[: table.index(">")])
    shown = set(range(MOST_COLUMNS)) if not wanted else {names.index(one) for one in wanted[1].split("; ")}
    box = '<input type="checkbox" autocomplete="off">'  # a page that is loaded again starts as it was made
    switch = f'<label class="all-columns">{box} all {len(names)} columns</label>'
    return switch + _ROW.sub(lambda row: _CELL.sub(_marker(shown), row.group()), table)


def _marker(shown: set[int]) -> Callable[[re.Match], str]:
    """Gives each cell of one row, in order, the class ``more`` if its column is not shown."""
    place = iter(range(1000))

    def mark(cell: re.Match) -> str:
        if next(place) in shown:
            return cell.group()
        tag, rest = cell["tag"], cell["rest"]
        if 'class="' in rest:
            return f"<{tag}" + rest.replace('class="', 'class="more ', 1) + ">"
        return f'<{tag} class="more"{rest}>'

    return mark
