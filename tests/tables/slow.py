"""A slow reader of tables, character by character, which decides what a damaged table means.

It shares nothing with the package: no csv, no pandas, no regular expressions. :func:`table` gives names and
rows; :func:`samples`, :func:`design`, :func:`logs`, :func:`runs` and :func:`mapping` give what each reader
must find. ``Refused`` says that the text has no meaning, or several.
"""

from __future__ import annotations

import unicodedata
from fractions import Fraction

DIGITS = "0123456789"
MISSING = ("", "nan", "NaN", "NA", "N/A", "null", "NULL", "None", "<NA>")


class Refused(Exception):
    """No one meaning."""


def text_of(data: bytes) -> str:
    """The characters; line ends are \\n."""
    if data[:4] in (b"\xff\xfe\x00\x00", b"\x00\x00\xfe\xff"):
        raise Refused("UTF-32")
    codec, body = "utf-8", data
    if data[:3] == b"\xef\xbb\xbf":
        body = data[3:]
    elif data[:2] == b"\xff\xfe":
        codec, body = "utf-16-le", data[2:]
    elif data[:2] == b"\xfe\xff":
        codec, body = "utf-16-be", data[2:]
    try:
        text = body.decode(codec)
    except UnicodeDecodeError as error:
        raise Refused("encoding") from error
    made = []
    for at, one in enumerate(text):
        if one == "\r":
            if text[at + 1 : at + 2] == "\n":
                continue
            if "\n" in text:
                raise Refused("a lone carriage return")
            one = "\n"
        kind = unicodedata.category(one)
        if one not in "\t\n" and kind in ("Cc", "Zl", "Zp", "Cs") or one in "\ufeff\ufffe\uffff":
            raise Refused("a control character")
        made.append(one)
    return "".join(made)


def separator_of(text: str) -> tuple[str, int]:
    """The separator and the number of lines before the header."""
    for at, line in enumerate(text.split("\n")):
        bare = line.replace('"', "").rstrip(",;\t").lower()
        if bare.startswith("sep=") and len(line.replace('"', "")) >= 5:
            rest = line.replace('"', "")[4:]
            if not rest.strip(rest[0]):
                if rest[0] not in ",;\t":
                    raise Refused("separator")
                return rest[0], at + 1
        if all(one in ' \t,;"' for one in line):
            continue
        outside, quoted = set(), False
        for one in line:
            if one == '"':
                quoted = not quoted
            elif not quoted and one in ",;\t":
                outside.add(one)
        if len(outside) > 1:
            raise Refused("two separators")
        return (outside.pop() if outside else ","), 0
    raise Refused("no header")


def cells_of(text: str, separator: str) -> list[tuple[int, list[str]]]:
    """(line, cells) of each row."""
    blanks = " \t".replace(separator, "")
    rows, row, cell = [], [], []
    state, line, first = "start", 1, 1
    for one in text + ("" if text.endswith("\n") else "\n"):
        if state == "quoted":
            if one == '"':
                state = "closed"
            else:
                cell.append(one)
                line += one == "\n"
            continue
        if one == '"':
            if state == "closed":
                cell.append(one)
                state = "quoted"
            elif state == "start":
                cell, state = [], "quoted"
            else:
                raise Refused("a quote inside a cell")
            continue
        if one in (separator, "\n"):
            row.append("".join(cell).strip(blanks))
            cell, state = [], "start"
            if one == "\n":
                rows.append((first, row))
                row, line = [], line + 1
                first = line
            continue
        if state == "closed":
            raise Refused("text behind a closing quote")
        cell.append(one)
        if one != " ":
            state = "plain"
    if state == "quoted":
        raise Refused("an open quote")
    return rows


