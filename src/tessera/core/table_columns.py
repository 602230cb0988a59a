"""Names and numbers of a table's columns, in one form for files (:mod:`tessera.core.table_file`) and frames.

A number has digits with at most one point, and an exponent or none: ``12000``, ``0.5``, ``1.2e+09``. What
spreadsheets add for readers (``12,000``), and what Python reads beyond that (``1_000``, ``inf``), is refused.
"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

from tessera.core.errors import TesseraError

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd


SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs"}
BLANKS = " \t"  #: left out around a cell
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?")
#: 12.345 is twelve and a bit, or twelve thousand where a point groups digits
_GROUPED = re.compile(r"[+-]?[1-9][0-9]{0,2}(?:\.[0-9]{3})+")
_ROUNDED = re.compile(r"[+-]?([0-9])\.([0-9]+)[eE]\+?([0-9]{1,3})")
_MISSING = frozenset({"", "nan", "NaN", "NA", "N/A", "null", "NULL", "None", "<NA>", "NaT"})
#: digits that Excel (1.23457E+11), awk and %g leave of a long number
_FEW_DIGITS = 6
_PLAIN_FORM = "write plain digits with a point: 12000, 0.5, 1.2e9"


class TableRefused(TesseraError):
    """A table that cannot be read in exactly one way.

    ``code`` is ``table-absent``, ``table-size``, ``table-encoding``, ``table-byte``, ``table-line-end``,
    ``table-separator``, ``table-quote``, ``table-header``, ``table-fields``, ``table-comment``,
    ``table-number`` or ``table-double``. ``line`` counts from 1, or is None.
    """

    def __init__(self, owner: str, found: str, remedy: str, code: str, line: int | None = None):
        asked = owner if line is None else f"{owner} line {line}"
        super().__init__(asked, found, remedy, code=f"table-{code}")
        self.line = line


class SpellingWarning(UserWarning):
    """A name was read in another spelling than it was written in; the command line prints it as a line."""


def warn_of_spelling(notes: Iterable[str]) -> None:
    """Warn with each note, for readers that have no notes of their own."""
    for note in notes:
        warnings.warn(note, SpellingWarning, stacklevel=3)


def known_names(
    names: Sequence, known: Collection[str], owner: str, line: int | None = None
) -> tuple[list[str], list[str]]:
    """The names of columns, other spellings of ``known`` ones replaced, and a note on each of these.

    Raises:
        TableRefused: a name is there twice, also in two spellings.
    """
    forms = {_form(name): name for name in known}
    found: list[str] = []
    notes: list[str] = []
    for name in map(str, names):
        right = name if name in known else forms.get(_form(name), name)
        if right in found:
            other = f", first as '{names[found.index(right)]}'" if names[found.index(right)] != name else ""
            raise TableRefused(
                owner,
                f"column '{name}' is there twice{other}",
                "keep one column of this name",
                "header",
                line,
            )
        if right != name:
            notes.append(f"column '{name}' is read as {right}")
        found.append(right)
    return found, notes


def _form(name: str) -> str:
    return re.sub(r"[\s._-]+", "_", name.strip()).casefold()


def is_missing(cell) -> bool:
    """Whether a cell says that there is no value: empty, or a word of pandas, R or a database for it."""
    return (cell if isinstance(cell, str) else str(cell)).strip(BLANKS) in _MISSING


def finite_number(cell) -> float:
    """The finite number in a cell, correctly rounded.

    Raises:
        ValueError: it has another form; the text says which, and what to write.
    """
    text = (cell if isinstance(cell, str) else str(cell)).strip(BLANKS)
    value = float(text) if _NUMBER.fullmatch(text) else math.nan
    if math.isfinite(value):
        return value + 0.0  # no negative zero
    raise ValueError(_why(text))


def _why(text: str) -> str:
    if text in _MISSING:
        return "empty: it must be a number"
    bare = text.lstrip("+-").casefold()
    if bare in ("inf", "infinity", "nan") or _NUMBER.fullmatch(text):
        return "not a finite number"
    if not text.isascii() and any(c.isdigit() and not c.isascii() for c in text):
        return "digits of another script"
    if re.fullmatch(r"[0-9.,'’_\s]+(?:e[+-]?[0-9]+)?", bare) and re.search(r"[,'’_\s]", bare):
        return "a comma, blank or mark in a number: is it a decimal comma or a thousands separator?"
    if bare.count(".") > 1:
        return "several points: are they thousands separators?"
    if re.fullmatch("0x[0-9a-f]+", bare):
        return "a hexadecimal number"
    return "not a number"


def number_column(
    frame: pd.DataFrame,
    column: str,
    owner: str,
    names: Iterable[str],
    *,
    above: bool = False,
    may_lack: bool = False,
    kind: str = "",
) -> np.ndarray:
    """A column as floats, shape (rows,): finite, and 0 or more (``above``: more than 0).

    Args:
        names: what messages call each row, behind ``kind``.
        may_lack: a missing value is NaN, not an error.

    Raises:
        TableRefused: with the line (of a file), the column, the row's name and the value.
    """
    import numpy as np

    values = floats(frame[column])
    good = values > 0 if above else values >= 0
    wrong = np.flatnonzero(~(good & np.isfinite(values)))
    for at in wrong:
        cell = frame[column].iloc[at]
        missing = is_missing(cell)
        if missing and may_lack:
            continue
        found = "empty" if missing else f"'{shown(str(cell).strip(BLANKS), 40)}'"
        where = f"{owner} line {frame.index[at]}" if frame.index.name == "line" else owner
        rule = "greater than 0" if above else "0 or more"
        raise TableRefused(
            f"{where}: {column} of {kind}{list(names)[at]}",
            f"{found}; it must be a finite number, {rule}{'' if missing else _reason(cell)}",
            f"{_PLAIN_FORM}; or mark the row status=failed to leave it out",
            "number",
        )
    return values + 0.0  # no negative zero


def floats(cells: pd.Series) -> np.ndarray:
    """The numbers of cells, shape (rows,); NaN where a cell has another form."""
    import numpy as np
    from pandas.api.types import is_bool_dtype, is_complex_dtype, is_numeric_dtype

    if is_numeric_dtype(cells) and not is_bool_dtype(cells) and not is_complex_dtype(cells):
        return cells.to_numpy(dtype=float, na_value=math.nan)
    texts = cells.to_numpy(dtype=object)
    try:
        if all(map(_NUMBER.fullmatch, texts)):
            return np.array(list(map(float, texts)))
    except TypeError:  # a cell is no text
        pass
    return np.array([_or_nan(cell) for cell in texts], dtype=float)


def _or_nan(cell) -> float:
    try:
        return finite_number(cell)
    except ValueError:
        return math.nan


def _reason(cell) -> str:
    try:
        finite_number(cell)
    except ValueError as error:
        return f" ({error})"
    return ""


def grouped(frame: pd.DataFrame, column: str, separator: str, owner: str) -> None:
    """Refuse 12.345 in a table without commas: programs that write these group digits with points, too.

    Raises:
        TableRefused: on the first such number.
    """
    for line, cell in zip(frame.index, frame[column], strict=True):
        if _GROUPED.fullmatch(cell):
            raise TableRefused(
                owner,
                f"column {column}: '{cell}' in a table with {SEPARATORS[separator]} is ambiguous:"
                " a thousands separator or a decimal point",
                "save the table with commas between cells, or without thousands separators",
                "number",
                line,
            )


def rounding_note(frame: pd.DataFrame, column: str) -> str | None:
    """A note if the large numbers of a column were rounded to few digits, as 1.23457E+11 is.

    At least three numbers, and all with an exponent, must have the same few digits: numbers that people or R
    write short (2e9) have different ones.
    """
    found = [
        (match, at)
        for at, cell in enumerate(frame[column].to_numpy(dtype=object))
        if isinstance(cell, str) and (match := _ROUNDED.fullmatch(cell.strip(BLANKS)))
    ]
    digits = {1 + len(match[2]) for match, _ in found}
    if len(found) < 3 or len(digits) > 1 or (count := digits.pop()) > _FEW_DIGITS:
        return None
    if all(int(match[3]) < count for match, _ in found):
        return None  # all digits before the point are there
    line = f" (line {frame.index[found[0][1]]})" if frame.index.name == "line" else ""
    return (
        f"{column}: {len(found)} numbers have only {count} digits, such as {found[0][0][0]}{line}: they were"
        f" rounded by up to {0.5 * 10.0 ** (1 - count):.2g} of their value; save all digits"
    )


def spelled_names(frame: pd.DataFrame, known: Collection[str], owner: str) -> tuple[pd.DataFrame, list[str]]:
    """A data frame given in Python with the names of :func:`known_names`, and the notes."""
    names, notes = known_names(list(frame.columns), known, owner)
    return (frame.set_axis(names, axis=1) if notes else frame), notes


def refuse_twice(owner: str, kind: str, names: Sequence[str], lines: Sequence | None, remedy: str) -> None:
    """Refuse two rows of one name.

    Args:
        lines: of the rows; None for data frames given in Python.

    Raises:
        TableRefused: with the name and both lines.
    """
    first: dict[str, int] = {}
    for at, name in enumerate(names):
        if name in first:
            where = "" if lines is None else f" (lines {lines[first[name]]} and {lines[at]})"
            raise TableRefused(
                f"{owner}: {kind} {name}", f"it appears more than once{where}", remedy, "double"
            )
        first[name] = at


def shown(text: str, most: int = 60) -> str:
    """The beginning of a text, with escapes for what is not printable."""
    cut = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text[:most])
    return cut + "..." * (len(text) > most)


def ascii_shown(value: str, most: int = 40) -> str:
    """The beginning of a value that was read as bytes; one that is not printable ASCII becomes ``\\xNN``."""
    cut = "".join(c if " " <= c <= "~" else f"\\x{ord(c):02x}" for c in value[:most])
    return cut + "..." * (len(value) > most)
