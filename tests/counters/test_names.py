"""perf's names of events: aliases, codes, names of the sources and of the kernel; modes where they show."""

from __future__ import annotations

import pytest

from tessera.core.errors import TesseraError
from tessera.machine.counters.event_table import class_named, counter_classes
from tessera.machine.perf.event_names import resolve


@pytest.mark.parametrize(
    "text, quantity, mode",
    [
        ("cycles", "R cycles", ""),
        ("cpu-cycles:u", "R cycles", "u"),
        ("cpu/cpu-cycles/uk", "R cycles", "uk"),
        ("instructions:ukhH", "instructions", "uk"),
        ("ref-cycles:k", "R reference cycles", "k"),
        ("H_loads_u", "H loads", "u"),
        ("H_loads_uk", "H loads", "uk"),
        ("H_loads", "H loads", ""),
        ("h_loads_u:u", "H loads", "u"),
        ("r6008", "H loads", ""),
        ("r1008:u", "C loads", "u"),
        ("r1001008:u", "C active loads", "u"),
        ("cpu/r1008/u", "C loads", "u"),
        ("cpu/event=0x08,umask=0x10/u", "C loads", "u"),
        ("cpu/event=0x8,umask=0x10,name=x/", "C loads", ""),
        ("cpu/event=8,umask=16/", "C loads", ""),
        ("cpu/config=0x1049/", "C stores", ""),
        ("cpu/event=0x08,umask=0x10,cmask=1/", "C active loads", ""),
        ("dtlb_load_misses.walk_duration:u", "C loads", "u"),
        ("cpu/DTLB_STORE_MISSES.STLB_HIT/u", "H stores", "u"),
        ("task-clock", "R time", ""),
        ("faults", "page faults", ""),
        ("cs:u", "context switches", "u"),
    ],
)
def test_names_on_broadwell(text, quantity, mode):
    found = resolve(text, class_named("broadwell"))
    assert (found.event.quantity, found.mode) == (quantity, mode)


@pytest.mark.parametrize(
    "text",
    [
        "branch-misses",
        "r9999:u",
        "cpu/event=0x09/",
        "",
        "cpu/foo=1/",
        "probe:x",
        "uncore_imc/event=1/",
        "L_hoads_u",
    ],
)
def test_unknown_events(text):
    with pytest.raises(TesseraError) as error:
        resolve(text, class_named("broadwell"))
    assert error.value.code == "event-unknown" and "broadwell" in error.value.found


def test_events_of_another_class_are_unknown():
    """Loads that hit the STLB: 5F/04 on IvyBridge, 08/10 on SandyBridge, which is C's code on Broadwell."""
    assert resolve("r045f", class_named("ivybridge")).event.quantity == "H loads"
    with pytest.raises(TesseraError):
        resolve("r045f", class_named("sandybridge"))
    assert resolve("r1008", class_named("sandybridge")).event.quantity == "H loads"
    assert resolve("r1008", class_named("broadwell")).event.quantity == "C loads"


def test_the_other_type_of_core():
    assert resolve("cpu_core/cycles/u", class_named("goldencove")).pmu == "cpu_core"
    with pytest.raises(TesseraError) as error:
        resolve("cpu_atom/cycles/u", class_named("goldencove"))
    assert error.value.code == "event-other-core"


def test_a_name_that_contradicts_its_modifier():
    with pytest.raises(TesseraError) as error:
        resolve("H_loads_uk:u", class_named("broadwell"))
    assert error.value.code == "mode-mixed"


@pytest.mark.parametrize("name", list(counter_classes()))
def test_our_names_come_back(name):
    """Each event that a pass can contain is found by its alias, by its term, and (if raw) by its code."""
    found = class_named(name)
    for event in found.events:
        if not event.usable or event.role == "sampling":
            continue
        for mode in ("u", "uk"):
            assert resolve(event.alias(mode), found).event.quantity == event.quantity
            assert resolve(event.term(mode), found).event.quantity == event.quantity
            assert resolve(event.term(mode), found).mode == mode
