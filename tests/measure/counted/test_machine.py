"""What a bundle says about the machine, and where runs are bound."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tessera.core.errors import TesseraError
from tessera.machine.counters import sysfs
from tessera.machine.counters.event_table import class_named
from tessera.measure.counted import host
from tessera.measure.counted.host import MeasurementSite, bound, this_host

from .world import ID

# --- the machine --------------------------------------------------------------------------------------


def test_facts_of_the_machine(world):
    found = host.machine_facts(this_host())
    assert (found.vendor, found.family, found.model, found.stepping) == ("GenuineIntel", 6, 79, 1)
    assert (found.microcode, found.kernel, found.machine_id) == ("0xb000040", "6.1.0-test", ID)
    assert (found.sockets, found.cores, found.threads) == (1, 2, 2)
    assert found.memory_bytes == 16384000 * 1024
    assert found.mitigations == {"meltdown": "Mitigation: PTI"}
    assert found.cpuid == ((4, 0, 0x1C004121, 0x1C0003F, 0x3F, 0),)


def test_a_missing_fact_is_named(world):
    world.change({"proc/cpuinfo": "vendor_id : GenuineIntel\ncpu family : 6\nmodel : 79\nstepping : 1\n"})
    with pytest.raises(TesseraError, match="microcode"):
        host.machine_facts(this_host())


def test_a_new_machine_gets_a_random_number_that_stays(world):
    (world.machine / "machine-id").unlink()
    first = host.machine_facts(this_host()).machine_id
    assert len(first) == 32 and int(first, 16) >= 0
    assert host.machine_facts(this_host()).machine_id == first


def test_a_launcher_of_tests_makes_a_rehearsal(world, monkeypatch, tmp_path):
    assert this_host().rehearsal
    monkeypatch.delenv("TESSERA_LAUNCHER")
    (world.checkout / "build/mosalloc").mkdir(parents=True)
    (world.checkout / "build/mosalloc/mosalloc-run").touch()
    assert this_host().rehearsal, "the files of another machine are enough"
    monkeypatch.delenv("TESSERA_MACHINE_ROOT")
    found = this_host()
    assert not found.rehearsal and found.root == Path("/") and found.launcher.name == "mosalloc-run"


def test_a_rehearsal_on_this_machine_keeps_its_number_with_its_user(monkeypatch, tmp_path):
    """A fake launcher alone: the root is /, where nothing may be written."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    found = host._machine_id(MeasurementSite(Path("/"), Path("launcher"), rehearsal=True))
    assert (tmp_path / "tessera/machine-id").read_text().strip() == found


def test_cpuid_is_read_on_the_processor_of_the_runs(monkeypatch):
    """P-cores and E-cores have other caches. The binding ends with the reading."""
    before = os.sched_getaffinity(0)
    monkeypatch.setattr(host, "cpuid_leaves", lambda vendor: tuple(os.sched_getaffinity(0)))
    where = MeasurementSite(Path("/"), Path("launcher"), rehearsal=False)
    for number in before:
        assert host._leaves(where, "GenuineIntel", number) == (number,)
    assert set(host._leaves(where, "GenuineIntel", None)) == before == os.sched_getaffinity(0)


def fake_cpuid(table):
    return lambda leaf, subleaf: table.get((leaf, subleaf), (0, 0, 0, 0))


def test_leaves_of_intel_end_where_the_list_of_caches_ends():
    table = {(0, 0): (0x18, 0, 0, 0), (2, 0): (1, 2, 3, 4), (4, 0): (0x21, 1, 1, 1), (4, 1): (0x43, 2, 2, 2),
             (0x18, 0): (1, 0, 0, 0), (0x18, 1): (0, 5, 5, 5)}  # fmt: skip
    places = [row[:2] for row in host.cpuid_leaves("GenuineIntel", fake_cpuid(table))]
    assert places == [(2, 0), (4, 0), (4, 1), (4, 2), (0x18, 0), (0x18, 1)]


