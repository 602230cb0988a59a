"""The strict reader of ``pmu-events.csv``: each row has every column, and its parts agree with each other.

Source of the rows: intel/perfmon of August 2026 (commit 6dadedf) and ``tools/perf/pmu-events`` of Linux; the
column ``source`` names file and version. A mistake in a code makes wrong numbers without an error, so the
reader rejects what it does not understand.
"""

from __future__ import annotations

import csv
import re
from functools import cache
from pathlib import Path

from tessera.core.errors import TesseraError
from tessera.counters.cpuid import rules
from tessera.counters.event import GENERIC, ROLES, STATUSES, Event

DATA = Path(__file__).with_name("pmu-events.csv")
COLUMNS = (
    "class", "variant", "cpuid", "pmu", "walkers", "gp_counters_smt_on_off", "quantity", "role", "event",
    "event_code", "umask", "cmask", "inv", "edge", "any", "msr", "counters_smt_on", "counters_smt_off",
    "precise", "data_address", "perf_event", "status", "caveat", "source",
)  # fmt: skip
ANY = "any"  #: the class of events that every processor has (software, msr, power)

_CODE = re.compile(r"0x[0-9a-f]{2,3}|")
_RAW = re.compile(r"[a-z]\w*/event=(0x[0-9a-f]+),umask=(0x[0-9a-f]+)(?:,cmask=(\d+))?(?:,ldlat=\d+)?/p*")


@cache
def read_events(path: Path = DATA) -> tuple[Event, ...]:
    """Every row of the table, in its order.

    Raises:
        TesseraError: a column is missing or unknown, a cell is malformed, or two cells of a row disagree; the
            message has the line.
    """
    try:
        with path.open(encoding="utf-8", newline="") as stream:
            reader = csv.DictReader(stream, strict=True)
            if tuple(reader.fieldnames or ()) != COLUMNS:
                found = ", ".join(reader.fieldnames or ()) or "no header"
                raise _wrong(path, 1, f"columns {found}", f"use exactly: {', '.join(COLUMNS)}")
            return tuple(_event(path, reader.line_num, row) for row in reader)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise TesseraError(f"table of events {path}", str(error), "install Tessera again") from error


def _wrong(path: Path, line: int, found: str, remedy: str) -> TesseraError:
    return TesseraError(f"table of events {path.name} line {line}", found, remedy, code="events-table")


def _event(path: Path, line: int, row: dict) -> Event:
    def check(good: object, column: str, rule: str) -> None:
        if not good:
            raise _wrong(path, line, f"{column} '{row.get(column)}'", rule)

    check(None not in row and None not in row.values(), "class", f"a row has {len(COLUMNS)} cells")
    check(re.fullmatch(r"[a-z][a-z0-9]*", row["class"]), "class", "lower-case letters and digits")
    try:
        rules(row["cpuid"])
    except ValueError:
        check(False, "cpuid", "a form of tessera.counters.cpuid")
    check(row["role"] in ROLES, "role", f"one of: {', '.join(ROLES)}")
    check(row["status"] in STATUSES, "status", f"one of: {', '.join(STATUSES)}")
    for column in ("quantity", "event", "perf_event", "source"):
        check(row[column].strip(), column, "it is not empty")
    for column in ("event_code", "umask"):
        check(_CODE.fullmatch(row[column]), column, "two or three hexadecimal digits after 0x, or empty")
    for column in ("cmask", "inv", "edge", "any", "walkers"):
        check(re.fullmatch(r"\d*", row[column]), column, "a number, or empty")
    general = re.fullmatch(r"(?:(\d+)/(\d+))?", row["gp_counters_smt_on_off"])
    check(general, "gp_counters_smt_on_off", "two numbers with / between them, or empty")
    check(row["data_address"] in ("", "yes"), "data_address", "yes, or empty")
    check(row["precise"] in ("", "PEBS", "IBS"), "precise", "PEBS, IBS, or empty")
    absent = row["status"] == "absent"
    check(absent == (row["event"] == "(none)"), "event", "(none) in rows with status absent, only there")
    check(absent == (row["role"] == "none"), "role", "none in rows with status absent, only there")
    counters = {}
    for column in ("counters_smt_on", "counters_smt_off"):
        counters[column] = _counters(row[column])
        check(counters[column] is not None, column, "numbers, 'Fixed counter N', or empty")
    _check_perf_event(check, row)
    number = {c: int(row[c] or 0) for c in ("cmask", "inv", "edge", "any")}
    return Event(
        class_name=row["class"],
        variant=row["variant"],
        cpuid=row["cpuid"],
        pmus=tuple(re.findall(r"(\w+)(?: \(\w+\))?", row["pmu"])),
        walkers=int(row["walkers"]) if row["walkers"] else None,
        general=(int(general[1]), int(general[2])) if general[1] else None,
        quantity=row["quantity"],
        role=row["role"],
        name=row["event"],
        code=int(row["event_code"], 16) if row["event_code"] else None,
        umask=int(row["umask"], 16) if row["umask"] else None,
        cmask=number["cmask"],
        inv=number["inv"],
        edge=number["edge"],
        any_thread=number["any"],
        msr=row["msr"],
        counters_smt_on=counters["counters_smt_on"],
        counters_smt_off=counters["counters_smt_off"],
        precise=row["precise"],
        data_address=row["data_address"] == "yes",
        perf_event=row["perf_event"],
        status=row["status"],
        caveat=row["caveat"],
        source=row["source"],
    )


def _counters(text: str) -> frozenset[str] | None:
    """Names of counters; None if the text has another form."""
    if match := re.fullmatch(r"Fixed counter (\d)", text):
        return frozenset({f"F{match[1]}"})
    if match := re.fullmatch(r"(\d+(?: \d+)*) \(L3\)", text):
        return frozenset(f"L3:{number}" for number in match[1].split())
    if re.fullmatch(r"(\d+(?: \d+)*)?", text):
        return frozenset(text.split())
    return None


def _check_perf_event(check, row: dict) -> None:
    """perf's string has the code of the other columns."""
    text = row["perf_event"]
    if row["status"] == "absent":
        check(text == "-", "perf_event", "- in rows with status absent")
        return
    if text in GENERIC or row["class"] == ANY or not text.startswith("cpu"):
        return
    if row["status"] == "experimental":
        check(row["umask"] or "umask=?" in text, "perf_event", "umask=? if the unit mask is unknown")
        return
    raw = _RAW.fullmatch(text)
    check(raw, "perf_event", "PMU/event=0x..,umask=0x..[,cmask=N][,ldlat=N]/[pp], or a kernel's name")
    pmu = text.split("/")[0]
    check(pmu in row["pmu"], "perf_event", f"it begins with the row's pmu, {row['pmu']}")
    same = (raw[1], raw[2], raw[3] or "0") == (row["event_code"], row["umask"], row["cmask"])
    check(same, "perf_event", "its numbers are those of event_code, umask and cmask")
    check(text.endswith("/pp") == (row["role"] == "sampling"), "perf_event", "/pp in sampling rows only")
