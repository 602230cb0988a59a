"""Damaged tables: what editors, spreadsheets, scripts and transfers do to a good one, drawn from a seed."""

from __future__ import annotations

import random

from .ways import WAYS

#: single characters and texts that are put in, or in place of others
PIECES = [
    *",;\t\"' .\r\n#-+eE_0123456789x", "\r\n", "\ufeff", "\x00", "\u00a0", "\u202f", "\u200b", "١", "２", "é",
    "1e5", "nan", "inf", ",,", '""', "1,000", "1.000", "NA", "\u2028", "\x1a", "infinity", "0x10", "1_000",
    "ok", "failed",
]  # fmt: skip
#: other forms of a number; some have the same value
FORMS = [
    lambda cell: f"{float(cell):,.0f}", lambda cell: f'"{float(cell):,.0f}"',
    lambda cell: f"{float(cell):,.0f}".replace(",", "."), lambda cell: cell.replace(".", ","),
    lambda cell: f"{float(cell):,.0f}".replace(",", " "),
    lambda cell: f"{float(cell):_.0f}", lambda cell: f"{float(cell):.5E}", lambda cell: f"{float(cell):.17g}",
    lambda cell: f" {cell} ", lambda cell: f'"{cell}"', lambda cell: f'""{cell}""', lambda cell: cell[:-1],
    lambda cell: f"{cell}.", lambda cell: f"{cell}e3", lambda cell: f"-{cell}", lambda cell: f"+{cell}",
    lambda cell: "", lambda cell: f"{cell}%", lambda cell: hex(int(float(cell))), lambda cell: cell * 40,
    lambda cell: f"{float(cell) / 1000:.3f}", lambda cell: cell + "e999", lambda cell: f"'{cell}",
]  # fmt: skip


def _of_text(rng: random.Random, data: bytes) -> bytes:
    """A change of bytes or lines."""
    at = rng.randrange(len(data) + 1)
    piece = rng.choice(PIECES).encode()
    change = rng.randrange(9)
    if change == 0:
        return data[:at] + piece + data[at:]
    if change == 1:
        return data[:at] + data[at + rng.randrange(1, 5) :]
    if change == 2:
        return data[:at] + piece + data[at + 1 :]
    if change == 3:
        return data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :]
    if change == 4:
        return data[:at]
    if change == 5:
        other = rng.randrange(len(data) + 1)
        return data[:at] + data[other : other + rng.randrange(60)] + data[at:]
    lines = data.split(b"\n")
    at = rng.randrange(len(lines))
    if change == 6:
        lines.insert(at, rng.choice(lines))
    elif change == 7:
        del lines[at]
    else:
        old, new = rng.choice(
            [(b",", b";"), (b",", b"\t"), (b";", b","), (b"\r", b""), (b",", b", "), (b",", b",,")]
        )
        lines[at] = lines[at].replace(old, new)
    return b"\n".join(lines)


def _of_cells(rng: random.Random, rows: list[list[str]]) -> list[list[str]]:
    """A change of cells, rows or columns."""
    rows = [list(cells) for cells in rows]
    row, column = rng.choice(rows), rng.randrange(max(1, min(map(len, rows))))
    change = rng.randrange(10)
    if change <= 3:
        form = rng.choice(FORMS)
        for cells in [row] if change else rows[1:]:
            try:
                cells[column] = form(cells[column])
            except (ValueError, OverflowError, IndexError):
                pass
    elif change == 4:
        row.insert(column, rng.choice(PIECES))
    elif change == 5:
        del row[column : column + 1]
    elif change == 6:
        for cells in rows:
            cells.insert(column, rng.choice([*cells, ""]))
    elif change == 7:
        rows.append([(rng.choice(rows)[at : at + 1] or [""])[0] for at in range(len(rows[0]))])
    elif change == 8:
        form = rng.choice([str.upper, str.title, lambda name: f"{name} ", lambda name: ""])
        rows[0][column : column + 1] = [form(name) for name in rows[0][column : column + 1]]
    else:
        spelled = rng.choice(
            [str.upper, str.title, lambda n: n.replace("-", "_"), lambda n: f" {n}", lambda n: "1GB"]
        )
        for cells in [row] if rng.random() < 0.5 else rows[1:]:
            cells[column : column + 1] = [spelled(cell) for cell in cells[column : column + 1]]
    return rows


def damaged(rng: random.Random, rows: list[list[str]], ways=tuple(WAYS)) -> bytes:
    """The table with one to four changes, saved in one of the ways."""
    for _ in range(rng.choice((0, 1, 1, 2))):
        rows = _of_cells(rng, rows)
    try:
        data = WAYS[rng.choice(ways)](rows)
    except (ValueError, KeyError, IndexError, OverflowError):  # the way needs a better table
        data = WAYS["plain"](rows)
    for _ in range(rng.choice((0, 1, 1, 2))):
        data = _of_text(rng, data)
    return data
