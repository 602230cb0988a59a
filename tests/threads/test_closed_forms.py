"""E1 to E7 against values by hand and limits, and the closed forms over 500 random sets of parameters."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tessera.lab.energy import guz_model
from tessera.lab.energy.sourced_values import Leaf

SETS = 500
N = np.unique(np.geomspace(1, 4096, 120).round())


def made(shared=False, **values):
    """A machine by hand: 4 cores of 1 Hz, 64 bytes of cache, w 16, a 2, c 2, m 0.5, t_c 2, t_m 10."""
    numbers = {
        "cores": 4, "threads": 8, "frequency_hz": 1.0, "cache_bytes": 64, "cache_cycles": 2,
        "memory_cycles": 10, "bytes_per_miss": 8, "bandwidth_bytes_per_s": 1e9, "static_w": 3.0,
        "instruction_j": 1.0, "cache_j": 2.0, "memory_j": 8.0, "cycles_per_instruction": 2,
        "memory_per_instruction": 0.5, "locality_exponent": 2.0, "locality_bytes": 16,
    } | values  # fmt: skip
    return guz_model.ModelledMachine("made", "", {k: Leaf(v, "test") for k, v in numbers.items()}, shared)


def test_by_hand():
    """n = 2: S/(n w) = 2, 1-P = 1/3, T = 2 + 8/3, 1 + m T/c = 13/6, u = 12/52, IPS = 4 * 1/2 * u."""
    machine = made()
    assert guz_model.miss_rate(machine, 2) == pytest.approx(1 / 3)
    assert guz_model.access_cycles(machine, 2) == pytest.approx(14 / 3)
    assert guz_model.utilization(machine, 2) == pytest.approx(2 / (4 * 13 / 6))
    assert guz_model.ips(machine, 2) == pytest.approx(6 / 13)
    assert guz_model.joules_per_instruction(machine, 2) == pytest.approx(1 + 0.5 * (2 + 8 / 3))
    assert guz_model.power_w(machine, 2) == pytest.approx(3 + 6 / 13 * 10 / 3)
    assert guz_model.ipj(machine, 2) == pytest.approx((6 / 13) / (3 + 20 / 13))


def test_the_bandwidth_limits():
    """E5: 0.2 / (0.5 * 8 / 3) = 0.15 instructions per second."""
    assert guz_model.ips(made(bandwidth_bytes_per_s=0.2), 2) == pytest.approx(0.15)
    assert guz_model.ips(made(bandwidth_bytes_per_s=0.2), 2, bandwidth=False) == pytest.approx(6 / 13)
    assert guz_model.bandwidth_ips(made(memory_per_instruction=0), 2) == math.inf


def test_limits():
    assert guz_model.miss_rate(made(locality_bytes=1e-12), 1) == pytest.approx(0, abs=1e-12)
    assert guz_model.miss_rate(made(locality_bytes=1e15), 1) == pytest.approx(1, abs=1e-12)
    assert guz_model.miss_rate(made(), 1e12) == pytest.approx(1, abs=1e-9)
    assert guz_model.utilization(made(), 1e6) == 1
    assert guz_model.ips(made(), 1e6) == pytest.approx(4 * 1 / 2)


def test_shared_data_have_the_miss_rate_of_one_thread():
    assert set(guz_model.miss_rate(made(shared=True), N)) == {float(guz_model.miss_rate(made(), 1))}
    assert guz_model.ips(made(shared=True, cores=10**6), 64) == pytest.approx(
        64 * guz_model.ips(made(cores=10**6), 1)
    )


def drawn(seed, **fixed):
    return guz_model.random_machines(SETS, seed, **fixed)


def test_form_1_elasticity_is_the_static_share():
    assert max(guz_model.elasticity_error(one, one.threads / 3) for one in drawn(11)) < 1e-6


def test_form_1_the_same_rate_only_without_dynamic_energy():
    """IPJ(n)/IPJ(1) = IPS(n)/IPS(1) iff J = 0."""
    free = {"instruction_j": 0.0, "cache_j": 0.0, "memory_j": 0.0}
    for one in drawn(12):
        n = float(one.threads)
        for machine, same in ((one, False), (one.changed("test", **free), True)):
            efficiency = guz_model.ipj(machine, n) / guz_model.ipj(machine, 1.0)
            rate = guz_model.ips(machine, n) / guz_model.ips(machine, 1.0)
            assert (abs(efficiency / rate - 1) < 1e-12) == same


def test_form_2_no_valley_without_bandwidth_if_a_is_at_most_2():
    assert max(guz_model.deepest_fall(one, N) for one in drawn(13, locality_exponent=(1.01, 2.0))) == 0
    assert max(guz_model.deepest_fall(one, N) for one in drawn(13, locality_exponent=(3.0, 8.0))) > 0.3
    limited = drawn(13, locality_exponent=(1.5, 2.0), bandwidth_bytes_per_s=(1e8, 1e9))
    assert max(guz_model.deepest_fall(one, N, bandwidth=True) for one in limited) > 0.01


def test_form_3_24_threads_on_30_mb_are_3_2_on_4_mb():
    assert guz_model.equivalent_threads(24, 30, 4) == pytest.approx(3.2)
    for one in drawn(14):
        large = one.changed("test", cache_bytes=30.0 * 2**20)
        small = one.changed("test", cache_bytes=4.0 * 2**20)
        assert guz_model.miss_rate(large, 24.0) == pytest.approx(
            float(guz_model.miss_rate(small, 3.2)), rel=1e-12
        )


def test_form_4_a_larger_cache_moves_the_valley_and_keeps_its_depth():
    guz_machine = guz_model.load_machine("guz-4mb")
    n = np.arange(1, 2001) / 7.5
    small = guz_model.deepest_fall(guz_machine, n)
    large = guz_model.deepest_fall(guz_model.scaled_cache(guz_machine, 7.5), np.arange(1, 2001))
    assert small == pytest.approx(large, abs=1e-12) and 0.3 < small < 0.6


def test_form_4_in_a_fixed_range_the_valley_shrinks():
    guz_machine = guz_model.load_machine("guz-4mb")
    n = np.arange(1, 201)
    small, large = (guz_model.deepest_fall(guz_model.scaled_cache(guz_machine, k), n) for k in (1, 7.5))
    assert large < 0.05 < small


def test_form_5_misses_rise_without_sharing():
    assert min(guz_model.smallest_rise_of_misses(one, N) for one in drawn(15)) > 0


def test_form_6_never_faster_than_linear_without_sharing():
    assert max(guz_model.most_speedup_per_thread(one, N) for one in drawn(16)) <= 1 + 1e-12


def test_the_curve_has_the_columns_of_the_table():
    table = guz_model.threads_curve(guz_model.load_machine("opera-e7-4830v3"), [1, 24], "some")
    assert tuple(table.columns) == guz_model.THREADS_COLUMNS and set(table["provenance"]) == {"assumed"}
    assert (table["ipj"] * table["power_w"]).to_list() == pytest.approx(table["ips"].to_list())
