"""Machine, placements, queue and the closed form: values by hand, and properties of the formula."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tessera.core.errors import TesseraError
from tessera.lab.numa.placement_costs import (
    HOG_SWEEP,
    LOCAL,
    LoadCosts,
    greatest_ratio,
    hog_lines,
    placed_walk_cycles,
    placement_named,
    placements,
    published_machine,
    wait_cycles,
)

COUNTS = st.integers(0, 2**40)
LATENCY = st.integers(1, 2000)
PLACES = placements()
NAMES = st.sampled_from(sorted(PLACES))


def test_the_published_machine():
    found = published_machine()
    assert (found.sockets, found.cores_per_socket, found.frequency_hz) == (4, 14, 2.2e9)
    assert (found.local_load_cycles, found.remote_load_cycles) == (280, 580)
    assert (found.local_cycles_per_line, found.remote_cycles_per_line) == (5, 13)  # 5.03 and 12.8
    assert found.first_touch_load_cycles == 505  # (280 + 3 x 580) / 4


def test_the_platform_is_this_machine():
    from tessera.core import platforms
    from tessera.lab.numa.placement_costs import PLATFORM

    values = platforms.load_platform(PLATFORM).values
    assert values["memory.load_cycles"].value == published_machine().local_load_cycles
    assert values["memory.cycles_per_line"].value == published_machine().local_cycles_per_line
    assert values["core.frequency_hz"].value == published_machine().frequency_hz


def test_the_hog_is_a_queue():
    assert hog_lines(published_machine()) == 140
    assert [round(wait_cycles(factor * 140, 5)) for factor in sorted(HOG_SWEEP)] == [350, 700, 933, 1400]
    assert wait_cycles(0, 5) == 0


@pytest.mark.parametrize(("lines", "rate"), [(-1, 5), (140, 0), (140, -1), (float("nan"), 5)])
def test_an_impossible_queue(lines, rate):
    with pytest.raises(TesseraError) as caught:
        wait_cycles(lines, rate)
    assert caught.value.code == "numa-queue"


#: Table 2 by hand: (tables, data, hog) and the cycles of one dependent walker load and one data load
CHAINS = {
    "LP-LD": ("A", "A", None, 560), "LP-RD": ("A", "B", None, 860), "RP-LD": ("B", "A", None, 860),
    "RP-RD": ("B", "B", None, 1160), "RPI-LD": ("B", "A", "B", 1560), "LP-RDI": ("A", "B", "B", 1560),
    "RPI-RDI": ("B", "B", "B", 2560), "RPI-LD+M": ("A", "A", "B", 560), "RP-RD+M": ("A", "B", None, 860),
}  # fmt: skip


@pytest.mark.parametrize("name", CHAINS)
def test_a_chain_of_one_walker_load_and_one_data_load(name):
    where, costs = placement_named(name), LoadCosts(280, 580, 700)
    tables, data, hog, cycles = CHAINS[name]
    assert (where.name, where.program, where.tables, where.data, where.hog) == (name, "A", tables, data, hog)
    assert costs.walker_load_cycles(where) + costs.data_load_cycles(where) == cycles


def test_table_2_has_these_configurations_only():
    assert set(placements()) == {name for name in CHAINS if "+" not in name}
    with pytest.raises(TesseraError) as caught:
        placement_named("LP-XD")
    assert "RPI-RDI" in caught.value.remedy
    with pytest.raises(TesseraError) as caught:
        placement_named("TRPI-LD+M")
    assert caught.value.code == "numa-2mb" and "--mitosis RPI-LD+M --layout 2mb" in caught.value.remedy


@pytest.mark.parametrize(("local", "remote", "wait"), [(0, 580, 0), (280, 279, 0), (280, 580, -1)])
def test_impossible_costs(local, remote, wait):
    with pytest.raises(TesseraError) as caught:
        LoadCosts(local, remote, wait)
    assert caught.value.code == "numa-costs"


def test_the_formula_by_hand():
    costs = LoadCosts(280, 580, 700)
    assert placed_walk_cycles(10_000, 20, placement_named("RP-LD"), costs) == 16_000
    assert placed_walk_cycles(10_000, 20, placement_named("RPI-RDI"), costs) == 30_000
    assert placed_walk_cycles(10_000, 20, placement_named("LP-RDI"), costs) == 10_000
    assert greatest_ratio(placement_named("RP-LD"), costs) == pytest.approx(2.0714, abs=1e-4)


@given(NAMES, COUNTS, COUNTS, LATENCY)
def test_one_latency_changes_nothing(name, cycles, loads, latency):
    assert placed_walk_cycles(cycles, loads, PLACES[name], LoadCosts(latency, latency)) == cycles


@given(NAMES, COUNTS, COUNTS, COUNTS, LATENCY, LATENCY, LATENCY)
def test_it_is_linear_in_loads(name, cycles, one, other, local, more, wait):
    where, costs = PLACES[name], LoadCosts(local, local + more, wait)
    both = placed_walk_cycles(cycles, one + other, where, costs)
    assert both - cycles == sum(placed_walk_cycles(0, n, where, costs) for n in (one, other))


@given(NAMES, COUNTS, COUNTS, LATENCY, LATENCY, LATENCY)
def test_ratios_stay_within_the_bound(name, loads, rest, local, more, wait):
    where, costs = PLACES[name], LoadCosts(local, local + more, wait)
    cycles = loads * local + rest  # every load from memory takes at least this long
    assert (
        cycles
        <= placed_walk_cycles(cycles, loads, where, costs)
        <= cycles * greatest_ratio(where, costs) * (1 + 1e-12)
    )


@given(COUNTS, st.integers(1, 2**40), LATENCY, LATENCY, LATENCY)
def test_local_is_best_and_interference_worst(cycles, loads, local, more, wait):
    costs = LoadCosts(local, local + more, wait)
    found = {name: placed_walk_cycles(cycles, loads, where, costs) for name, where in PLACES.items()}
    assert min(found.values()) == found[LOCAL] == found["LP-RD"] == found["LP-RDI"]
    assert found[LOCAL] < found["RP-LD"] == found["RP-RD"] < found["RPI-LD"] == found["RPI-RDI"]
    assert placed_walk_cycles(cycles, loads, PLACES["RPI-LD"].migrated(), costs) == found[LOCAL]
