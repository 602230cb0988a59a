"""The platform files and the simulator's keys, and the structs that C++ tests use in their place."""

from __future__ import annotations

import csv
import re

import pytest

from tessera import platforms

PAPER = ("sandybridge-sim", "haswell-sim", "broadwell-sim")


def declared_keys(root):
    """Keys of the table in platform_keys.cpp."""
    text = (root / "artifacts/simulator/src/base/platform_keys.cpp").read_text()
    return set(re.findall(r'KEY\("([^"]+)"', text))


@pytest.mark.parametrize("name", [*PAPER, "host-template"])
def test_platform_files_have_exactly_the_keys(root, name):
    found = platforms.load(root / "config/platforms" / f"{name}.yaml")
    assert set(found.values) == declared_keys(root)


@pytest.mark.parametrize("name", PAPER)
def test_values_of_the_papers_tables_are_cited(name):
    found = platforms.load(name).values
    for key in ("tlb.l1d.4kb.entries", "tlb.stlb.entries", "tlb.stlb_1gb.entries", "walker.count"):
        assert "Table 4" in found[key].source or "no second-level" in found[key].source
    assert "Table 3" in found["cache.l3.bytes"].source


def test_cache_sets_nest(root):
    """The paper platforms' hierarchy is inclusive by construction (README, Caches)."""
    for name in PAPER:
        value = {k: v.value for k, v in platforms.load(name).values.items()}
        sets = [value[f"cache.{c}.bytes"] // 64 // value[f"cache.{c}.ways"] for c in ("l1d", "l2", "l3")]
        assert sets[1] % sets[0] == 0 and sets[2] % sets[1] == 0
        assert value["cache.l1d.ways"] <= value["cache.l2.ways"] <= value["cache.l3.ways"]


@pytest.mark.toolchain
def test_simulator_accepts_the_platform_files(root, tmp_path):
    from tessera.container import toolchain

    simulator = root / "build/simulator/tessera-sim"
    if not simulator.exists():
        pytest.skip("build/simulator/tessera-sim is missing: ./run tessera build")
    listing = toolchain().run([simulator, "keys"], capture=True).stdout
    text = listing.decode() if isinstance(listing, bytes) else listing
    assert {row["key"] for row in csv.DictReader(text.splitlines())} == declared_keys(root)
