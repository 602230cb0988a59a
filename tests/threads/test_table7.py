"""OPERA Table 7 and the text around it: numbers as printed, and each known defect."""

from __future__ import annotations

import re

from tessera.core import reference
from tessera.core.reference import lookup
from tessera.machine.counters.event_table import counter_classes
from tessera.machine.counters.passes import base_events

TABLE = "opera_table7"


def value(quantity, **keys):
    return lookup(TABLE, {"quantity": quantity, **keys})


def rows(quantity):
    table = reference.load_published(TABLE)
    return table[table["quantity"] == quantity]


def note(quantity, item):
    found = rows(quantity)
    return found.loc[found["item"] == item, "note"].iloc[0]


def test_the_server_has_48_threads():
    sockets, cores, threads = (value(name) for name in ("sockets", "cores_per_socket", "threads_per_core"))
    assert sockets * cores * threads == value("threads_available") == 48
    assert cores * threads == value("threads_per_socket") == value("threads_used") == 24


def test_defect_two_benchmarks_are_listed_twice():
    listed = rows("listed").set_index("item")["value"]
    assert sorted(listed[listed == 2].index) == ["bodytrack", "dedup"] and listed.sum() == 7


def test_defect_blackscholes_is_reported_and_not_listed():
    listed = rows("listed").set_index("item")["value"]
    missing = [item for item in rows("reported")["item"] if not listed.get(item, 0)]
    assert missing == ["blackscholes"]


def test_defect_the_text_names_another_table():
    assert value("table_of_the_platform") == 1 != 7
    assert set(reference.load_published("opera_table1_tlbs")["location"]) == {"Table 1"}


def test_defect_ddr2_on_a_haswell():
    assert "DDR2" in note("memory", "server") and "Haswell" in note("sockets", "server")


def test_defect_walk_events_of_another_generation():
    """The codes of this project's table of events, by select and mask: loads 0x08, stores 0x49."""
    printed = {item: int(value("walk_event", item=item)) for item in ("loads", "stores")}
    assert printed == {"loads": 0x0408, "stores": 0x0449}
    for generation, codes in (("sandybridge", {0x0408, 0x0449}), ("haswell", {0x1008, 0x1049})):
        events = {event.attribute(0)[1] & 0xFFFF for event in every(counter_classes()[generation])}
        assert codes <= events
        assert (set(printed.values()) <= events) == (generation == "sandybridge")


def every(known):
    return {event.quantity: event for event in (*base_events(known), *known.required())}.values()


def test_defect_the_figures_have_no_values():
    found = rows("values")
    assert sorted(found["location"]) == ["Figure 11", "Figure 12"] and found["value"].isna().all()
    assert re.search("denominator", " ".join(found["note"]))
