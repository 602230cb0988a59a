"""The one reader of tables that a person may bring: CSV text as spreadsheets, scripts and editors save it.

docs/reference/table-files.md says what is read and what is refused. A table is read if its text can mean only
one thing; else the error names the line, what was found, and how to save the table.

bytes -> :func:`decoded` text -> :func:`regular` rows -> :func:`read_table` a data frame of text, with lines.
:mod:`tessera.core.table_columns` reads names of columns and numbers.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from tessera.core.table_columns import BLANKS, SEPARATORS, TableRefused, grouped, known_names, shown

if TYPE_CHECKING:
    import pandas as pd


MOST_BYTES = 64 << 20  #: of a file; a row of cells.csv has about 300 bytes
MOST_IN_ROW = 131_072  #: characters; no cell of Python's csv module may have more
MOST_CELLS = 8_000_000  #: of a table; each takes about 65 bytes of memory
SAVE = (
    "save it as a CSV file in UTF-8, with commas between cells and points in numbers "
    "(docs/reference/table-files.md)"
)

_UTF8_MARK = b"\xef\xbb\xbf"
_UTF32_MARKS = (b"\xff\xfe\x00\x00", b"\x00\x00\xfe\xff")
#: the first bytes of files that are no text
_PACKED = {
    b"\x1f\x8b": "compressed by gzip", b"PK\x03\x04": "a workbook (.xlsx, .ods) or a zip file",
    b"\xd0\xcf\x11\xe0": "an old workbook (.xls)", b"PAR1": "Parquet", b"\xfd7zXZ": "compressed by xz",
    b"BZh": "compressed by bzip2", b"\x28\xb5\x2f\xfd": "compressed by zstd",
}  # fmt: skip
_UTF16 = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}
#: no text has these: controls but tab and line feed, line separators, a mark inside, noncharacters
_FOREIGN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_TEXT_BYTES = bytes([*range(0x20, 0x7F), *b"\t\n"])
_PLAIN_BYTES = bytes(set(_TEXT_BYTES) - set(b'";\t'))
_QUOTED = re.compile('"[^"]*(?:""[^"]*)*"')
#: Excel's own first line, which names the separator
_SEP_LINE = re.compile(r'"?sep=(.)"?[,;\t]*', re.IGNORECASE)
#: a quoted cell, between separators or line ends
_CELL = {
    sep: re.compile(rf'(?:(?<=[\n{sep}])|\A) *"[^"]*(?:""[^"]*)*"(?=[\n{sep}]|\Z)') for sep in SEPARATORS
}


@dataclass(frozen=True)
class TextTable:
    """``frame``: the rows as text; its index has the name ``line`` and the line on which each row begins.

    Cells and names have no blanks around them; rows without any value are left out. ``separator`` is one
    of :data:`SEPARATORS`. ``notes`` are for the user: names of columns that were read in another spelling.
    """

    frame: pd.DataFrame
    separator: str = ","
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Text:
    """A header and rows, each with as many cells: lines that end with ``\\n``, in one text.

    ``lines`` are those of the file (from 1) on which header and rows begin. ``quoted``: there are quotes.
    """

    text: str
    separator: str
    lines: list[int]
    quoted: bool

    def names(self) -> list[str]:
        """The cells of the header, without blanks around them."""
        first = next(
            csv.reader(io.StringIO(self.text), delimiter=self.separator, skipinitialspace=self.quoted)
        )
        return [name.strip(BLANKS) for name in first]


def read_table(
    path: Path | str, owner: str, known: Collection[str] = (), numbers: Collection[str] = ()
) -> TextTable:
    """Read a table.

    Args:
        owner: the beginning of messages, such as "samples cells.csv".
        known: columns that the caller uses; other spellings (``STLB Hits``) are read as these, with a note.
        numbers: those of them that hold numbers.

    Raises:
        TableRefused: the file is absent or too large, or its text can be read in several ways or in none.
    """
    import pandas as pd

    table = regular(decoded(read_bytes(path, owner), owner), owner)
    names = table.names()
    frame = pd.read_csv(
        io.StringIO(table.text), sep=table.separator, header=None, skiprows=1, names=range(len(names)),
        dtype=object, na_filter=False, index_col=False, skip_blank_lines=False,
        skipinitialspace=table.quoted,
    ).set_axis(pd.Index(table.lines[1:], name="line", dtype="int64"))  # fmt: skip
    blanks = BLANKS.replace(table.separator, "")
    if any(edge in table.text for blank in blanks for edge in _edges(blank, table.separator)):
        for column in frame:
            frame[column] = [cell.strip(blanks) for cell in frame[column]]
    frame = _without_unnamed(frame, names, owner)
    columns, notes = known_names([name for name in names if name], known, owner, table.lines[0])
    frame = frame.set_axis(columns, axis=1)
    if table.separator != ",":
        for column in [name for name in numbers if name in columns]:
            grouped(frame, column, table.separator, owner)
    return TextTable(frame, table.separator, notes)


def read_bytes(path: Path | str, owner: str, most: int = MOST_BYTES) -> bytes:
    """The bytes of a file, or of a pipe; at most ``most``.

    Raises:
        TableRefused: it does not exist, can't be read, is empty or larger.
    """
    try:
        with open(path, "rb") as stream:
            data = stream.read(most + 1)
    except FileNotFoundError:
        raise TableRefused(owner, "no such file", "check the path", "absent") from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        raise TableRefused(
            owner, getattr(error, "strerror", None) or str(error), "check the path", "absent"
        ) from None
    if not data:
        raise TableRefused(
            owner, "cannot be read: the file is empty", "give a CSV file with a header", "header"
        )
    if len(data) > most:
        raise TableRefused(
            owner, f"more than {most:,} bytes", "keep the rows and columns that are needed", "size"
        )
    return data


def decoded(data: bytes, owner: str) -> str:
    """The text without byte order mark, its lines ended by ``\\n``.

    Raises:
        TableRefused: neither UTF-8 nor UTF-16 with a mark, a character that no table has, or lines that end
            in several ways.
    """
    text = _text(data, owner)
    if "\r" in text:
        text = text.replace("\r\n", "\n")
        if "\r" in text:
            if "\n" in text:
                line = text.count("\n", 0, text.index("\r")) + 1
                found = "a carriage return (CR) inside; other lines end with a line feed (LF)"
                raise TableRefused(owner, found, f"let all lines end alike; {SAVE}", "line-end", line)
            text = text.replace("\r", "\n")
    plain = text.isascii() and not text.encode().translate(None, _TEXT_BYTES)
    foreign = None if plain else _FOREIGN.search(text)
    if foreign:
        line = text.count("\n", 0, foreign.start()) + 1
        found = f"the character U+{ord(foreign.group()):04X}, which no table has"
        raise TableRefused(owner, found, f"remove it; {SAVE}", "byte", line)
    return text


def _text(data: bytes, owner: str) -> str:
    if packed := next((what for magic, what in _PACKED.items() if data.startswith(magic)), None):
        raise TableRefused(owner, f"the file is {packed}, not text", SAVE, "encoding")
    if data.startswith(_UTF32_MARKS):
        raise TableRefused(owner, "its encoding is UTF-32, by its byte order mark", SAVE, "encoding")
    if encoding := _UTF16.get(data[:2]):
        body, start, named = data[2:], 2, "UTF-16, by its byte order mark"
    else:
        encoding, named = "utf-8", "UTF-8"
        start = len(_UTF8_MARK) if data.startswith(_UTF8_MARK) else 0
        body = data[start:]
        if b"\x00" in body[1:2] or body[:1] == b"\x00":
            found = "its encoding looks like UTF-16 without a byte order mark (every second byte is 0)"
            raise TableRefused(owner, found, SAVE, "encoding")
    try:
        return body.decode(encoding)
    except UnicodeDecodeError as error:
        at = start + error.start
        line = body[: error.start].decode(encoding, errors="replace").count("\n") + 1
        found = f"byte {at} (0x{data[at]:02x}) is not {named}"
        raise TableRefused(owner, found, SAVE, "encoding", line) from None


def is_plain(data: bytes) -> bool:
    """Whether a file has the form that Tessera writes, so that it needs no other look.

    ASCII; lines end with a line feed; commas, and as many in each line; no quotes, comments or empty rows.
    """
    if data.translate(None, _PLAIN_BYTES):
        return False
    lines = data.removesuffix(b"\n").split(b"\n")
    commas = lines[0].count(b",")
    if commas == 0 or {line.count(b",") for line in lines} != {commas}:
        return False
    rows = b"\n" + data + b"\n"
    return b"\n#" not in rows and b"\n" + b"," * commas + b"\n" not in rows


def regular(text: str, owner: str) -> Text:
    """The header and the rows that have a value, if each has as many cells as the header.

    Raises:
        TableRefused: no header, several possible separators, wrong quotes, a row with another number of
            cells, or more than :data:`MOST_CELLS`.
    """
    separator, skipped = _separator(text, owner)
    if text.count(separator) + text.count("\n") > MOST_CELLS:
        found = f"more than {MOST_CELLS:,} cells"
        raise TableRefused(owner, found, "keep the rows and columns that are needed", "size")
    if quoted := '"' in text:
        _right_quotes(text, separator, owner)
    empty = BLANKS + separator + '"'
    rows, lines, width = [], [], None
    for line, row in _rows(text):
        if line <= skipped or not row.strip(empty):
            continue
        if len(row) > MOST_IN_ROW:
            found = f"a row of {len(row):,} characters; at most {MOST_IN_ROW:,} are read"
            raise TableRefused(owner, found, f"shorten it, or end the line; {SAVE}", "size", line)
        count = (_QUOTED.sub("", row) if quoted and '"' in row else row).count(separator)
        width = count if width is None else width
        _no_comment(row, owner, line)
        if count != width:
            raise _wrong_fields(row, count + 1, width + 1, owner, line)
        rows.append(row)
        lines.append(line)
    if not rows:
        raise TableRefused(
            owner, "cannot be read: no line has a name", "give a CSV file with a header", "header"
        )
    return Text("\n".join(rows) + "\n", separator, lines, quoted)


def _edges(blank: str, separator: str) -> list[str]:
    """The texts that have a blank at the edge of a cell, or near one."""
    return [pair for one in (separator, "\n", '"') for pair in (one + blank, blank + one)]


def _rows(text: str) -> Iterator[tuple[int, str]]:
    """(line, row) of each row; a row has several lines if a quoted cell has a line end."""
    parts = enumerate(text.removesuffix("\n").split("\n"), start=1)
    if '"' not in text:
        yield from parts
    for line, row in parts:
        while row.count('"') % 2:  # the grammar was checked: the quote is closed further down
            row += "\n" + next(parts)[1]
        yield line, row


def _separator(text: str, owner: str) -> tuple[str, int]:
    """The separator that the header shows, and how many lines stand before the header."""
    line = 0
    for line, row in enumerate(re.finditer(r"[^\n]*\n?", text), start=1):
        first = row.group().removesuffix("\n")
        if match := _SEP_LINE.fullmatch(first):
            if match[1] not in SEPARATORS:
                raise TableRefused(
                    owner, f"the separator {match[1]!r} by the line sep=", SAVE, "separator", line
                )
            return match[1], line
        if not first.strip(BLANKS + ',;"'):
            continue
        _no_comment(first, owner, line)
        if first.count('"') % 2:
            found = f"the header has a quote that is not closed on its line: '{shown(first)}'"
            raise TableRefused(owner, found, SAVE, "quote", line)
        there = {sep for sep in SEPARATORS if sep in _QUOTED.sub("", first)}
        if len(there) > 1:
            words = " and ".join(SEPARATORS[sep] for sep in SEPARATORS if sep in there)
            found = f"the header has {words}, so the separator is ambiguous: '{shown(first)}'"
            raise TableRefused(owner, found, SAVE, "separator", line)
        if not there and any(sep in first for sep in SEPARATORS):
            found = f"the whole header is in one pair of quotes: '{shown(first)}'"
            raise TableRefused(
                owner, found, f"put quotes around cells, not around lines; {SAVE}", "quote", line
            )
        if not there and re.search(r"\S[ |:]+\S", first):
            found = f"the header has no comma between names, so the separator is unknown: '{shown(first)}'"
            raise TableRefused(owner, found, SAVE, "separator", line)
        return (there or {","}).pop(), 0
    raise TableRefused(
        owner, "cannot be read: all lines are empty", "give a CSV file with a header", "header"
    )


def _right_quotes(text: str, separator: str, owner: str) -> None:
    """Quotes are around whole cells, each is closed, and a quote inside of such a cell is doubled."""
    if '"' not in _CELL[separator].sub("", text):
        return
    end = 0
    for cell in _CELL[separator].finditer(text):
        if '"' in text[end : cell.start()]:
            break
        end = cell.end()
    at = text.index('"', end)
    start = max(text.rfind(separator, 0, at), text.rfind("\n", 0, at)) + 1
    found = (
        f"a quote inside of a cell, or one that is not closed: '{shown(text[start:].split(chr(10), 1)[0])}'"
    )
    remedy = 'put quotes around whole cells, and write "" for a quote inside of one'
    raise TableRefused(owner, found, remedy, "quote", text.count("\n", 0, at) + 1)


def _wrong_fields(row: str, count: int, width: int, owner: str, line: int) -> TableRefused:
    found = f"{count} fields, the header has {width}: '{shown(row)}'"
    if row.startswith("#"):
        remedy = "comments are not read: remove the line"
    elif count > width:
        remedy = (
            "remove what is too much: a comma at the end, a comma inside a number (12,000), or a field"
            " without a name in the header"
        )
    else:
        remedy = "add the missing fields, or the commas of empty ones"
    return TableRefused(owner, found, remedy, "fields", line)


def _no_comment(row: str, owner: str, line: int) -> None:
    """A row that was commented out would be read as one of another name."""
    if row.lstrip(BLANKS + '"').startswith("#"):
        remedy = "remove the line, or the # of the header; status=failed leaves out a row"
        raise TableRefused(owner, f"a comment: '{shown(row)}'", remedy, "comment", line)


def _without_unnamed(frame: pd.DataFrame, names: list[str], owner: str) -> pd.DataFrame:
    """Without the columns that have no name: the first has numbers of rows (pandas, R), others are empty."""
    for at, name in enumerate(names):
        if name or at == 0:
            continue
        for line, cell in zip(frame.index, frame[at], strict=True):
            if cell:
                found = f"the value '{shown(cell)}' in column {at + 1}, which has no name in the header"
                raise TableRefused(
                    owner, found, "name the column in the header, or remove it", "header", line
                )
    return frame[[at for at, name in enumerate(names) if name]]
