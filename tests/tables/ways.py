"""Good tables, and the ways in which people save them: one function per way, rows of text -> bytes.

A way that changes numbers keeps their values: each cell that it writes is the same double.
"""

from __future__ import annotations

import csv
import io

import pandas as pd

from tessera.core.results.cell_tables import CELLS

H, M, C, R = "stlb_hits", "stlb_misses", "walk_cycles", "runtime_cycles"


def samples_rows(n: int = 14) -> list[list[str]]:
    """Layouts growing-0 to growing-8, some of other heuristics, and 1gb."""
    names = (
        [f"growing-{i}" for i in range(9)] + [f"random-{i}" for i in range(n - 11)] + ["sliding-20-3", "1gb"]
    )
    rows = [["layout", R, H, M, C]]
    for at, name in enumerate(names):
        walks = 7_483_778_244 - at * 512_345_677
        cycles = f"{max(walks, 0)}.25" if at % 3 == 1 else str(max(walks, 0))
        counts = (8_385_843_123 - at * 200_000_001, 12_988 + at, 59_985_140 - at * 2_000_003)
        rows.append([name, *map(str, counts), cycles])
    return rows


def design_rows() -> list[list[str]]:
    rows = [["design", H, M, C]]
    for at, name in enumerate(["mine", "big tlb", "no-pwc", "été"]):
        rows.append([name, str(12_000 + at), str(30_000_000 - at), str(3_600_000_000 + 7 * at)])
    return rows


def logs_rows() -> list[list[str]]:
    return [["file", "layout", "repeat"], *([f"logs/{i}.perf", f"growing-{i}", str(i % 2)] for i in range(5))]


def runs_rows() -> list[list[str]]:
    head = "round,threads,seconds,instructions,llc_loads,llc_misses,energy_j,idle_w,provenance".split(",")
    return [head] + [
        [str(r), str(t), f"{2.5 / t:.6f}", str(8_000_000_000 + r), str(91_000_000 * t), str(1_200_345 + t),
         f"{80.5 + t:.4f}", "40.25", "measured"]
        for r in range(3) for t in (1, 2, 4)
    ]  # fmt: skip


def cells_rows() -> list[list[str]]:
    """All columns of a cells file; one row failed."""
    rows = [list(CELLS.names)]
    for at in range(6):
        row = dict.fromkeys(CELLS.names, "")
        row |= {
            "workload": "gups",
            "platform": "haswell-sim",
            "layout": f"growing-{at}",
            "repeat": "0",
            "status": "ok",
        }
        row |= {R: str(8_385_843_123 + at), H: str(12_988 + at), M: "59985140", C: f"{7_483_778_244 + at}"}
        rows.append(list(row.values()))
    rows[3] = [*rows[3][:4], "failed", 'out of "memory", again', *[""] * (len(rows[0]) - 6)]
    return rows


def mapping_rows() -> list[list[str]]:
    rows = [["epoch", "pool", "page", "frame", "pages", "page_size"]]
    rows += [["0", "brk", str(at), str(100 + 2 * at), "1", "4KB"] for at in range(4)]
    rows += [["0", "mmap", "0", "1024", "1024", "2MB"], ["50", "brk", "2", "", "1", "4KB"]]
    return rows


KINDS = {"samples": samples_rows, "design": design_rows, "logs": logs_rows, "runs": runs_rows}
#: kinds that only a few ways fit: programs write them
STRICT = {"cells": cells_rows, "mapping": mapping_rows}


def joined(rows, sep=",", end="\n", last=True) -> str:
    return end.join(sep.join(cells) for cells in rows) + (end if last else "")


def written(rows, **options) -> bytes:
    """By the csv module."""
    stream = io.StringIO(newline="")
    csv.writer(stream, **options).writerows(rows)
    return stream.getvalue().encode()


def each(rows, change) -> list[list[str]]:
    """The rows with numbers in another form."""

    def cell(text):
        try:
            float(text)
        except ValueError:
            return text
        made = change(text)
        return made if float(made) == float(text) else text

    return [rows[0], *([cell(text) for text in cells] for cells in rows[1:])]


def frame(rows) -> pd.DataFrame:
    return pd.DataFrame([[*cells] for cells in rows[1:]], columns=rows[0])


