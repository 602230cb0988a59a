"""What a bundle says about the machine, and where runs are bound."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tessera.core.errors import TesseraError
from tessera.counters import sysfs
from tessera.counters.classes import named
from tessera.measure.counted import cpuid, facts
from tessera.measure.counted.here import Here, bound, here

from .world import ID

# --- the machine --------------------------------------------------------------------------------------


def test_facts_of_the_machine(world):
    found = facts.machine(here())
    assert (found.vendor, found.family, found.model, found.stepping) == ("GenuineIntel", 6, 79, 1)
    assert (found.microcode, found.kernel, found.machine_id) == ("0xb000040", "6.1.0-test", ID)
    assert (found.sockets, found.cores, found.threads) == (1, 2, 2)
    assert found.memory_bytes == 16384000 * 1024
    assert found.mitigations == {"meltdown": "Mitigation: PTI"}
    assert found.cpuid == ((4, 0, 0x1C004121, 0x1C0003F, 0x3F, 0),)


def test_a_missing_fact_is_named(world):
    world.change({"proc/cpuinfo": "vendor_id : GenuineIntel\ncpu family : 6\nmodel : 79\nstepping : 1\n"})
    with pytest.raises(TesseraError, match="microcode"):
        facts.machine(here())


def test_a_new_machine_gets_a_random_number_that_stays(world):
    (world.machine / "machine-id").unlink()
    first = facts.machine(here()).machine_id
    assert len(first) == 32 and int(first, 16) >= 0
    assert facts.machine(here()).machine_id == first


def test_a_launcher_of_tests_makes_a_rehearsal(world, monkeypatch, tmp_path):
    assert here().rehearsal
    monkeypatch.delenv("TESSERA_LAUNCHER")
    (world.checkout / "build/mosalloc").mkdir(parents=True)
    (world.checkout / "build/mosalloc/mosalloc-run").touch()
    assert here().rehearsal, "the files of another machine are enough"
    monkeypatch.delenv("TESSERA_MACHINE_ROOT")
    found = here()
    assert not found.rehearsal and found.root == Path("/") and found.launcher.name == "mosalloc-run"


def fake_cpuid(table):
    return lambda leaf, subleaf: table.get((leaf, subleaf), (0, 0, 0, 0))


def test_leaves_of_intel_end_where_the_list_of_caches_ends():
    table = {(0, 0): (0x18, 0, 0, 0), (2, 0): (1, 2, 3, 4), (4, 0): (0x21, 1, 1, 1), (4, 1): (0x43, 2, 2, 2),
             (0x18, 0): (1, 0, 0, 0), (0x18, 1): (0, 5, 5, 5)}  # fmt: skip
    places = [row[:2] for row in cpuid.leaves("GenuineIntel", fake_cpuid(table))]
    assert places == [(2, 0), (4, 0), (4, 1), (4, 2), (0x18, 0), (0x18, 1)]


def test_leaves_beyond_the_highest_are_not_read():
    table = {(0x8000_0000, 0): (0x8000_0006, 0, 0, 0), (0x8000_0005, 0): (1, 1, 1, 1)}
    rows = cpuid.leaves("AuthenticAMD", fake_cpuid(table))
    assert [row[:2] for row in rows] == [(0x8000_0005, 0), (0x8000_0006, 0)]
    assert rows[0][2:] == (1, 1, 1, 1)


def test_cpuid_of_this_processor_has_its_vendor():
    """Leaf 0: the vendor's name in ebx, edx, ecx (Intel SDM volume 2)."""
    _, ebx, ecx, edx = cpuid._reader()(0, 0)
    name = b"".join(part.to_bytes(4, "little") for part in (ebx, edx, ecx)).decode()
    assert f"vendor_id\t: {name}\n" in Path("/proc/cpuinfo").read_text()


def test_a_run_is_bound_to_one_processor_of_the_right_type(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(24)))
    place = tmp_path / "sys/bus/event_source/devices/cpu_core"
    place.mkdir(parents=True)
    (place / "type").write_text("4")
    (place / "cpus").write_text("0-7,16")
    where = Here(tmp_path, Path("launcher"), rehearsal=False)
    assert where.binding(named("goldencove")) == ("taskset", "--cpu-list", "16") and where.node is None
    for node in (0, 1):
        (tmp_path / f"sys/devices/system/node/node{node}").mkdir(parents=True)
    (tmp_path / "sys/devices/system/node/node0/cpulist").write_text("0-11\n")
    words = where.binding(named("goldencove"))
    assert words == ("taskset", "--cpu-list", "7") and where.node == 0
    assert bound(words) and not bound(())
    assert Here(tmp_path, Path("launcher"), rehearsal=True).binding(named("goldencove")) == ()


@pytest.mark.parametrize(("text", "numbers"), [("", set()), ("3", {3}), ("0-2,5\n", {0, 1, 2, 5})])
def test_lists_of_processors(text, numbers):
    assert sysfs.listed(text) == numbers
