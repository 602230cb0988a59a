"""``tessera bundle show``: every text that a bundle contains, and a summary.

The texts are read from the files themselves, not from what Tessera understands of them: so nothing that would
be published is left out. Numbers and sums of files are not texts.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping

from tessera.bundles import names
from tessera.bundles.model import Bundle
from tessera.bundles.packed import unpack
from tessera.core.units import format_bytes

_NUMBER = re.compile(r"[0-9]*\.?[0-9]*(e-?[0-9]+)?", re.ASCII)


def texts(files: Mapping[str, bytes]) -> list[tuple[str, str, list[str]]]:
    """(file, field, its distinct texts), in the order of the files; the names of the files come last."""
    found = []
    for name in sorted(files):
        data = unpack(files[name]) if name == names.PACKED else files[name]
        text = data.decode("utf-8", errors="backslashreplace")
        if name == names.SUMS:
            continue
        pairs = _of_json(json.loads(text), "") if name.endswith(".json") else _of_csv(text)
        fields: dict[str, dict[str, None]] = {}
        for field, value in pairs:
            fields.setdefault(field, {})[value] = None
        if not name.startswith(names.LAYOUTS):  # the grammar of layouts has four words
            found += [(name, field, list(values)) for field, values in fields.items()]
    return [*found, ("names of files", "", sorted(files))]


def _of_json(value: object, place: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, list):
        for entry in value:
            yield from _of_json(entry, place)
    elif isinstance(value, dict):
        for key, entry in value.items():
            inner = f"{place}.{key}" if place else key
            yield ("keys" if not place else f"keys of {place}"), key
            yield from _of_json(entry, inner)


def _of_csv(text: str) -> Iterator[tuple[str, str]]:
    rows = csv.reader(io.StringIO(text))
    header = next(rows, [])
    for cells in rows:
        for column, cell in zip(header, cells, strict=False):
            if not _NUMBER.fullmatch(cell):
                yield column, cell


def summary(bundle: Bundle) -> list[tuple[str, str]]:
    """(what, value) of a bundle as a whole."""
    about, machine = bundle.about, bundle.machine
    good = sum(run.good for run in bundle.runs)
    workloads = []
    for name in sorted(bundle.workloads):
        mine = list(bundle.by_workload[name].values())
        rounds = {number for by in mine for number in by}
        workloads.append(f"{name}: {len(mine)} layouts, {len(rounds)} rounds")
    return [
        ("platform", about.platform + (", a rehearsal: counts are simulated" if about.rehearsal else "")),
        ("processor", f"{machine.cpu}, microcode {machine.microcode}"),
        ("machine", f"{machine.sockets} sockets, {machine.cores} cores, {machine.threads} threads,"
         f" {format_bytes(machine.memory_bytes)} memory, Linux {machine.kernel}"),
        ("protocol", f"{about.protocol}, region {about.region}, mode {about.mode}, counted by"
         f" {about.counter}"),
        ("day", about.created),
        ("passes", ", ".join(f"{name} ({len(events)} events)" for name, events in bundle.passes().items())),
        ("runs", f"{good} ok, {len(bundle.runs) - good} not"),
        *[("workload", text) for text in workloads],
    ]  # fmt: skip
