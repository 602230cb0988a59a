"""The scaled machine: sizes by hand, what stays, and scales that are refused."""

from __future__ import annotations

import pytest

from tessera.core import platforms
from tessera.core.errors import TesseraError
from tessera.lab.numa.placement_costs import PLATFORM
from tessera.lab.numa.program_study import scaled, smaller_array


@pytest.mark.parametrize(
    ("array", "scale", "found"),
    [
        # entries, ways -> fewer sets first, then fewer ways, never none
        ((1024, 8), 14, (72, 8)),  # 73 wanted: nine sets
        ((1024, 8), 16, (64, 8)),
        ((32, 4), 14, (2, 2)),
        ((32, 4), 4, (8, 4)),
        ((4, 4), 14, (1, 1)),
        ((2, 2), 1000, (1, 1)),
        ((12, 3), 1, (12, 3)),
    ],
)
def test_an_array_keeps_its_ways_while_it_has_a_set(array, scale, found):
    assert smaller_array(*array, scale) == found


def test_a_fourteenth_is_one_slice_of_2_5_mb():
    whole = platforms.load_platform(PLATFORM)
    part = scaled(whole, 14)
    changed = {
        key: value.value for key, value in part.values.items() if value.value != whole.values[key].value
    }
    assert changed == {
        "cache.l3.bytes": 5 << 19, "cache.l3.slices": 1, "tlb.stlb.entries": 72, "pwc.pde.entries": 2,
        "pwc.pde.ways": 2, "pwc.pdpte.entries": 1, "pwc.pdpte.ways": 1, "pwc.pml4e.entries": 1,
        "pwc.pml4e.ways": 1,
    }  # fmt: skip
    assert part.name == "haswell-4s-sim-by-14"
    assert all(part.values[key].assumed and PLATFORM in part.values[key].source for key in changed)


def test_scale_1_is_the_platform_itself():
    whole = platforms.load_platform(PLATFORM)
    assert scaled(whole, 1) is whole


@pytest.mark.parametrize(
    ("scale", "code", "value"),
    # 35 MB / 35 is 1 MB, four times L2, but only in whole sets of 1280 bytes: 34 is the last scale
    [(0.5, "numa-scale", "0.5"), (float("nan"), "numa-scale", "nan"), (35, "numa-scale-l3", "1048576")],
)
def test_scales_that_make_no_machine_are_refused(scale, code, value):
    assert int(scaled(platforms.load_platform(PLATFORM), 34).values["cache.l3.bytes"].value) >= 1 << 20
    with pytest.raises(TesseraError) as caught:
        scaled(platforms.load_platform(PLATFORM), scale)
    assert caught.value.code == code and value in str(caught.value)
