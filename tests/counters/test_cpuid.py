"""Processors and their classes, beside Linux's own map of CPUID to event files."""

from __future__ import annotations

import csv
import re

import pytest

from tessera.machine.counters.event import Cpu, cpu_rules
from tessera.machine.counters.event_table import of_cpu

from .builders import EXTRACTS

FOLDERS = {
    "sandybridge": "sandybridge", "jaketown": "sandybridge", "ivybridge": "ivybridge", "ivytown": "ivybridge",
    "haswell": "haswell", "haswellx": "haswell", "broadwell": "broadwell", "broadwellx": "broadwell",
    "broadwellde": "broadwell", "skylake": "skylake", "skylakex": "skylake", "cascadelakex": "cascadelake",
    "icelake": "icelake", "icelakex": "icelake", "tigerlake": "tigerlake", "sapphirerapids": "sapphirerapids",
    "emeraldrapids": "emeraldrapids", "graniterapids": "graniterapids", "alderlake": "goldencove gracemont",
    "alderlaken": "gracemont", "meteorlake": "redwoodcove crestmont", "lunarlake": "lioncove",
    "sierraforest": "crestmont", "amdzen1": "zen1", "amdzen2": "zen2", "amdzen3": "zen3", "amdzen4": "zen4",
    "amdzen5": "zen5",
}  # fmt: skip
#: Arrow Lake and one Meteor Lake came after Linux 6.12.
LATER = {(6, 0xC5), (6, 0xC6), (6, 0xB5)}


def linux(vendor, family, model, stepping):
    """The classes by the first row of Linux's map that matches."""
    forms = [f"{vendor}-{family}-{model:X}", f"{vendor}-{family}-{model:X}-{stepping:X}"]
    with (EXTRACTS / "linux-6.12.117-mapfile.csv").open(newline="") as stream:
        table = [(row[0].replace("[[:xdigit:]]", "[0-9A-F]"), row[2]) for row in csv.reader(stream)][1:]
    for pattern, folder in table:
        pattern = pattern.replace("[:xdigit:]", "0-9A-F")
        if any(re.fullmatch(pattern, form) for form in forms):
            return FOLDERS[folder].split()
    return []


@pytest.mark.parametrize("stepping", [0, 4, 5, 7, 15])
def test_intel_classes_are_those_of_linux(stepping):
    seen = 0
    for model in range(256):
        if (6, model) in LATER:
            continue
        ours = [found.name for found in of_cpu(Cpu("GenuineIntel", 6, model, stepping))]
        assert ours == linux("GenuineIntel", 6, model, stepping), f"{model:02X} stepping {stepping}"
        seen += bool(ours)
    assert seen > 30


@pytest.mark.parametrize("family, models", [(0x17, range(256)), (0x19, range(0x80)), (0x1A, range(0x30))])
def test_amd_classes_are_those_of_linux(family, models):
    for model in models:
        ours = [found.name for found in of_cpu(Cpu("AuthenticAMD", family, model))]
        assert ours == linux("AuthenticAMD", family, model, 0), f"{family:02X} {model:02X}"


@pytest.mark.parametrize("vendor, family, model, cell", [
    ("GenuineIntel", 6, 0xFE, "06_FE"), ("AuthenticAMD", 0x1C, 5, "AuthenticAMD family 1Ch models 05-05"),
    ("GenuineIntel", 19, 1, ""), ("Other", 6, 1, ""),
])  # fmt: skip
def test_what_a_row_for_an_unknown_processor_says(vendor, family, model, cell):
    """A message names this cell; the reader of the table must accept it."""
    cpu = Cpu(vendor, family, model, 3)
    assert cpu.cell() == cell
    if cell:
        (rule,) = cpu_rules(cell)
        assert rule.names(cpu) and not rule.names(Cpu(vendor, family, model + 1))


def test_zen_6_is_unknown():
    """Linux 6.12 calls only some models of family 1Ah Zen 5."""
    assert of_cpu(Cpu("AuthenticAMD", 0x1A, 0x50)) == ()
    assert [c.name for c in of_cpu(Cpu("AuthenticAMD", 0x1A, 0x44))] == ["zen5"]


def test_rows_of_a_part_of_a_class():
    """Client and server parts of SandyBridge count loads that miss the L3 with different codes."""
    codes = [
        [event.code for event in found.of_quantity("program L3 load misses")]
        for model in (0x2A, 0x2D)
        for found in of_cpu(Cpu("GenuineIntel", 6, model))
    ]
    assert codes == [[0xD4], [0xD1]]


def test_from_cpuinfo():
    facts = {"vendor_id": "GenuineIntel", "cpu family": "6", "model": "79", "stepping": "1"}
    cpu = Cpu.from_cpuinfo(facts)
    assert str(cpu) == "06_4F stepping 1"
    assert [found.name for found in of_cpu(cpu)] == ["broadwell"]
    assert Cpu.from_cpuinfo({}) is None and of_cpu(None) == ()
    assert Cpu.from_cpuinfo(facts | {"model": "x"}) is None


@pytest.mark.parametrize(
    "text", ["", "06_4f", "06_55 stepping", "AuthenticAMD", "AuthenticAMD family 17h models 3", "06_4F 4E"]
)
def test_other_forms_are_errors(text):
    with pytest.raises(ValueError):
        cpu_rules(text)
