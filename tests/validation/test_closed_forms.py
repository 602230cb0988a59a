"""Formulas against small sums done by hand, and a judgement that can say no."""

import numpy as np
import pytest

from tessera.core import platforms
from tessera.lab.validation import closed_forms

HASWELL = closed_forms.plain(
    platforms.load_platform("haswell-sim")
)  # 64 x 4 L1, 1024 x 8 STLB with 2MB, loads 4/12/36/200, STLB hit 7


def made(function):
    return {case.name: case for case in function(HASWELL)}


def test_expected_values_on_haswell():
    cycles = made(closed_forms.cyclic)
    assert cycles["cycle that fits the STLB"].expected == {"stlb_misses": (1024, 0), "stlb_hits": (19456, 0)}
    assert cycles["cycle of twice the STLB"].expected == {"stlb_misses": (40960, 0), "stlb_hits": (0, 0)}
    assert made(closed_forms.one_set)["w + 1 pages of one L1 set"].expected["stlb_hits"] == (95, 0)
    assert made(closed_forms.cyclic_2mb)["cycle of 2MB pages beyond L1"].expected["stlb_hits"] == (64 * 19, 0)
    assert made(closed_forms.cold_walks)["512 cold walks in order"].expected["walk_cycles"] == (
        67 * 200 + 448 * 4,
        0,
    )
    assert made(closed_forms.runtime)["chase of STLB hits"].expected["runtime_cycles"][0] == 40_000 * 11
    (independent, _) = made(closed_forms.runtime)["independent additions"].expected["runtime_cycles"]
    assert independent == 10_000 + 5 * 200 + 7 - 192 / 4  # 4 in a cycle, 192 in the reorder buffer


def test_three_ports_that_compute_are_slower_than_four_instructions_in_a_cycle():
    """SandyBridge: ports 0, 1 and 5; a load takes 170 cycles, an STLB look-up 7, the buffer holds 168."""
    platform = closed_forms.plain(platforms.load_platform("sandybridge-sim"))
    case = {case.name: case for case in closed_forms.runtime(platform)}["independent additions"]
    assert case.expected["runtime_cycles"][0] == pytest.approx(40_000 / 3 + 5 * 170 + 7 - 168 / 3)


def test_one_set_is_one_set():
    pages = (made(closed_forms.one_set)["w + 1 pages of one L1 set"].stream.load // 4096).astype(int)
    assert len(set(pages % 16)) == 1 and len(set(pages)) == 5


def test_uniform_misses_are_binomial_in_an_lru_of_our_own():
    """A fully associative LRU in ten lines agrees with the formula that the case states."""
    case = made(closed_forms.uniform)["uniform, STLB"]
    (expected, tolerance) = case.expected["stlb_misses"]
    pages = (case.stream.load // 4096).astype(np.int64).tolist()
    held: dict[int, None] = {}
    misses = 0
    for page in pages:
        if page in held:
            del held[page]
        else:
            misses += 1
            if len(held) == 1024:
                del held[next(iter(held))]
        held[page] = None
    assert abs(misses - expected) <= tolerance
    assert tolerance < 0.02 * expected


@pytest.mark.parametrize("obtained, holds", [("1024", True), ("1023", False), ("1025", False)])
def test_exact_means_exact(obtained, holds):
    case = made(closed_forms.cyclic)["cycle that fits the STLB"]
    rows = closed_forms.judged_case(case, {"stlb_misses": obtained, "stlb_hits": "19456"})
    assert [row["holds"] for row in rows] == [holds, True]


def test_nothing_obtained_does_not_hold():
    case = made(closed_forms.cyclic)["cycle that fits the STLB"]
    assert not any(row["holds"] for row in closed_forms.judged_case(case, {}, "the engine died"))


def test_formulas_say_where_they_do_not_apply():
    from tessera.lab.validation.engine_cases import bent

    assert closed_forms.applies(HASWELL)
    assert not closed_forms.applies(bent(HASWELL, "five", {"page_table.levels": 5}))


def test_what_formulas_leave_out_is_switched_off():
    values = {key: value.value for key, value in HASWELL.values.items()}
    assert values["prefetch.l1d.kind"] == values["prefetch.l2.kind"] == "none"
    assert values["dram.channels"] == values["tlb.l1i.entries"] == 0
    assert values["tlb.stlb.entries"] == 1024  # the rest is the platform's
