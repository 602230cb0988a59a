"""Attributes of passes, with numbers worked out by hand from the vendors' register layouts.

IA32_PERFEVTSELx (Intel SDM volume 3, 20.2): event 7:0, unit mask 15:8, edge 18, any 21, inv 23, counter mask
31:24. AMD (PPR, PERF_CTL): the same, and event bits 11:8 in 35:32.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from tessera.core.errors import TesseraError
from tessera.machine.counters.attributes import HEADER, Attribute, attributes, events_file
from tessera.machine.counters.event_table import class_named
from tessera.machine.counters.passes import CounterSharing, Pass, counter_passes

INTEL = {
    "event": "config:0-7", "umask": "config:8-15", "edge": "config:18", "any": "config:21",
    "inv": "config:23", "cmask": "config:24-31", "ldlat": "config1:0-15", "offcore_rsp": "config1:0-63",
}  # fmt: skip
AMD = INTEL | {"event": "config:0-7,32-35"}


def kernel(folder, pmu="cpu", number=4, formats=INTEL):
    """sysfs of a kernel with one PMU."""
    place = folder / "sys/bus/event_source/devices" / pmu
    (place / "format").mkdir(parents=True)
    (place / "type").write_text(f"{number}\n")
    for name, text in formats.items():
        (place / "format" / name).write_text(f"{text}\n")
    return folder


def one(name, quantity, **changes):
    event = class_named(name).of_quantity(quantity)[0]
    return Pass("x", (replace(event, **changes),), {})


@pytest.mark.parametrize(
    ("name", "quantity", "config", "config1"),
    [
        ("broadwell", "H loads", 0x6008, 0),  # event 08h, mask 60h
        ("broadwell", "C active loads", 0x0100_1008, 0),  # event 08h, mask 10h, counter mask 1
        ("sandybridge", "M stores", 0x0249, 0),  # event 49h, mask 02h
        ("ivybridge", "H loads", 0x045F, 0),  # event 5Fh, mask 04h
        ("icelake", "M stores", 0x0E49, 0),  # event 49h, mask 0Eh
        ("zen3", "M any", 0xF045, 0),  # event 45h, mask F0h
        ("haswell", "profile load latency", 0x01CD, 4),  # event CDh, mask 01h, register 3F6h = 4
    ],
)
def test_bits_of_an_event(tmp_path, name, quantity, config, config1):
    root = kernel(tmp_path, formats=AMD if name == "zen3" else INTEL)
    found = attributes(one(name, quantity), class_named(name), root)[0]
    assert found == Attribute(quantity, found.name, 4, config, config1, 0, "u")


def test_flags_and_split_fields(tmp_path):
    """AMD event 1C7h with inv and edge: C7h below, 1 in bits 35:32."""
    asked = one("zen3", "M any", code=0x1C7, umask=0x0F, inv=1, edge=1, cmask=2)
    found = attributes(asked, class_named("zen3"), kernel(tmp_path, formats=AMD))[0]
    assert found.config == 0xC7 | 0x0F << 8 | 1 << 18 | 1 << 23 | 2 << 24 | 1 << 32


def test_offcore_response_goes_to_config1(tmp_path):
    asked = one("broadwell", "H loads", msr="0x1A6=0x3fffc00001")
    assert attributes(asked, class_named("broadwell"), kernel(tmp_path))[0].configs == (
        0x6008,
        0x3FFFC00001,
        0,
    )


def test_a_hybrid_processor_has_the_number_of_its_pmu(tmp_path):
    root = kernel(tmp_path, "cpu_core", 8)
    kernel(tmp_path, "cpu_atom", 10)
    found = attributes(
        counter_passes(class_named("goldencove"), CounterSharing())[0],
        class_named("goldencove"),
        root,
        mode="uk",
    )
    by_role = {event.role: event for event in found}
    assert (by_role["C loads"].type, by_role["C loads"].config) == (8, 0x1012)
    assert (by_role["R cycles"].type, by_role["R cycles"].config) == (0, 8 << 32)  # generic event 0
    assert {event.modifiers for event in found} == {"uk"}


def test_the_file_of_a_pass(tmp_path):
    machine = CounterSharing(smt=True, watchdog=False)
    text = events_file(
        counter_passes(class_named("broadwell"), machine)[0], class_named("broadwell"), kernel(tmp_path)
    )
    assert text.splitlines() == [
        HEADER,
        "R_cycles_u\t0\t0x0\t0x0\t0x0\tu",
        "R_reference_cycles_u\t0\t0x9\t0x0\t0x0\tu",
        "instructions_u\t0\t0x1\t0x0\t0x0\tu",
        "H_loads_u\t4\t0x6008\t0x0\t0x0\tu",
        "M_loads_u\t4\t0xe08\t0x0\t0x0\tu",
        "C_loads_u\t4\t0x1008\t0x0\t0x0\tu",
        "C_active_loads_u\t4\t0x1001008\t0x0\t0x0\tu",
        "task-clock\t1\t0x1\t0x0\t0x0\tu",
        "page-faults\t1\t0x2\t0x0\t0x0\tu",
    ]


def test_switches_and_migrations_are_counted_with_the_kernel_only(tmp_path):
    root = kernel(tmp_path)
    found, asked = class_named("broadwell"), one("broadwell", "H loads")
    names = {m: {event.name for event in attributes(asked, found, root, mode=m)} for m in ("u", "uk")}
    assert names["uk"] - names["u"] == {"context-switches", "cpu-migrations", "H_loads_uk"}


@pytest.mark.parametrize(
    ("formats", "changes"),
    [
        ({}, {}),
        (INTEL | {"umask": "config:8-11"}, {"umask": 0x60}),
        (INTEL | {"event": "strange"}, {}),
        ({"event": "config:0-7", "umask": "config:8-15"}, {"any_thread": 1}),
    ],
)
def test_a_field_that_the_kernel_lacks_is_an_error(tmp_path, formats, changes):
    with pytest.raises(TesseraError) as error:
        asked = one("broadwell", "H loads", **changes)
        attributes(asked, class_named("broadwell"), kernel(tmp_path, formats=formats))
    assert error.value.code == "pmu-format"


def test_without_a_pmu_there_are_no_attributes(tmp_path):
    with pytest.raises(TesseraError) as error:
        attributes(one("broadwell", "H loads"), class_named("broadwell"), tmp_path)
    assert error.value.code == "no-pmu"
    with pytest.raises(TesseraError, match="mode 'k'"):
        attributes(one("broadwell", "H loads"), class_named("broadwell"), kernel(tmp_path), mode="k")