def table(
    data: bytes, known: tuple[str, ...], numbers: tuple[str, ...] = (), strict: bool = False
) -> tuple[list[str], list[list[str]]]:
    """Names of the columns, in the spelling of ``known``, and the rows that have a value.

    ``strict``: commas only, as tables of the results have.
    """
    text = text_of(data)
    separator, skipped = separator_of(text)
    rows = [cells for line, cells in cells_of(text, separator) if line > skipped and any(cells)]
    if not rows:
        raise Refused("no header")
    header, body = rows[0], rows[1:]
    for cells in rows:
        if len(cells) != len(header):
            raise Refused("fields")
        if cells[0].startswith("#"):
            raise Refused("a comment")
    for at, name in enumerate(header):
        if at and not name and any(cells[at] for cells in body):
            raise Refused("a column without a name")
    kept = [at for at, name in enumerate(header) if name]
    names = [_named(header[at], known) for at in kept]
    if len(set(names)) < len(names):
        raise Refused("a column twice")
    body = [[cells[at] for at in kept] for cells in body]
    if separator != "," and strict:
        raise Refused("separator")
    if separator != ",":
        for name in numbers:
            if name in names and any(_is_grouped(cells[names.index(name)]) for cells in body):
                raise Refused("12.345")
    return names, body


def _named(name: str, known: tuple[str, ...]) -> str:
    def form(word):
        made = ""
        for one in word.strip():
            one = "_" if one in "_.-" or one.isspace() else one
            made += "" if one == "_" and made.endswith("_") else one
        return made.casefold()

    alike = [other for other in known if form(other) == form(name)]
    return name if name in known or not alike else alike[0]


def _is_grouped(cell: str) -> bool:
    first, *others = cell.lstrip("+-").split(".")
    return (
        len(cell) - len(cell.lstrip("+-")) <= 1 and bool(others) and 1 <= len(first) <= 3 and first[:1] != "0"
        and all(part and all(one in DIGITS for one in part) for part in (first, *others))
        and all(len(part) == 3 for part in others)
    )  # fmt: skip


def number(cell: str) -> float:
    """The value of digits with one point and an exponent at most, rounded once."""
    rest = cell.strip(" \t")
    negative = rest[:1] == "-"
    rest = rest[1:] if rest[:1] in ("+", "-") else rest
    mantissa, exponent = rest, "0"
    for at, one in enumerate(rest):
        if one in "eE":
            mantissa, exponent = rest[:at], rest[at + 1 :]
            break
    sign, digits = (exponent[:1], exponent[1:]) if exponent[:1] in ("+", "-") else ("", exponent)
    whole, _, part = mantissa.partition(".")
    if (
        not whole + part
        or any(one not in DIGITS for one in whole + part + digits)
        or not 1 <= len(digits) <= 3
    ):
        raise Refused(f"no number: {cell!r}")
    value = Fraction(int(whole + part), 10 ** len(part)) * Fraction(10) ** int(sign + digits)
    try:
        found = value.numerator / value.denominator
    except OverflowError as error:
        raise Refused("not finite") from error
    return -found if negative and found else found


def layout(name: str) -> str:
    """The one spelling of a layout's name."""
    text = name.strip()
    words, word = [], ""
    for one in unicodedata.normalize("NFKC", text).casefold() + " ":
        if one in "_-" or one.isspace():
            words.append(word)
            word = ""
        else:
            word += one
    packed = "".join(words)
    for size, unit, named in (("4", "k", "growing-0"), ("2", "m", "growing-8"), ("1", "g", "1gb")):
        forms = [size + unit + end for end in ("", "b", "ib")]
        if packed in forms and words in ([packed], [size, packed[1:]]):
            return named
    if words[0] in ("growing", "random", "sliding") and len(words) > 1:
        if all(part and all(one in DIGITS for one in part) for part in words[1:]):
            return "-".join(words)
    return text


SAMPLE = {"R": "runtime_cycles", "H": "stlb_hits", "M": "stlb_misses", "C": "walk_cycles"}


def _rows(data: bytes, known: tuple[str, ...], numbers: tuple[str, ...]) -> list[dict[str, str]]:
    names, body = table(data, known, numbers)
    rows = [dict(zip(names, cells, strict=True)) for cells in body]
    for row in rows:
        row["_columns"] = names
    return rows


def _counted(row: dict[str, str], column: str) -> float:
    if column not in row:
        raise Refused(f"no column {column}")
    value = number(row[column])
    if value < 0 or (value == 0 and column in ("runtime_cycles", "threads", "seconds", "instructions")):
        raise Refused("out of range")
    return value


