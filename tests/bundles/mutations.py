"""Changes of one field of one file of a bundle, with all sums written again, so that sums show nothing."""

from __future__ import annotations

import copy
import csv
import io
import json
import random
from collections.abc import Iterator
from dataclasses import dataclass

from tessera.measure.bundles import archive, file_format
from tessera.measure.bundles.archive import pack_counts, unpack_counts

#: Other words for the values of JSON files that a change at the end would not reach.
OTHERS = {
    "roi": ["program", "whole"], "uk": ["u"], "launcher": ["perf"], "broadwell": ["haswell", "skylake"],
    "GenuineIntel": ["AuthenticAMD"], "2026-05-04": ["2026-05-05", "2026-02-30", "2096-05-04"],
    "6.1.0-18-amd64": ["5.15.0"],
}  # fmt: skip


@dataclass(frozen=True)
class Mutation:
    """``field`` has no row and no position; ``change`` is its kind: small, other, form or row."""

    file: str
    field: str
    change: str
    text: str
    files: dict[str, bytes]

    @property
    def kind(self) -> tuple[str, str, str]:
        file = "layouts" if self.file.startswith("layouts/") else self.file
        return file, self.field, self.change


def drawn(
    files: dict[str, bytes], rng: random.Random, share: float = 1.0, rows: int = 2
) -> Iterator[Mutation]:
    """A share of the mutations of every field of every file; of tables, in some drawn rows."""
    for file in sorted(files):
        if file == file_format.SUMS_FILE:
            continue
        data = unpack_counts(files[file]) if file == file_format.PACKED_FILE else files[file]
        made = _of_json(data, rng) if file.endswith(".json") else _of_csv(data, rng, rows)
        for field, change, text, new in made:
            if new == data or rng.random() >= share:
                continue
            changed = dict(files)
            changed[file] = pack_counts(new) if file == file_format.PACKED_FILE else new
            changed[file_format.SUMS_FILE] = archive.sums_text(changed).encode()
            yield Mutation(file, field, change, text, changed)
    for file in sorted(files):
        if file != file_format.SUMS_FILE:
            changed = {name: data for name, data in files.items() if name != file}
            changed[file_format.SUMS_FILE] = archive.sums_text(changed).encode()
            yield Mutation(file, "", "row", "the file is gone", changed)


def _of_json(data: bytes, rng: random.Random):
    found = json.loads(data)
    for path, value in _leaves(found):
        field = ".".join("[]" if isinstance(step, int) else step for step in path)
        for change, other in _others(value, rng, OTHERS.get(value, [])):
            yield field, change, f"{value!r} -> {other!r}", _json(_set(found, path, other))
    for path, entry in _objects(found):
        place = ".".join(map(str, path))
        for key in entry:
            yield (
                f"{place}.{key}".strip("."),
                "row",
                "key is gone",
                _json(_set(found, [*path, key], None, True)),
            )
        yield f"{place}.added".strip("."), "row", "key is new", _json(_set(found, [*path, "added"], 1))


def _json(value: object) -> bytes:
    return (json.dumps(value, indent=1) + "\n").encode()


def _leaves(value: object, path: tuple = ()) -> Iterator[tuple[tuple, object]]:
    if isinstance(value, dict | list):
        for key, entry in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _leaves(entry, (*path, key))
    else:
        yield path, value


def _objects(value: object, path: tuple = ()) -> Iterator[tuple[tuple, dict]]:
    if isinstance(value, dict):
        yield path, value
        for key, entry in value.items():
            yield from _objects(entry, (*path, key))


def _set(found: object, path, value: object, remove: bool = False) -> object:
    new = copy.deepcopy(found)
    place = new
    for step in path[:-1]:
        place = place[step]
    if remove:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return new


def _of_csv(data: bytes, rng: random.Random, count: int):
    table = list(csv.reader(io.StringIO(data.decode())))
    header, body = table[0], table[1:]
    events = {row[1]: at for at, row in enumerate(body)} if header[1] == "event" else {}

    def with_header(names: list[str]) -> bytes:
        return _text([names, *body])

    for column, name in enumerate(header):
        values = sorted({row[column] for row in body})
        for at in rng.sample(range(len(body)), min(count, len(body))) if not events else events.values():
            field = f"{name} of {body[at][1]}" if name == "value" else name
            for change, other in _others(_typed(body[at][column]), rng, values):
                yield (
                    field,
                    change,
                    f"row {at}: {body[at][column]!r} -> {other!r}",
                    _csv(table, at + 1, column, str(other)),
                )
        yield name, "form", "column is gone", _text([r[:column] + r[column + 1 :] for r in table])
        yield (
            name,
            "form",
            "header is another",
            with_header([*header[:column], "x", *header[column + 1 :]]),
        )
    for at in rng.sample(range(len(body)), min(count, len(body))):
        yield "", "row", f"row {at} is gone", _text([*table[: at + 1], *table[at + 2 :]])
        yield (
            "",
            "row",
            f"row {at} is there twice",
            _text([*table[: at + 2], table[at + 1], *table[at + 2 :]]),
        )
    yield "", "form", "a row has one more cell", _text([*table, [*table[-1], ""]])


def _typed(text: str) -> object:
    return int(text) if text.isdecimal() else text


def _csv(table, row: int, column: int, value: str) -> bytes:
    new = [list(cells) for cells in table]
    new[row][column] = value
    return _text(new)


def _text(table) -> bytes:
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows(table)
    return stream.getvalue().encode()


def _others(value: object, rng: random.Random, alternatives: list[str]) -> list[tuple[str, object]]:
    """(kind of change, other value). ``small``: by less than clocks and counters may differ."""
    if isinstance(value, bool):
        return [("other", not value), ("form", 2)]
    if isinstance(value, int):
        others = {value * 2, value * 2 + 7, value // 2, value + 1_000_000} - {value, value + 1}
        found = [
            ("small" if abs(other - value) < max(10, value // 100) else "other", other)
            for other in sorted(others)
        ]
        return [("small", value + 1), *found, ("form", -value - 1), ("form", 10**20), ("form", "")]
    if value.startswith("0x"):
        number = int(value, 16)
        bit = rng.randrange(1, 30)
        return [("small", hex(number ^ 1)), ("other", hex(number ^ 1 << bit)), ("form", "0xg")]
    found = [("other", one) for one in rng.sample(alternatives, min(3, len(alternatives))) if one != value]
    if len(value) >= 32 and set(value) <= set("0123456789abcdef"):
        digit = "0" if value[-1] != "0" else "1"
        found += [("small", value[:-1] + digit), ("other", ("1" if value[0] != "1" else "2") + value[1:])]
    return [*found, ("other", value + "x"), ("form", ""), ("form", "a\nb")]
