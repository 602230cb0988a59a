"""This machine as a platform: layers over the template, recorded answers in place of this machine's."""

from __future__ import annotations

import pytest

from tessera.core import platforms
from tessera.core.platforms import platforms_folder
from tessera.simulate.platform_files import (
    GENERATION_FILE,
    DetectionReport,
    cpuinfo_values,
    generation_of,
    write_detected_platform,
)

CLOCK, LEVELS = "core.frequency_hz", "page_table.levels"
EMERALD_RAPIDS = DetectionReport(
    "GenuineIntel", 6, 207, True, {"cache.l2.bytes": 2 << 20, "cache.l2.ways": 16}
)


def test_cpuid_counts_before_the_generation_and_this_before_the_template(tmp_path):
    out = tmp_path / "folder" / "host-sim.yaml"
    done = write_detected_platform(EMERALD_RAPIDS, out)
    found = platforms.load_platform(out)
    assert (done.from_cpuid, done.generation, done.impossible) == (2, "golden-cove", ())
    assert found.name == "host-sim" and "golden-cove" in found.description
    rob, l2, memory = (
        found.values[k] for k in ("core.rob_entries", "cache.l2.bytes", "memory.cycles_per_line")
    )
    assert rob.value == 512 and not rob.assumed
    assert l2.value == 2 << 20 and "hypervisor" in l2.source
    assert memory.assumed
    assert "core.overlap" in done.defaulted and "core.overlap" not in out.read_text()
    assert found.values["core.overlap"].value == 1


def test_an_unknown_core_keeps_the_template(tmp_path):
    report = DetectionReport("GenuineIntel", 6, 1, False, {"tlb.stlb.entries": 2048, "tlb.stlb.ways": 16})
    done = write_detected_platform(report, tmp_path / "p.yaml")
    found = platforms.load_platform(tmp_path / "p.yaml")
    assert done.generation is None and "assumed" in found.description
    assert found.values["tlb.stlb.entries"].value == 2048
    assert found.values["tlb.stlb.entries"].source == "CPUID of this machine"
    assert found.values["core.rob_entries"].assumed
    assert generation_of(DetectionReport("AuthenticAMD", 6, 207)) is None


def test_impossible_and_unknown_numbers_are_left_out(tmp_path):
    report = DetectionReport(values={"tlb.stlb.entries": 1 << 40, "no.such.key": 1, "cache.l1d.ways": 0})
    done = write_detected_platform(report, tmp_path / "p.yaml")
    assert done.from_cpuid == 0
    assert done.impossible == ("tlb.stlb.entries = 1099511627776", "cache.l1d.ways = 0")
    assert platforms.load_platform(tmp_path / "p.yaml").values["tlb.stlb.entries"].assumed


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cpu MHz\t\t: 2300.000\nflags\t\t: fpu hypervisor la57\n", {CLOCK: 2_300_000_000, LEVELS: 5}),
        ("cpu MHz\t\t: 2894.561\nflags\t\t: fpu hypervisor\n", {CLOCK: 2_894_561_000, LEVELS: 4}),
        ("cpu MHz\t\t: 800.000\nflags\t\t: fpu\n", {LEVELS: 4}),  # bare metal: the moment's clock
        ("Features\t: asimd\n", {}),
    ],
)
def test_what_the_kernel_knows(text, expected):
    assert {k: v.value for k, v in cpuinfo_values(text).items()} == expected


@pytest.mark.parametrize(
    "path", sorted((platforms_folder() / "hosts").glob("*.yaml")), ids=lambda path: path.stem
)
def test_each_generation_makes_a_platform(path, tmp_path):
    tree = GENERATION_FILE.read(path)
    for family, model in tree["models"]:
        done = write_detected_platform(DetectionReport(tree["vendor"], family, model), tmp_path / "p.yaml")
        assert done.generation == path.stem


@pytest.mark.toolchain
def test_this_machine(tmp_path, root):
    from tessera.simulate.platform_files import detect_platform

    if not (root / "build/simulator/tessera-sim").exists():
        pytest.skip("build/simulator/tessera-sim is missing: ./run tessera dev build")
    done = detect_platform(tmp_path / "host-sim.yaml")
    found = platforms.load_platform(tmp_path / "host-sim.yaml")
    assert done.impossible == ()
    assert sum("CPUID" in v.source and not v.assumed for v in found.values.values()) >= done.from_cpuid