def samples(data: bytes) -> dict[str, tuple[float, float, float, float]]:
    """Layout -> (R, H, M, C) of the rows that count."""
    more = ("workload", "platform", "status", "message", "runtime_provenance")
    numeric = (*SAMPLE.values(), "runtime_cycles_ci95", "walk_cycles_ci95")
    rows = _rows(data, ("layout", *numeric, *more), numeric)
    for column in ("workload", "platform"):
        if len({row.get(column) for row in rows}) > 1:
            raise Refused("several")
    found = {}
    for row in rows:
        if row.get("status", "ok") != "ok":
            continue
        name = layout(row["layout"]) if "layout" in row else ""
        if not name or not name.isprintable() or name.casefold() in map(str.casefold, found):
            raise Refused("layout")
        found[name] = tuple(_counted(row, column) for column in SAMPLE.values())
    if not {"growing-0", "growing-8"} <= set(found):
        raise Refused("anchors")
    return found


def design(data: bytes) -> dict[str, tuple[float, float, float]]:
    """Name -> (H, M, C) of the rows that count."""
    numeric = ("stlb_hits", "stlb_misses", "walk_cycles", "walk_cycles_ci95")
    rows = _rows(data, ("design", "layout", *numeric, "status", "tlb_provenance"), numeric)
    found = {}
    for at, row in enumerate(rows, start=1):
        if row.get("status", "ok") != "ok":
            continue
        name = (
            row["design"].strip()
            if "design" in row
            else layout(row["layout"])
            if "layout" in row
            else f"row {at}"
        )
        if name in found:
            raise Refused("twice")
        found[name] = tuple(_counted(row, column) for column in numeric[:3])
        if "walk_cycles_ci95" in row and row["walk_cycles_ci95"] not in MISSING:
            _counted(row, "walk_cycles_ci95")
    if not found:
        raise Refused("no rows")
    return found


def logs(data: bytes) -> list[tuple[str, str, int]]:
    """(file, layout, repeat) of each row; whether the files exist is not looked at."""
    rows = _rows(data, ("file", "layout", "repeat"), ())
    found = []
    for row in rows:
        names = row["_columns"]
        if not {"file", "layout"} <= set(names) <= {"file", "layout", "repeat"}:
            raise Refused("header")
        repeat = row.get("repeat", "0")
        if not row["file"] or not layout(row["layout"]).isprintable() or not layout(row["layout"]):
            raise Refused("empty")
        if not 1 <= len(repeat) <= 9 or any(one not in DIGITS for one in repeat):
            raise Refused("repeat")
        found.append((row["file"], layout(row["layout"]), int(repeat)))
    if len({file for file, _, _ in found}) < len(found) or not found:
        raise Refused("twice or none")
    return found


RUNS = ("round", "threads", "seconds", "instructions", "llc_loads", "llc_misses", "energy_j", "idle_w")


def runs(data: bytes) -> list[tuple[float, ...]]:
    """The eight numbers of each run."""
    rows = _rows(data, (*RUNS, "provenance"), RUNS)
    if not rows or "provenance" not in rows[0]:
        raise Refused("no rows")
    found = [tuple(_counted(row, column) for column in RUNS) for row in rows]
    if any(not one[RUNS.index("energy_j")] for one in found) or len({one[1] for one in found}) < 2:
        raise Refused("no energy, or one number of threads")
    return found


def mapping(data: bytes) -> list[tuple[int, str, int, int, int, str]]:
    """(epoch, pool, page, frame or -1, pages, page size) of each row, before rules over several rows."""
    rows, line = [], ""
    for one in data.decode("latin-1"):
        if one == "\n":
            rows.append(line)
            line = ""
        else:
            line += one
    rows += [line] if line else []
    rows = [row[:-1] if row[-1:] == "\r" else row for row in rows]
    if rows[:1] != ["epoch,pool,page,frame,pages,page_size"]:
        raise Refused("header")
    found = []
    for row in rows[1:]:
        cells, cell = [], ""
        for one in row + ",":
            if one == ",":
                cells.append(cell)
                cell = ""
            else:
                cell += one
        if len(cells) != 6 or cells[1] not in ("brk", "mmap") or cells[5] not in ("4KB", "2MB", "1GB"):
            raise Refused("row")
        numbers = []
        for at in (0, 2, 3, 4):
            if at == 3 and not cells[at]:
                numbers.append(-1)
                continue
            if not cells[at] or any(one not in DIGITS for one in cells[at]) or int(cells[at]) >= 1 << 63:
                raise Refused("number")
            numbers.append(int(cells[at]))
        found.append((numbers[0], cells[1], *numbers[1:], cells[5]))
    return found
