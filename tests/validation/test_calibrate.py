"""Sizes come from steps where CPUID is silent, and what is written says where it comes from."""

from dataclasses import replace

import pandas as pd
import pytest
import yaml

from tessera.core import platforms
from tessera.core.platforms import Value, platforms_folder
from tessera.lab.chase import calibrate, explain
from tessera.lab.chase.latency_steps import STEP_COLUMNS

TEMPLATE = platforms_folder() / "host-template.yaml"


def steps(*rows):
    filled = [
        dict.fromkeys(STEP_COLUMNS, 0.0) | {"source": "measured", "added_cycles": 7.0} | row for row in rows
    ]
    return pd.DataFrame(filled, columns=list(STEP_COLUMNS))


L1 = {"series": "pages", "step": 1, "key": "tlb.l1d.4kb.entries", "entries": 103.0, "low": 96, "high": 112}
STLB = {"series": "pages", "step": 2, "key": "tlb.stlb.entries", "entries": 2085.0, "low": 1950, "high": 2200}
LARGE = {"series": "large-stride", "step": 1, "key": "tlb.l1d.2mb.entries", "entries": 33.0}


@pytest.mark.parametrize(
    "entries, size, ways",
    [
        (64, 64, 8),
        (69, 64, 8),
        (72.5, 72, 9),
        (103, 96, 6),
        (1530, 1536, 6),
        (1700, 1536, 6),
        (1857, 2048, 8),
        (5, 16, 8),
    ],
)
def test_a_step_becomes_the_usual_size_near_it(entries, size, ways):
    found = calibrate.geometry("tlb.stlb.entries", entries)
    assert found == {"tlb.stlb.entries": size, "tlb.stlb.ways": ways}
    sets = size // ways
    assert sets & (sets - 1) == 0


def test_reported_sizes_are_kept():
    platform = platforms.load_platform(TEMPLATE)
    assert calibrate.tlb_geometries(platform, steps(L1, STLB))["tlb.stlb.entries"] == 2048
    reported = platform.values | {"tlb.stlb.entries": Value(1536, "CPUID of this machine")}
    found = calibrate.tlb_geometries(replace(platform, values=reported), steps(L1, STLB))
    assert "tlb.stlb.entries" not in found and found["tlb.l1d.4kb.entries"] == 96


def test_entries_for_2mb_pages_are_not_read_off_splintered_pages():
    platform = platforms.load_platform(TEMPLATE)
    whole = steps(L1, LARGE)  # no step inside 2MB pages: they stay whole
    assert calibrate.tlb_geometries(platform, whole)["tlb.l1d.2mb.entries"] == 32
    split = steps(L1, LARGE, L1 | {"series": "large-pages", "key": ""})
    assert "tlb.l1d.2mb.entries" not in calibrate.tlb_geometries(platform, split)


def test_the_file_names_its_sources_and_keeps_the_rest(tmp_path):
    before = platforms.load_platform(TEMPLATE)
    after = calibrate.corrected(before, {"core.mshrs": 12, "no.such.key": 1}, calibrate.SOURCE)
    after = replace(after, name=calibrate.NAME)
    explain.write_platform(after, TEMPLATE, tmp_path / "host-calibrated.yaml")
    found = platforms.load_platform(tmp_path / "host-calibrated.yaml")
    assert found.name == "host-calibrated"
    assert found.values["core.mshrs"] == Value(12, "measured: calibrated on the chase")
    assert not found.values["core.mshrs"].assumed
    others = {key: value for key, value in found.values.items() if key != "core.mshrs"}
    assert others == {key: value for key, value in before.values.items() if key != "core.mshrs"}
    assert yaml.safe_load(TEMPLATE.read_text())["core"]["mshrs"]["value"] == before.values["core.mshrs"].value


def test_a_last_level_cache_has_whole_sets():
    for ways in (11, 12, 16, 20):
        size = calibrate._nearest(4 << 20, ways)
        assert size % (64 * ways) == 0 and abs(size / (4 << 20) - 1) < 0.01
