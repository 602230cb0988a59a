"""Every text of a bundle: shown to its owner, and free of names of people, machines and folders."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

from tessera.core.private_texts import KINDS, NETWORK, Scrubber
from tessera.core.units import format_bytes
from tessera.measure.bundles import file_format
from tessera.measure.bundles.archive import unpack_counts
from tessera.measure.bundles.bundle import Bundle
from tessera.measure.bundles.file_format import LONGEST_TEXT

# Texts without names of people, machines and folders (:mod:`tessera.core.private_texts`).
#
# Two uses: messages are cleaned before they are written, and ``verify`` looks for what should not be there.
# It can know names of this machine only; ``tessera measure bundle show`` prints every text for its owner.

_KERNEL = "machine.json, kernel"  #: a release may have four numbers, as network addresses have


def clean(text: str) -> str:
    """The text in one line, without what is private: see :mod:`tessera.core.private_texts`."""
    text = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return Scrubber.of_this_machine().clean(text)[:LONGEST_TEXT]


def clean_cell(text: str) -> str:
    """The same for a cell of a table: a quote stands before what a spreadsheet would take for a formula."""
    text = clean(text)
    return f"'{text}"[:LONGEST_TEXT] if file_format.is_formula(text) else text


def private_texts(texts: Iterable[tuple[str, str]], *, names: bool = True) -> Iterator[str]:
    """What is private in (place, text) pairs. The value itself is not printed.

    Args:
        names: also look for names of this machine, which may be ordinary words.
    """
    kinds = lru_cache(1000)((Scrubber.of_this_machine() if names else Scrubber()).kinds)
    for place, text in texts:
        for kind in kinds(text):
            if place != _KERNEL or kind != NETWORK:
                yield f"{place}: {KINDS[kind]}"


def private_in_bundle(bundle: Bundle) -> Iterator[str]:
    """No absolute path, address, password or token, and no name of the machine that verifies.

    Words that Tessera chose are searched for forms only, not for names.
    """
    yield from private_texts(_free_texts(bundle))
    rules = [(one.check, text) for one in bundle.environment for text in (one.wanted, one.remedy)]
    yield from private_texts([(f"environment.csv, {check}", text) for check, text in rules], names=False)


def _free_texts(bundle: Bundle) -> Iterator[tuple[str, str]]:
    """(place, text) of every text that comes from the machine or its user."""
    yield _KERNEL, bundle.machine.kernel
    for name, text in bundle.machine.mitigations.items():
        yield f"machine.json, mitigations {name}", text
    for one in bundle.environment:
        yield f"environment.csv, {one.check}", one.found
    for workload in bundle.workloads.values():
        yield f"workloads.json, {workload.name}", " ".join(workload.arguments)
    for run in bundle.runs:
        if run.message:
            yield f"runs.csv, run {run.run}", run.message


# ``tessera measure bundle show``: every text that a bundle contains, and a summary.
#
# The texts are read from the files themselves, not from what Tessera understands of them: so nothing that
# would be published is left out. Numbers and sums of files are not texts.

_NUMBER_TEXT = re.compile(r"[0-9]*\.?[0-9]*(e-?[0-9]+)?", re.ASCII)


def texts_of_files(files: Mapping[str, bytes]) -> list[tuple[str, str, list[str]]]:
    """(file, field, its distinct texts), in the order of the files; the names of the files come last."""
    found = []
    for name in sorted(files):
        data = unpack_counts(files[name]) if name == file_format.PACKED_FILE else files[name]
        text = data.decode("utf-8", errors="backslashreplace")
        if name == file_format.SUMS_FILE:
            continue
        pairs = _of_json(json.loads(text), "") if name.endswith(".json") else _of_csv(text)
        fields: dict[str, dict[str, None]] = {}
        for field, value in pairs:
            fields.setdefault(field, {})[value] = None
        if not name.startswith(file_format.LAYOUTS_FOLDER):  # the grammar of layouts has four words
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
            if not _NUMBER_TEXT.fullmatch(cell):
                yield column, cell


def bundle_summary(bundle: Bundle) -> list[tuple[str, str]]:
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
