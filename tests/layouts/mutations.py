"""Random layout files, some right and some with mistakes: the same files for the same seed."""

from __future__ import annotations

import random

HEAD = "type,pageSize,startOffset,endOffset"
PAGES = {
    4096: ("4KB", "4096", "4 kib"),
    2 << 20: ("2MB", "2097152", "2M", "2048K"),
    1 << 30: ("1GB", "1g", "1073741824"),
}
CELLS = (
    "brk", "mmap", "file", "heap", "MMAP", "startOffset", "", " ", "-1", "-1B", "0", "00", "+1", "-5",
    "0x10", "8192", "4096", "2MB", "2 MiB", "4KB", "4Ki", "1GB", "3MB", "1T", "1iB", "B", "64 M B", "1.5GB",
    "8388607TB", "8388608TB", "16777216TB", "9223372036854775807", "9223372036854775808",
    "18446744073709551616", "9" * 30,
)  # fmt: skip
BYTES = (
    b"\0", b"\xff", b"\xc2\xa0", b"\xef\xbb\xbf", b'"', b",", b",,", b"\r", b"\r\n", b"\n", b"\n\n", b" ",
    b"\t", b"\v", b"\x7f", b"0", b"7", b"M", b"i", b"#",
)  # fmt: skip


def size(rng: random.Random, count: int) -> str:
    """A number of bytes in one of its forms."""
    units = [(1 << 10, "K"), (1 << 20, "M"), (1 << 30, "G")]
    forms = [str(count), f"{count}B", f"0{count}"]
    for unit, letter in units:
        if count % unit == 0:
            forms += [f"{count // unit}{letter}{end}" for end in ("", "B", "iB", "b")]
            forms.append(f"{count // unit} {letter.lower()}ib")
    return rng.choice(forms)


def rows(rng: random.Random) -> list[list[str]]:
    """Size rows and disjoint windows in any order, mostly inside their pools."""
    made = []
    for pool in rng.sample(("brk", "mmap", "file"), rng.randint(1, 3)):
        at = 0
        for _ in range(rng.randint(0, 4)):
            page = 4096 if pool == "file" else rng.choice(list(PAGES))
            start = -(-at // page) * page + page * rng.randint(0, 2)
            at = start + page * rng.randint(1, 3)
            made.append([pool, rng.choice(PAGES[page]), size(rng, start), size(rng, at)])
        if rng.random() < 0.7:
            end = max(0, at + rng.choice((0, 0, 4096, 5000, 1 << 30, -1)))
            made.append([pool, "-1", "0", size(rng, end)])
    rng.shuffle(made)
    return made


def change_rows(rng: random.Random, table: list[list[str]]) -> None:
    """One mistake or harmless change in the table."""
    if not table:
        return
    row = rng.choice(table)
    match rng.randint(0, 4):
        case 0 | 1:
            row[rng.randrange(len(row))] = rng.choice(CELLS)
        case 2:
            table.insert(rng.randrange(len(table) + 1), list(row))
        case 3:
            row.insert(rng.randrange(len(row)), rng.choice(CELLS))
        case _:
            row.pop(rng.randrange(len(row)))
            row.extend([""] * rng.randint(0, 1))


def change_bytes(rng: random.Random, text: bytes) -> bytes:
    """One insertion, deletion, or other byte."""
    at = rng.randrange(len(text) + 1)
    match rng.randint(0, 2):
        case 0:
            return text[:at] + rng.choice(BYTES) + text[at:]
        case 1:
            return text[:at] + text[at + rng.randint(1, 3) :]
        case _:
            return text[:at] + bytes([rng.randrange(256)]) + text[at + 1 :]


def layout_file(rng: random.Random) -> bytes:
    """One file; about half of them are right."""
    table = rows(rng)
    for _ in range(rng.choice((0, 0, 0, 0, 1, 2))):
        change_rows(rng, table)
    if len(table) > 1 and rng.random() < 0.06:
        table.append(list(table[0][:2]) + list(table[-1][2:]))
    blank = rng.choice(("", "", "", " ", "\t"))
    lines = [HEAD, *((blank + ",").join(row) + blank for row in table)]
    text = rng.choice(("\n", "\n", "\r\n", "\n\n")).join(lines).encode()
    text += rng.choice((b"\n", b"\n", b"", b"\r\n"))
    for _ in range(rng.choice((0, 0, 0, 0, 1, 2))):
        text = change_bytes(rng, text)
    return rng.choice((b"", b"", b"", b"\n", b"\xef\xbb\xbf")) + text
