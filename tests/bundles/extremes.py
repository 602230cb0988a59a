"""Bundles with the largest numbers and the longest containers that a stranger may write; sums are right.

``numbers`` sets each whole number of each file to its maximum, -1 and 0: in one row, and in all rows.
``containers`` repeats each list, object, table, text and level of nesting 1,000 times.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from tessera.measure.bundles import archive, file_format
from tessera.measure.bundles.archive import unpack_counts
from tests.bundles.mutations import _leaves, _set

LARGEST = 2**53 - 1
TIMES = 1000
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?")
_HEX = re.compile(r"0x[0-9a-f]+")


@dataclass(frozen=True)
class Extreme:
    """``kind`` is what was changed in which file; ``files`` is the bundle."""

    kind: str
    files: dict[str, bytes]


def pack(data: bytes) -> bytes:
    """As :func:`tessera.measure.bundles.archive.pack_counts`, faster."""
    return gzip.compress(data, compresslevel=1, mtime=0)


def changed(files: dict[str, bytes], new: dict[str, bytes]) -> dict[str, bytes]:
    """The bundle with other files; counts are not packed in ``new``."""
    made = dict(files)
    for name, data in new.items():
        made[name] = pack(data) if name == file_format.PACKED_FILE else data
    return made | {file_format.SUMS_FILE: archive.sums_text(made).encode()}


def plain(files: dict[str, bytes], name: str) -> bytes:
    return unpack_counts(files[name]) if name == file_format.PACKED_FILE else files[name]


def numbers(files: dict[str, bytes]) -> Iterator[Extreme]:
    for name in sorted(files):
        if name.endswith(".json"):
            found = json.loads(files[name])
            for path, value in _leaves(found):
                for other in _numbers_for(value):
                    new = json.dumps(_set(found, path, other)).encode()
                    yield Extreme(f"{name} {'.'.join(map(str, path))} = {other}", changed(files, {name: new}))
        elif name != file_format.SUMS_FILE:
            yield from _numbers_of_table(files, name)


def _numbers_for(value: object) -> list:
    if type(value) is int:
        return [LARGEST, -1, 0]
    return ["0x" + "f" * 16, "0x0"] if isinstance(value, str) and _HEX.fullmatch(value) else []


def _numbers_of_table(files: dict[str, bytes], name: str) -> Iterator[Extreme]:
    header, *body = table(plain(files, name))
    for column, title in enumerate(header):
        cells = [row[column] for row in body if row[column]]
        if not cells or not all(_NUMBER.fullmatch(cell) or _HEX.fullmatch(cell) for cell in cells):
            continue
        for other in ("0x" + "f" * 16, "0x0") if _HEX.fullmatch(cells[0]) else (LARGEST, -1, 0):
            for which, rows in (("first row", body[:1]), ("last row", body[-1:]), ("all rows", body)):
                new = [
                    [*row[:column], str(other), *row[column + 1 :]] if row[column] and row in rows else row
                    for row in body
                ]
                yield Extreme(f"{name} {title} = {other}, {which}", changed(files, {name: text(header, new)}))


def containers(files: dict[str, bytes]) -> Iterator[Extreme]:
    for name in sorted(files):
        if name.endswith(".json"):
            for kind, new in _grown_json(files[name]):
                yield Extreme(f"{name} {kind}", changed(files, {name: new}))
        elif name == file_format.SUMS_FILE:
            yield Extreme(f"{name} lines", files | {name: files[name] * TIMES})
        else:
            for kind, new in _grown_table(plain(files, name)):
                yield Extreme(f"{name} {kind}", changed(files, {name: new}))
    yield Extreme("a campaign of 1,000 times as many rounds", campaign(files))
    yield Extreme("1,000 times as many workloads", of_workloads(files))


def _grown_json(data: bytes) -> Iterator[tuple[str, bytes]]:
    found = json.loads(data)
    for path, value in [((), found), *_inner(found, ())]:
        place = ".".join(map(str, path)) or "top"
        if isinstance(value, list):
            grown = [("entries", json.dumps(value * TIMES))]
        elif isinstance(value, dict):
            inside = json.dumps(value)[1:-1]
            others = {f"{key}_{at}": entry for key, entry in value.items() for at in range(TIMES)}
            grown = [
                ("keys", json.dumps(value | others)),
                ("keys that stand twice", "{" + ", ".join([inside] * TIMES) + "}"),
                ("as many keys as 1MB has", "{" + ",".join(f'"{at}":0' for at in range(95_000)) + "}"),
                ("one key, 1MB", "{" + ",".join(['"a":0'] * 150_000) + "}"),
            ]
        else:
            grown = [("text", json.dumps(str(value) * TIMES))]
        grown += [
            ("levels", "[" * TIMES + "]" * TIMES),
            ("levels of objects", '{"a":' * TIMES + "0" + "}" * TIMES),
        ]
        for kind, new in grown:
            whole = json.dumps(_set(found, path, "PLACE")).replace('"PLACE"', new) if path else new
            yield f"{place}: {kind}", whole.encode()


def _inner(value: object, path: tuple) -> Iterator[tuple[tuple, object]]:
    for key, entry in value.items() if isinstance(value, dict) else enumerate(value):
        yield (*path, key), entry
        if isinstance(entry, dict | list):
            yield from _inner(entry, (*path, key))


def _grown_table(data: bytes) -> Iterator[tuple[str, bytes]]:
    header, *body = table(data)
    yield "rows", text(header, body * TIMES)
    yield "columns", text(header * TIMES, [row * TIMES for row in body])
    yield "cells of the last row", text(header, [*body, body[-1] * TIMES])
    yield "cells of one line, 3MB", text(header, [*body, [""] * 3_000_000])
    yield "a line without an end", data + b"x" * 3_000_000
    yield "line ends", data + b"\n" * 1_000_000
    yield "a cell with 100,000 line ends", text(header, [*body, ["\n" * 100_000, *body[-1][1:]]])
    for column, title in enumerate(header):
        yield (
            f"text of {title}",
            text(header, [*body[:-1], [*body[-1][:column], body[-1][column] * TIMES or "x"]]),
        )
    if all(row[0].isdecimal() for row in body):
        new = [[str(int(row[0]) + at * len(body)), *row[1:]] for at in range(TIMES) for row in body]
        yield f"rows with another {header[0]}", text(header, new)


def campaign(files: dict[str, bytes], times: int = TIMES) -> dict[str, bytes]:
    """The same runs again and again, as further rounds."""
    header, *runs = table(files[file_format.RUNS_FILE])
    titles, *counts = table(unpack_counts(files[file_format.PACKED_FILE]))
    rounds = 1 + max(int(row[4]) for row in runs)
    more = [
        [str(int(row[0]) + at * len(runs)), *row[1:4], str(int(row[4]) + at * rounds), *row[5:]]
        for at in range(times)
        for row in runs
    ]
    counted = [[str(int(row[0]) + at * len(runs)), *row[1:]] for at in range(times) for row in counts]
    return changed(
        files, {file_format.RUNS_FILE: text(header, more), file_format.PACKED_FILE: text(titles, counted)}
    )


def of_workloads(files: dict[str, bytes], times: int = TIMES) -> dict[str, bytes]:
    """Copies of the workload under other names, with layouts and runs."""
    header, *runs = table(files[file_format.RUNS_FILE])
    titles, *counts = table(unpack_counts(files[file_format.PACKED_FILE]))
    found, new = json.loads(files[file_format.WORKLOADS_FILE]), {}
    for name, data in files.items():
        if name.startswith(f"{file_format.LAYOUTS_FOLDER}/"):
            _, workload, layout = name.split("/")
            new |= {f"{file_format.LAYOUTS_FOLDER}/{workload}-{at}/{layout}": data for at in range(times)}
    more = [
        [str(int(row[0]) + at * len(runs)), f"{row[1]}-{at}", *row[2:]] for at in range(times) for row in runs
    ]
    counted = [[str(int(row[0]) + at * len(runs)), *row[1:]] for at in range(times) for row in counts]
    entries = {f"{name}-{at}": one | {"arguments": []} for name, one in found.items() for at in range(times)}
    new |= {file_format.RUNS_FILE: text(header, more), file_format.PACKED_FILE: text(titles, counted)}
    kept = {
        name: data for name, data in files.items() if not name.startswith(f"{file_format.LAYOUTS_FOLDER}/")
    }
    return changed(kept, new | {file_format.WORKLOADS_FILE: json.dumps(entries).encode()})


def table(data: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(data.decode())))


def text(header: list[str], rows: list[list[str]]) -> bytes:
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows([header, *rows])
    return stream.getvalue().encode()
