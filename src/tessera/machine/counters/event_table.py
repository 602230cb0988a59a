"""The strict reader of ``pmu-events.csv``, and its rows by class of processors.

Source of the rows: intel/perfmon of August 2026 (commit 6dadedf) and ``tools/perf/pmu-events`` of Linux;
the column ``source`` names file and version. A mistake in a code makes wrong numbers without an error, so
the reader rejects what it does not understand: each row has every column, and its parts agree with each
other.
"""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tessera.core.errors import TesseraError, unknown_name
from tessera.machine.counters.event import GENERIC, ROLES, STATUSES, Cpu, Event, cpu_rules

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
                raise _wrong_row(path, 1, f"columns {found}", f"use exactly: {', '.join(COLUMNS)}")
            return tuple(_event(path, reader.line_num, row) for row in reader)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise TesseraError(f"table of events {path}", str(error), "install Tessera again") from error


def _wrong_row(path: Path, line: int, found: str, remedy: str) -> TesseraError:
    return TesseraError(f"table of events {path.name} line {line}", found, remedy, code="events-table")


def _event(path: Path, line: int, row: dict) -> Event:
    def check(good: object, column: str, rule: str) -> None:
        if not good:
            raise _wrong_row(path, line, f"{column} '{row.get(column)}'", rule)

    check(None not in row and None not in row.values(), "class", f"a row has {len(COLUMNS)} cells")
    check(re.fullmatch(r"[a-z][a-z0-9]*", row["class"]), "class", "lower-case letters and digits")
    try:
        cpu_rules(row["cpuid"])
    except ValueError:
        check(False, "cpuid", "a form of tessera.machine.counters.event")
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


# Classes of processors whose counters count the same: the rows of the table by ``class``.

#: The inputs of the models, with the roles that count them (loads and stores, or both together).
INPUTS = ("H", "M", "C")
SIDES = ("loads", "stores", "any")


@dataclass(frozen=True)
class CounterClass:
    """``events`` are the class's own rows; software events are those of :func:`everywhere`."""

    name: str
    events: tuple[Event, ...]

    @property
    def cpuid(self) -> str:
        """Processors of the class, as the table writes them."""
        return self.events[0].cpuid

    @property
    def pmus(self) -> tuple[str, ...]:
        """PMUs of a core of the class: ``cpu``, ``cpu_core`` or ``cpu_atom``."""
        return self.events[0].pmus

    @property
    def walkers(self) -> int | None:
        """Page walkers, each of which adds to C in every cycle of its walk; None if unknown."""
        return self.events[0].walkers

    @property
    def intel(self) -> bool:
        return cpu_rules(self.cpuid)[0].vendor == "GenuineIntel"

    def general(self, smt: bool) -> int:
        """General counters of a logical processor, with SMT on or off."""
        return self.events[0].general[0 if smt else 1]

    def of_quantity(self, quantity: str) -> tuple[Event, ...]:
        return tuple(event for event in self.events if event.quantity == quantity)

    def required(self) -> tuple[Event, ...]:
        """Events of H, M and C, in the order of the table."""
        return tuple(e for e in self.events if e.role in SIDES and not e.quantity.startswith("C active"))

    def active(self) -> tuple[Event, ...]:
        """Cycles with a walk: kept apart, never C."""
        return tuple(e for e in self.events if e.role in SIDES and e.quantity.startswith("C active"))

    def sides(self, symbol: str) -> tuple[str, ...]:
        """How H, M or C is counted: ("loads", "stores"), ("any",), or () if the class does not count it."""
        return tuple(e.role for e in self.required() if e.quantity.split()[0] == symbol)

    def of(self, cpu: Cpu) -> CounterClass:
        """The class with those rows only that hold for this processor."""
        return CounterClass(self.name, tuple(e for e in self.events if _is_for(e.cpuid, cpu)))


def _is_for(text: str, cpu: Cpu) -> bool:
    return any(rule.names(cpu) or rule.takes_the_rest(cpu) for rule in cpu_rules(text))


@cache
def counter_classes() -> dict[str, CounterClass]:
    """Every class by name, in the order of the table."""
    found: dict[str, list[Event]] = {}
    for event in read_events():
        if event.class_name != ANY:
            found.setdefault(event.class_name, []).append(event)
    return {name: CounterClass(name, tuple(events)) for name, events in found.items()}


def everywhere() -> tuple[Event, ...]:
    """Events of every Linux machine: software events, msr, power."""
    return tuple(event for event in read_events() if event.class_name == ANY)


def class_named(name: str) -> CounterClass:
    """A class by name; TesseraError with the valid names if there is none."""
    if name not in counter_classes():
        raise unknown_name("class of processors", name, list(counter_classes()))
    return counter_classes()[name]


def of_cpu(cpu: Cpu | None) -> tuple[CounterClass, ...]:
    """Classes of a processor: none if unknown, two if it has two types of cores; rows for it only."""
    if cpu is None:
        return ()
    by_rule = {c: cpu_rules(c.cpuid) for c in counter_classes().values()}
    exact = [c for c, found in by_rule.items() if any(rule.names(cpu) for rule in found)]
    rest = [c for c, found in by_rule.items() if any(rule.takes_the_rest(cpu) for rule in found)]
    return tuple(c.of(cpu) for c in exact or rest)