def numeric(rows) -> pd.DataFrame:
    """As pandas reads it: numbers are numbers."""
    return pd.read_csv(io.StringIO(joined(rows)))


def floats(table: pd.DataFrame) -> pd.DataFrame:
    """With floats in all columns of measured numbers."""
    return table.astype({name: float for name in table.select_dtypes("number") if name != "repeat"})


def turned(rows, order) -> list[list[str]]:
    """The columns in another order."""
    places = order(list(range(len(rows[0]))))
    return [[cells[at] for at in places] for cells in rows]


def added(rows, names, value) -> list[list[str]]:
    """With columns that nobody reads."""
    return [rows[0] + names, *([*cells, *(value(at) for _ in names)] for at, cells in enumerate(rows[1:]))]


def renamed(rows, change) -> list[list[str]]:
    """With other names of the columns."""
    return [[change(name) for name in rows[0]], *rows[1:]]


def csv_of(rows, *ends, **options) -> bytes:
    return text(joined(rows, *ends, **options))


def text(made: str, encoding: str = "utf-8") -> bytes:
    return made.encode(encoding)


MARK = b"\xef\xbb\xbf"

#: way -> function of the rows
WAYS = {
    "plain": lambda rows: text(joined(rows)),
    "no line end at the end": lambda rows: text(joined(rows, last=False)),
    "empty line at the end": lambda rows: text(joined(rows) + "\n"),
    "empty lines at the end": lambda rows: text(joined(rows) + "\n\n\n"),
    "empty line at the top": lambda rows: text("\n" + joined(rows)),
    "empty line below the header": lambda rows: text(joined(rows[:1]) + "\n" + joined(rows[1:])),
    "CRLF": lambda rows: text(joined(rows, end="\r\n")),
    "CRLF without the last": lambda rows: text(joined(rows, end="\r\n", last=False)),
    "CR of an old Mac": lambda rows: text(joined(rows, end="\r")),
    "header CRLF, rows LF (appended by a script)": lambda rows: text(
        joined(rows[:1], end="\r\n") + joined(rows[1:])
    ),
    "mark": lambda rows: MARK + text(joined(rows)),
    "Excel, CSV UTF-8": lambda rows: MARK + text(joined(rows, end="\r\n")),
    "Excel, Unicode text": lambda rows: text("\ufeff" + joined(rows, "\t", "\r\n"), "utf-16-le"),
    "UTF-16 big endian": lambda rows: text("\ufeff" + joined(rows), "utf-16-be"),
    "Excel with semicolons": lambda rows: text(joined(rows, ";", "\r\n")),
    "Excel with semicolons and mark": lambda rows: MARK + text(joined(rows, ";", "\r\n")),
    "Excel with a line sep=": lambda rows: text("sep=;\r\n" + joined(rows, ";", "\r\n")),
    "Excel with a line sep=,": lambda rows: text("sep=,\r\n" + joined(rows, ",", "\r\n")),
    "Excel, empty columns behind": lambda rows: csv_of(
        [[*cells, "", ""] for cells in rows], end="\r\n"
    ),
    "Excel, empty rows behind": lambda rows: text(joined(rows + [[""] * len(rows[0])] * 3, end="\r\n")),
    "Excel, an empty row between": lambda rows: text(joined(rows[:3] + [[""] * len(rows[0])] + rows[3:])),
    "Excel, columns with a comment": lambda rows: csv_of(
        added(rows, ["note"], lambda at: "ok" * (at % 2))
    ),
    "LibreOffice, tabs": lambda rows: text(joined(rows, "\t")),
    "LibreOffice, all text in quotes": lambda rows: written(rows, quoting=csv.QUOTE_ALL, lineterminator="\n"),
    "LibreOffice, quotes and semicolons": lambda rows: written(
        rows, quoting=csv.QUOTE_ALL, delimiter=";", lineterminator="\n"
    ),
    "csv module": lambda rows: written(rows),
    "csv module, unix": lambda rows: written(rows, dialect="unix"),
    "csv module, excel-tab": lambda rows: written(rows, dialect="excel-tab"),
    "csv module, quotes around text": lambda rows: written(rows, quoting=csv.QUOTE_NONNUMERIC),
    "pandas": lambda rows: text(frame(rows).to_csv(index=False)),
    "pandas with its index": lambda rows: text(frame(rows).to_csv()),
    "pandas, numbers": lambda rows: text(numeric(rows).to_csv(index=False)),
    "pandas, all floats": lambda rows: text(floats(numeric(rows)).to_csv(index=False)),
    "pandas, %.17g": lambda rows: text(numeric(rows).to_csv(index=False, float_format="%.17g")),
    "pandas, QUOTE_NONNUMERIC": lambda rows: text(
        numeric(rows).to_csv(index=False, quoting=csv.QUOTE_NONNUMERIC)
    ),
    "pandas, tabs": lambda rows: text(frame(rows).to_csv(index=False, sep="\t")),
    "pandas, utf-8-sig": lambda rows: frame(rows).to_csv(index=False).encode("utf-8-sig"),
    "polars": lambda rows: text(joined(each(rows, lambda cell: repr(float(cell)) if "." in cell else cell))),
    "R write.csv": lambda rows: written(
        [["", *rows[0]], *([str(at), *cells] for at, cells in enumerate(rows[1:], 1))],
        quoting=csv.QUOTE_ALL, lineterminator="\n",
    ),
    "R write.csv, row.names=FALSE": lambda rows: text(
        joined([[f'"{name}"' for name in rows[0]], *([f'"{cells[0]}"', *cells[1:]] for cells in rows[1:])])
    ),
    "R readr": lambda rows: text(joined(each(rows, lambda cell: _short(cell)))),
    "MATLAB writetable": lambda rows: text(joined(each(rows, lambda cell: f"{float(cell):.15g}"))),
    "numpy savetxt %.18e": lambda rows: csv_of(
        each(rows, lambda cell: f"{float(cell):.18e}" if "." in cell else cell)
    ),
    "Excel, exponents": lambda rows: csv_of(
        each(rows, lambda cell: f"{float(cell):.14E}" if len(cell) > 9 else cell)
    ),
    "awk, OFS=, with blanks": lambda rows: text(joined(rows, ", ")),
    "awk, printf %12s": lambda rows: csv_of([[f"{cell:>12}" for cell in cells] for cells in rows]),
    "awk, printf %-12s": lambda rows: csv_of([[f"{cell:<12}" for cell in cells] for cells in rows]),
    "quotes and blanks": lambda rows: csv_of([[f'"{cell}"' for cell in cells] for cells in rows], ", "),
    "points with zeros": lambda rows: csv_of(
        each(rows, lambda cell: cell + ".0" if len(cell) > 3 and "." not in cell else cell)
    ),
    "leading zeros": lambda rows: text(joined(each(rows, lambda cell: "00" + cell))),
    "columns from right to left": lambda rows: text(joined(turned(rows, lambda at: at[::-1]))),
    "columns sorted by name": lambda rows: text(
        joined(turned(rows, lambda places: sorted(places, key=lambda at: rows[0][at])))
    ),
    "rows from bottom to top": lambda rows: text(joined([rows[0], *rows[:0:-1]])),
    "header in capitals": lambda rows: csv_of(renamed(rows, str.upper)),
    "header with blanks": lambda rows: csv_of(renamed(rows, lambda name: name.replace("_", " "))),
    "header as titles": lambda rows: csv_of(
        renamed(rows, lambda name: name.replace("_", " ").title())
    ),
    "header with points (R)": lambda rows: csv_of(renamed(rows, lambda name: name.replace("_", "."))),
}  # fmt: skip

#: a table of logs has no other columns, and a repeat is a whole number
NOT_FOR_LOGS = {"Excel, columns with a comment", "points with zeros", "Excel, exponents"}


def _short(cell: str) -> str:
    """As R writes: 1e+05 for 100000."""
    found = f"{float(cell):.15g}" if "." in cell or float(cell) < 1e5 else f"{float(cell):e}"
    mantissa, mark, exponent = found.partition("e")
    return (mantissa.rstrip("0").rstrip(".") + mark + exponent) if mark else cell


def corpus():
    """(name, kind, rows, bytes) of every way and kind."""
    for kind, rows_of in KINDS.items():
        for way, save in WAYS.items():
            if kind == "logs" and way in NOT_FOR_LOGS:
                continue
            rows = rows_of()
            yield f"{kind}: {way}", kind, rows, save(rows)
