"""Recordings that are known: SHA-256 of traces that two machines made alike, by what they are made from.

``config/known-recordings.csv`` has a row for each workload and size: the key of the recording (the hash of
program, libraries, image, arguments, inputs and limits), the SHA-256 of its trace, and its accesses. Two
recordings with one key must have the same bytes, on every machine.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from tessera.core.errors import TesseraError
from tessera.core.files import repo_root, write_text
from tessera.core.results.outcomes import is_ok
from tessera.core.results.tree import ResultsTree

#: How a recording compares with the known one; only :data:`DIFFERS` is an error.
EQUAL, DIFFERS, OTHER_KEY, UNKNOWN, NOT_COMPARED = "equal", "differs", "other key", "unknown", "not compared"

_FORMS = {"key": "[0-9a-f]{64}", "sha256": "[0-9a-f]{64}", "accesses": "[0-9]{1,18}"}


@dataclass(frozen=True)
class KnownRecording:
    """A row of the table."""

    workload: str
    size: str
    key: str
    sha256: str
    accesses: str

    @property
    def place(self) -> tuple[str, str]:
        return self.workload, self.size


COLUMNS = [field.name for field in fields(KnownRecording)]
Known = Mapping[tuple[str, str], KnownRecording]


def known_file() -> Path:
    """The committed table."""
    return repo_root() / "config" / "known-recordings.csv"


def read_known(path: Path) -> dict[tuple[str, str], KnownRecording]:
    """The rows by workload and size.

    Raises:
        TesseraError: no such file, other columns, a value of another form, or a row that is given twice.
    """

    def refused(where: str, found: str) -> TesseraError:
        remedy = (
            "take the committed table, or write it again: tessera dev recordings --results results/default"
        )
        return TesseraError(f"table of known recordings {path}{where}", found, remedy)

    if not path.is_file():
        raise refused("", "the file does not exist")
    reader = csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"), newline=""))
    if reader.fieldnames != COLUMNS:
        raise refused(", line 1", f"its columns are {reader.fieldnames}, not {COLUMNS}")
    known: dict[tuple[str, str], KnownRecording] = {}
    for row in reader:
        where = f", line {reader.line_num}"
        if None in row or None in row.values():
            raise refused(where, f"it must have {len(COLUMNS)} values")
        for name, form in _FORMS.items():
            if not re.fullmatch(form, row[name]):
                raise refused(where, f"{name} is {row[name]!r}, which is not of the form {form}")
        one = KnownRecording(**row)
        if one.place in known:
            raise refused(where, f"{one.workload} ({one.size}) is given twice")
        known[one.place] = one
    return known


def write_known(path: Path, rows: Iterable[KnownRecording]) -> None:
    """Write the table, sorted by workload and size."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(asdict(row) for row in sorted(rows, key=lambda row: row.place))
    write_text(path, text.getvalue())


def recordings_of(results: Path) -> list[dict]:
    """The info.json of each good recording of a run, by workload.

    Raises:
        TesseraError: the folder has none.
    """
    tree = ResultsTree(results)
    found = [json.loads(path.read_text()) for path in tree.found(tree.info("*"))]
    good = [info for info in found if is_ok(info)]
    if not good:
        raise TesseraError(
            f"recordings of {results}", f"no recording is ok ({tree.info('*')})", "./run reproduce"
        )
    return good


def recording_of(info: Mapping) -> KnownRecording | None:
    """What would be the row of a recording; None for one that need not repeat."""
    key = info["repeats"]["key"]
    if not key:
        return None
    return KnownRecording(info["workload"], info["size"], key, info["sha256"], str(info["accesses"]))


def compared(info: Mapping, known: Known) -> tuple[str, str]:
    """How a recording compares with the known one, and a sentence on it."""
    one = recording_of(info)
    if one is None:
        return NOT_COMPARED, info["repeats"]["exception"]
    before = known.get(one.place)
    if before is None:
        return UNKNOWN, "the table of known recordings has no row for it"
    if before.key != one.key:
        return (
            OTHER_KEY,
            "program, libraries, image, inputs, limits or number of processors are others",
        )
    if before.sha256 == one.sha256:
        return EQUAL, ""
    return DIFFERS, (
        f"its trace has SHA-256 {one.sha256} and {one.accesses} accesses; the known one of the same program, "
        f"image and inputs has {before.sha256} and {before.accesses}; see docs/reference/trace.md, "
        "'Recordings that repeat'; to accept the new one: tessera dev recordings --results FOLDER"
    )
