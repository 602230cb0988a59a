"""Latencies come back from chases that were made of them."""

import numpy as np
import pandas as pd
import pytest

from tessera.core.platforms import Platform, Value
from tessera.lab.chase import calibrate, findings, simulated

TRUE = {
    "tlb.stlb.hit_cycles": 7, "cache.l1d.load_cycles": 5, "cache.l2.load_cycles": 16,
    "cache.l3.load_cycles": 70, "memory.load_cycles": 400, "walker.load_adds_cycles": 11,
}  # fmt: skip


def chases(noise=0.0, begin=0.0):
    """Counts of 40 chases that go deeper and deeper, and what they take under TRUE."""
    random = np.random.default_rng(1)
    rows = []
    for i in range(40):
        loads = random.dirichlet([8 / (1 + i / 8), 3, 1 + i / 20, 0.2 + i / 20]) * 2
        lookups = 0.0 if i < 10 else 1.0
        walker = 0.0 if i < 20 else random.uniform(0.5, 1.5)
        begins = begin if walker else 0.0  # one walk an access
        cycles = lookups * 7 + walker * 11 + loads @ [5, 16, 70, 400] + begins
        cycles *= 1 + noise * random.exponential()
        rows.append(["pages", i, 1, cycles, 0.0, *loads, walker, begins, lookups])
    table = pd.DataFrame(rows, columns=list(simulated.COLUMNS))
    return table.assign(measured_cycles=table["cycles"])


def test_exact_chases_give_exact_latencies():
    found = calibrate.fit_latencies(chases())
    assert found.cycles == pytest.approx(TRUE, rel=1e-3)
    assert found.error < 1e-3


def test_what_walks_take_to_begin_is_in_no_latency():
    assert calibrate.fit_latencies(chases(begin=25.0)).cycles == pytest.approx(TRUE, rel=1e-3)


@pytest.mark.parametrize("factor", [2, 0.5])
def test_a_few_spoilt_chases_change_little(factor):
    table = chases()
    table.loc[[5, 15, 25], "measured_cycles"] *= factor
    assert calibrate.fit_latencies(table).cycles == pytest.approx(TRUE, rel=0.1, abs=1)


def test_a_footprint_between_two_levels_does_not_make_memory_fast():
    """Three footprints that memory serves take 520 to 670 cycles; one that half fits L3 takes 180."""
    table = chases()
    table["measured_cycles"] -= 400 * table["dram_loads"]
    table["dram_loads"] = 0.0
    deep = table.index[-4:]
    table.loc[deep, table.columns[5:]] = 0.0
    table.loc[deep, "dram_loads"] = 1.0
    table.loc[deep, "measured_cycles"] = [180.0, 520.0, 610.0, 670.0]
    assert calibrate.fit_latencies(table).cycles["memory.load_cycles"] > 500


def test_no_level_is_faster_than_the_one_above_it():
    table = chases()
    table["measured_cycles"] = 30.0  # every chase the same, however deep it goes
    found = calibrate.fit_latencies(table).cycles
    cycles = [found[key] for key in simulated.LATENCY_KEYS]
    assert cycles == sorted(cycles)


def test_per_access_splits_a_row_into_loads_and_lookups():
    """1000 accesses: 600 served by L1D, 300 L2, 100 memory; 50 walker loads by L1D, each 11 cycles
    more, in 40 walks that take 25 cycles to begin; each access looks up."""
    platform = Platform("p", "", "", {key: Value(value, "assumed") for key, value in TRUE.items()})
    cycles = 600 * 5 + 300 * 16 + 100 * 400 + 50 * (5 + 11) + 40 * 25 + 1000 * 7
    row = {
        "accesses": 1000, "runtime_cycles": cycles, "walk_cycles": 1800,
        "program_l1d_loads": 1000, "program_l2_loads": 400, "program_l3_loads": 100,
        "program_dram_loads": 100, "walker_l1d_loads": 50, "walker_l2_loads": 0, "walker_l3_loads": 0,
        "walker_dram_loads": 0,
    }  # fmt: skip
    found = simulated.per_access({key: str(value) for key, value in row.items()}, platform)
    assert found["stlb_lookups"] == pytest.approx(1)
    assert found["walker_loads"] == pytest.approx(0.05)
    assert found["walk_begin_cycles"] == pytest.approx(1)
    served = [found[f"{level}_loads"] for level in simulated.LEVELS]
    assert served == pytest.approx([0.65, 0.3, 0, 0.1])


def chains(series, elements, cycles):
    return [
        {"series": series, "elements": elements, "chains": n, "low_cycles": value}
        for n, value in cycles.items()
    ]


def test_overlap_is_latency_over_time_per_access():
    rows = chains("line-chains", 100, {1: 400, 4: 100, 12: 40, 16: 40})
    rows += chains("page-chains", 1000, {1: 180, 8: 30, 12: 25, 24: 25})
    rows += chains("lines", 100, {1: 80}) + chains("lines", 10_000, {1: 80})
    table = pd.DataFrame(rows)
    assert findings.misses_at_once(table) == pytest.approx(10)
    assert findings.walks_at_once(table) == pytest.approx((180 - 80) / 25)


def test_walks_are_not_read_where_more_chains_still_help():
    rows = chains("line-chains", 100, {1: 400, 12: 40, 24: 40}) + chains("lines", 100, {1: 80})
    rows += chains("lines", 10_000, {1: 80}) + chains("page-chains", 1000, {1: 180, 12: 25, 24: 13})
    assert findings.walks_at_once(pd.DataFrame(rows)) is None


def test_walks_are_not_read_where_data_are_the_limit():
    rows = chains("line-chains", 100, {1: 400, 12: 40}) + chains("lines", 100, {1: 300})
    rows += chains("lines", 10_000, {1: 300}) + chains("page-chains", 1000, {1: 350, 12: 31})
    assert findings.walks_at_once(pd.DataFrame(rows)) is None


def test_a_limit_that_was_not_reached_is_read_at_the_most_chains():
    """From 12 to 24 chains an access takes half the time; walks are at their limit all the same."""
    rows = chains("line-chains", 100, {1: 56, 12: 5.3, 16: 4.1, 24: 2.8})
    rows += chains("page-chains", 1000, {1: 156, 12: 16, 16: 16, 24: 16})
    rows += chains("lines", 100, {1: 50}) + chains("lines", 10_000, {1: 50})
    table = pd.DataFrame(rows)
    assert findings.misses_at_once(table) == pytest.approx(56 / 2.8)
    assert findings.walks_at_once(table) == pytest.approx((156 - 50) / 16)


def test_an_implausible_reading_is_none():
    assert findings.misses_at_once(pd.DataFrame(chains("line-chains", 100, {1: 9000, 12: 40}))) is None
