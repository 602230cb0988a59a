"""What the sweep varies: every assumed value, within bounds, in whole sets; and what it can not, with why."""

import pytest

from tessera.core import platforms
from tessera.core.platforms import PlatformKey, all_keys
from tessera.lab.studies.variations import SWITCHES, points

from .builders import platform

ASSUMED, CITED = "assumed: for a test", "a document"


def key(name: str, unit: str = "cycles", least: int = 0, most: int = 1000) -> PlatformKey:
    return PlatformKey(name, unit, least, most, None, "", "")


def made(keys: list[PlatformKey], **values):
    found, reasons = points(platform(**values), {k.key: k for k in keys})
    return {point.name: point.changes for point in found}, reasons


def test_a_number_is_halved_and_doubled():
    found, reasons = made([key("memory.load_cycles")], memory__load_cycles=(171, ASSUMED))
    assert found == {
        "memory.load_cycles x0.5": {"memory.load_cycles": 86},
        "memory.load_cycles x2": {"memory.load_cycles": 342},
    }
    assert reasons == {}


def test_what_is_cited_is_left_alone():
    assert made([key("memory.load_cycles")], memory__load_cycles=(170, CITED)) == ({}, {})


def test_a_switch_is_flipped():
    found, _ = made([key("walker.uses_mshrs", "0 or 1", 0, 1)], walker__uses_mshrs=(1, ASSUMED))
    assert found == {"walker.uses_mshrs 0": {"walker.uses_mshrs": 0}}


def test_a_policy_becomes_each_of_the_others():
    found, _ = made([key("tlb.stlb.replacement", "name")], tlb__stlb__replacement=("srrip", ASSUMED))
    assert set(found) == {"tlb.stlb.replacement lru", "tlb.stlb.replacement tree-plru"}


def test_a_branch_predictor_becomes_each_of_the_others():
    found, _ = made([key("branch.predictor", "name")], branch__predictor=("tage", ASSUMED))
    assert set(found) == {"branch.predictor perfect", "branch.predictor gshare"}


def test_sets_stay_whole():
    keys = [key("pwc.pde.entries", "entries"), key("pwc.pde.ways", "ways", 0, 64)]
    found, _ = made(keys, pwc__pde__entries=(32, ASSUMED), pwc__pde__ways=(4, ASSUMED))
    assert found["pwc.pde.entries x0.5"] == {"pwc.pde.entries": 16}
    assert found["pwc.pde.ways x2"] == {"pwc.pde.ways": 8}
    found, reasons = made(keys, pwc__pde__entries=(12, CITED), pwc__pde__ways=(4, ASSUMED))
    assert set(found) == {"pwc.pde.ways x0.5"}  # 12 entries make no 8-way sets


def test_a_fully_associative_structure_stays_so():
    keys = [key("pwc.pdpte.entries", "entries"), key("pwc.pdpte.ways", "ways", 0, 64)]
    found, _ = made(keys, pwc__pdpte__entries=(4, ASSUMED), pwc__pdpte__ways=(4, CITED))
    assert found["pwc.pdpte.entries x2"] == {"pwc.pdpte.entries": 8, "pwc.pdpte.ways": 8}


def test_a_cache_keeps_whole_sets_and_bounds():
    keys = [key("cache.l3.ways", "ways", 1, 32)]
    found, _ = made(keys, cache__l3__ways=(20, ASSUMED), cache__l3__bytes=(15 << 20, CITED))
    assert found == {"cache.l3.ways x0.5": {"cache.l3.ways": 10}}  # 40 ways are out of bounds


def test_what_cannot_be_varied_says_why():
    keys = [key("pwc.pml5e.entries"), key("pwc.kind", "name"), key("core.mshrs", "lines", 1, 1)]
    values = {
        "pwc__pml5e__entries": (0, ASSUMED),
        "pwc__kind": ("other", ASSUMED),
        "core__mshrs": (1, ASSUMED),
    }
    found, reasons = made(keys, **values)
    assert found == {}
    assert reasons["pwc.pml5e.entries"].endswith(" off")
    assert reasons["pwc.kind"] == "no alternative is known"
    assert reasons["core.mshrs"].startswith("1 x0.5") and "1 to 1" in reasons["core.mshrs"]


@pytest.mark.parametrize("name", platforms.platform_names())
def test_every_assumed_value_of_the_committed_platforms_is_varied_or_explained(name):
    found, reasons = points(platforms.load_platform(name), all_keys())
    touched = {point.key for point in found}
    for dotted, value in platforms.load_platform(name).values.items():
        in_switch = any(dotted.startswith(s.prefix) and s.prefix.rstrip(".") in touched for s in SWITCHES)
        assert not value.assumed or dotted in touched or dotted in reasons or in_switch, dotted
    assert len({point.name for point in found}) == len(found)


def test_switching_off_and_on_again_is_the_same_platform():
    real = platforms.load_platform("sandybridge-sim")
    for switch in SWITCHES:
        assert set(switch.off) == set(switch.on) <= set(real.values)
        assert real.values[switch.indicator].value not in (0, "none")


def test_only_narrows_the_sweep():
    found, _ = points(platforms.load_platform("sandybridge-sim"), all_keys(), ["memory.load_cycles"])
    assert {point.key for point in found} == {"memory.load_cycles"}
