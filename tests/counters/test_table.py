"""The table of events: its strict reader, and its codes beside an extract of Linux."""

from __future__ import annotations

import csv
from collections import defaultdict

import pytest

from tessera.core.errors import TesseraError
from tessera.core.results.loader import GENERATIONS
from tessera.machine.counters.event import GENERIC
from tessera.machine.counters.event_table import COLUMNS, DATA, class_named, counter_classes, read_events

from .builders import EXTRACTS


def rows():
    with DATA.open(newline="") as stream:
        return list(csv.reader(stream))


def written(tmp_path, change):
    """The table with a change, in a new file."""
    table = rows()
    change(table)
    path = tmp_path / "pmu-events.csv"
    with path.open("w", newline="") as stream:
        csv.writer(stream, lineterminator="\n").writerows(table)
    return path


def test_every_row_is_read():
    events = read_events()
    assert len(events) == len(rows()) - 1 == 609
    assert len(counter_classes()) == 21 and tuple(counter_classes()) == GENERATIONS
    assert sum(len(found.events) for found in counter_classes().values()) == 609 - 9  # nine of every machine


def test_codes_equal_those_of_linux():
    """Code, unit mask, counter mask and data address of each event that Linux 6.12 names."""
    linux = defaultdict(list)
    with (EXTRACTS / "linux-6.12.117-events.csv").open(newline="") as stream:
        for row in csv.DictReader(stream):
            numbers = (
                int(row["code"].split(",")[0] or "0", 16),
                int(row["umask"] or "0", 16),
                int(row["cmask"]),
            )
            linux[row["class"], row["event"].lower()].append((*numbers, row["data_la"] == "1"))
    compared, other = 0, set()
    for event in read_events():
        for found in linux[event.class_name, event.name.lower()]:
            compared += 1
            if found != (event.code, event.umask, event.cmask, event.data_address):
                other.add((event.class_name, event.quantity, event.status))
    assert compared == 695
    # the counter mask is ours there, as the status says
    assert other == {("broadwell", f"C active {side}", "constructed") for side in ("loads", "stores")}


@pytest.mark.parametrize("name", ["sandybridge", "haswell", "skylake", "icelake", "sapphirerapids", "zen4"])
def test_most_events_of_h_m_and_c_are_in_the_extract(name):
    """The comparison above is not empty where it matters; Zen's H is a sum of ours."""
    with (EXTRACTS / "linux-6.12.117-events.csv").open(newline="") as stream:
        in_linux = {row["event"].lower() for row in csv.DictReader(stream) if row["class"] == name}
    missing = {e.quantity for e in class_named(name).required() if e.name.lower() not in in_linux}
    assert missing == ({"H any"} if name == "zen4" else set())


BROKEN = {
    "class": "Sandy Bridge",
    "cpuid": "06_2",
    "walkers": "two",
    "gp_counters_smt_on_off": "4",
    "role": "other",
    "event_code": "8",
    "umask": "0x1",
    "cmask": "x",
    "counters_smt_on": "0,1",
    "counters_smt_off": "Fixed",
    "precise": "yes",
    "data_address": "no",
    "perf_event": "cpu/event=0x08/",
    "status": "good",
    "quantity": " ",
    "source": "",
}


@pytest.mark.parametrize("column", BROKEN)
def test_a_malformed_cell_is_an_error_with_its_line(tmp_path, column):
    def change(table):
        table[4][COLUMNS.index(column)] = BROKEN[column]

    with pytest.raises(TesseraError) as error:
        read_events(written(tmp_path, change))
    assert error.value.code == "events-table"
    assert f"{column} '{BROKEN[column]}'" in str(error.value) and "line 5" in str(error.value)


@pytest.mark.parametrize("column, value", [("event_code", "0x09"), ("umask", "0x11"), ("cmask", "1")])
def test_the_string_of_perf_has_the_codes_of_its_row(tmp_path, column, value):
    def change(table):
        table[4][COLUMNS.index(column)] = value

    with pytest.raises(TesseraError) as error:
        read_events(written(tmp_path, change))
    assert "perf_event" in error.value.found


def test_rows_with_other_columns(tmp_path):
    def drop(table):
        del table[0][3]

    def short(table):
        del table[9][-1]

    def long(table):
        table[9].append("x")

    for change, at in ((drop, "line 1"), (short, "line 10"), (long, "line 10")):
        with pytest.raises(TesseraError, match=at):
            read_events(written(tmp_path, change))
    with pytest.raises(TesseraError):
        read_events(tmp_path / "none.csv")


def test_facts_of_a_class_are_the_same_in_its_rows():
    for found in counter_classes().values():
        assert len({event.walkers for event in found.events}) == 1, found.name
        assert len({event.general for event in found.events}) == 1, found.name
        assert found.general(smt=True) <= found.general(smt=False)


def test_our_names_are_unique_in_a_class():
    """Two rows of one quantity are one thing that parts of a class count with different codes."""
    for found in counter_classes().values():
        by_alias = defaultdict(set)
        for event in found.events:
            by_alias[event.alias("u").lower()].add(event.quantity)
        assert all(len(quantities) == 1 for quantities in by_alias.values()), found.name


@pytest.mark.parametrize(
    "name, quantity, config",
    [
        ("ivybridge", "H loads", 0x045F),  # SandyBridge counts it with 1008
        ("sandybridge", "H loads", 0x1008),
        ("broadwell", "C loads", 0x1008),
        ("broadwell", "C active loads", 0x01001008),
        ("goldencove", "M stores", 0x0E13),
        ("zen3", "M any", 0xF045),
    ],
)
def test_raw_codes(name, quantity, config):
    (event,) = class_named(name).of_quantity(quantity)
    assert event.config == config
    assert event.attribute(8) == (8, config)  # a PMU of a hybrid machine


def test_codes_above_255_of_amd():
    """Linux, amd/core.c: bits 11:8 of the event are bits 35:32 of the configuration."""
    (event,) = class_named("zen4").of_quantity("R reference cycles")
    assert event.config == 0x1_0000_0120


def test_generic_events_name_the_pmu_on_hybrid_machines():
    """Linux: bits 63:32 of the configuration hold the type of the PMU."""
    (cycles,) = class_named("goldencove").of_quantity("R cycles")
    assert cycles.perf_event in GENERIC
    assert cycles.attribute(4) == (0, 0)
    assert cycles.attribute(10) == (0, 10 << 32)


def test_what_is_not_counted():
    assert [class_named(n).sides("C") for n in ("zen1", "zen5", "gracemont", "skylake")] == [
        (), (), (), ("loads", "stores"),
    ]  # fmt: skip
    assert class_named("gracemont").sides("H") == ()
    assert class_named("zen2").sides("M") == ("any",)


def test_unknown_class():
    with pytest.raises(TesseraError, match="zen4"):
        class_named("zen9")