def test_leaves_beyond_the_highest_are_not_read():
    table = {(0x8000_0000, 0): (0x8000_0006, 0, 0, 0), (0x8000_0005, 0): (1, 1, 1, 1)}
    rows = host.cpuid_leaves("AuthenticAMD", fake_cpuid(table))
    assert [row[:2] for row in rows] == [(0x8000_0005, 0), (0x8000_0006, 0)]
    assert rows[0][2:] == (1, 1, 1, 1)


def test_cpuid_of_this_processor_has_its_vendor():
    """Leaf 0: the vendor's name in ebx, edx, ecx (Intel SDM volume 2)."""
    _, ebx, ecx, edx = host._reader()(0, 0)
    name = b"".join(part.to_bytes(4, "little") for part in (ebx, edx, ecx)).decode()
    assert f"vendor_id\t: {name}\n" in Path("/proc/cpuinfo").read_text()


def test_a_run_is_bound_to_one_processor_of_the_right_type(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(24)))
    place = tmp_path / "sys/bus/event_source/devices/cpu_core"
    place.mkdir(parents=True)
    (place / "type").write_text("4")
    (place / "cpus").write_text("0-7,16")
    where = MeasurementSite(tmp_path, Path("launcher"), rehearsal=False)
    assert where.binding(class_named("goldencove")) == ("taskset", "--cpu-list", "16") and where.node is None
    for node in (0, 1):
        (tmp_path / f"sys/devices/system/node/node{node}").mkdir(parents=True)
    (tmp_path / "sys/devices/system/node/node0/cpulist").write_text("0-11\n")
    words = where.binding(class_named("goldencove"))
    assert words == ("taskset", "--cpu-list", "7") and where.node == 0
    assert bound(words) and not bound(())
    assert (
        MeasurementSite(tmp_path, Path("launcher"), rehearsal=True).binding(class_named("goldencove")) == ()
    )
    assert where.type_binding(class_named("goldencove")) == ("taskset", "--cpu-list", "0,1,2,3,4,5,6,7,16")


@pytest.mark.parametrize(
    ("allowed", "words"),
    [({8, 9}, ["goldencove", "node 0", "8,9"]), ({16, 17}, ["goldencove", "node 0", "16,17"])],
)
def test_no_other_type_of_core_and_no_other_node_takes_its_place(tmp_path, monkeypatch, allowed, words):
    """P-cores are 0-7 and 16, node 0 has 0-11: 8 and 9 are E-cores, 16 is on another node."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: allowed)
    place = tmp_path / "sys/bus/event_source/devices/cpu_core"
    place.mkdir(parents=True)
    (place / "type").write_text("4")
    (place / "cpus").write_text("0-7,16")
    for node in (0, 1):
        (tmp_path / f"sys/devices/system/node/node{node}").mkdir(parents=True)
    (tmp_path / "sys/devices/system/node/node0/cpulist").write_text("0-11\n")
    where = MeasurementSite(tmp_path, Path("launcher"), rehearsal=False)
    with pytest.raises(TesseraError) as error:
        where.binding(class_named("goldencove"))
    assert error.value.code == "binding" and "taskset" in error.value.remedy
    assert all(word in f"{error.value.asked}: {error.value.found}" for word in words)


def test_cores_of_one_type_need_no_binding_of_the_type(tmp_path):
    (tmp_path / "sys/bus/event_source/devices/cpu").mkdir(parents=True)
    (tmp_path / "sys/bus/event_source/devices/cpu/type").write_text("4")
    where = MeasurementSite(tmp_path, Path("launcher"), rehearsal=False)
    assert where.type_binding(class_named("broadwell")) == ()


@pytest.mark.parametrize(("text", "numbers"), [("", set()), ("3", {3}), ("0-2,5\n", {0, 1, 2, 5})])
def test_lists_of_processors(text, numbers):
    assert sysfs.listed_numbers(text) == numbers
