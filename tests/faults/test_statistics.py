"""Quantiles, combs and cosines of series whose values are known by construction."""

import math

import numpy as np
import pytest

from tessera.lab.faults.kinds import AROUND, BATCH, TABLE, Teeth
from tessera.lab.faults.latencies import TOOTH_FACTOR, around, clipped, comb, cosine, quantiles, with_constant


def test_a_quantile_is_a_value_of_the_pass():
    """Of 1 to 1000 in any order, the share q is at most 1000 q."""
    values = np.random.default_rng(1).permutation(np.arange(1, 1001))
    found = {one.share: one for one in quantiles([values], (0.01, 0.5, 0.99, 0.999))}
    assert {share: one.median for share, one in found.items()} == {0.01: 10, 0.5: 500, 0.99: 990, 0.999: 999}


def test_a_disturbed_pass_moves_the_range_and_not_the_median():
    clean, disturbed = np.full(100, 7), np.full(100, 900)
    (one,) = quantiles([clean, disturbed, clean], (0.5,))
    assert (one.median, one.low, one.high) == (7, 7, 900)


def series(length, period, first=0, base=100, tooth=300):
    made = np.full(length, base)
    made[first::period] = tooth
    return made


@pytest.mark.parametrize("teeth", [TABLE, AROUND], ids=lambda t: t.reason)
def test_a_fixed_comb_is_found_whole(teeth):
    """4096 touches have 4096 / period multiples; each takes 200 more than the 100 around it."""
    found = comb([series(4096, teeth.period)], teeth)
    assert (found.asked, found.hits, found.extra) == (4096 // teeth.period, 4096 // teeth.period, 200)
    assert found.share == 1 and found.chance == pytest.approx(1 / teeth.period)


def test_a_fixed_comb_at_another_place_is_none():
    found = comb([series(4096, 512, first=1)], TABLE)
    assert (found.asked, found.hits) == (8, 0) and math.isnan(found.extra)


def test_a_shifting_comb_is_found_wherever_it_starts_and_across_a_shift():
    """Ten teeth, a shift by 5, ten teeth: of 19 distances, 18 are the period."""
    one = series(31 * 10, 31, first=3)
    found = comb([np.concatenate([one, np.full(5, 100), one])], BATCH)
    assert (found.asked, found.hits, found.extra) == (19, 18, 200)


def test_random_teeth_have_the_share_of_chance():
    rng = np.random.default_rng(5)
    made = np.where(rng.random(200_000) < 1 / 31, 300, 100)
    found = comb([made], BATCH)
    # A gap of exactly 31 in independent places of density d: d (1 - d)^30.
    assert found.chance == pytest.approx(1 / 31 * (1 - 1 / 31) ** 30, rel=0.05)
    assert found.share == pytest.approx(found.chance, rel=0.2)


def test_the_border_of_a_tooth():
    """A tooth takes more than FACTOR times the median around it."""
    exactly, above = (
        series(512, 512, tooth=int(100 * TOOTH_FACTOR)),
        series(512, 512, tooth=int(100 * TOOTH_FACTOR) + 1),
    )
    assert comb([exactly], TABLE).hits == 0 and comb([above], TABLE).hits == 1


def test_the_median_around_follows_a_drift():
    """Of a line, the median of a window is its middle. At the start it is that of 0 and twice 1 to 15: 8."""
    line = np.arange(200)
    assert np.array_equal(around(line)[15:-15], line[15:-15]) and around(line)[0] == 8


def test_a_series_without_teeth_asks_nothing():
    found = comb([np.full(100, 5)], Teeth(31, "x", False))
    assert (found.asked, found.hits, found.chance) == (0, 0, 0) and math.isnan(found.share)


def test_cosines_by_hand():
    """(3, 4) and (4, 3): 24 / 25. A constant and (1, 7): 8 / (sqrt 2 sqrt 50) = 0.8."""
    assert cosine(np.array([3, 4]), np.array([4, 3])) == pytest.approx(0.96)
    assert with_constant(np.array([1, 7])) == pytest.approx(0.8)
    assert math.isnan(cosine(np.zeros(2), np.ones(2)))


def test_one_interruption_hides_everything_from_the_cosine():
    """10,000 equal values and one of 10^6 times as much: cosine 0.01 with a constant; clipped it is 1."""
    made = np.ones(10_001)
    made[77] = 1e6
    assert with_constant(made) == pytest.approx((1e4 + 1e6) / math.sqrt(10_001) / math.sqrt(1e4 + 1e12))
    assert with_constant(made) < 0.011 and with_constant(clipped(made)) == pytest.approx(1)
