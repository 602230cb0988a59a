"""Prediction intervals: by hand, by definition, and how often they cover on samples from a known law."""

import math
import re

import numpy as np
import pytest

from tessera.core.errors import TesseraError
from tessera.fit.evaluation.intervals import unseen_errors
from tessera.fit.models.registry import EVERY, create

from .builders import make_samples, noisy, random_inputs


def line(n, seed, noise=1e8):
    """R = 1e10 + 0.5 C + noise; H and M do not matter."""
    rng = np.random.default_rng(seed)
    C = 4e9 * rng.random(n)
    return make_samples(1e10 + 0.5 * C + noise * rng.standard_normal(n), 0 * C, 0 * C, C)


def test_split_conformal_by_hand():
    """Alam is C + 1000 from the 2MB run; the errors on the 19 other layouts are 1..19: 95% is the 19th."""
    C = np.array([500.0, *range(1, 8), 0.0, *range(8, 20)])
    R = C + 1000
    others = [i for i in range(21) if i not in (0, 8)]
    R[others] += np.where(np.arange(19) % 2, 1, -1) * np.arange(1, 20)
    s = make_samples(R, 0 * C, 0 * C, C)
    model = create("alam").fit(s)
    calibration = unseen_errors(model, s)
    assert calibration.method == "split conformal"
    assert sorted(calibration.residuals) == list(range(1, 20))
    interval = calibration.interval(0, 0, 100, model.predict(0, 0, 100), 0.95)
    assert (interval.low[0], interval.high[0]) == (1100 - 19, 1100 + 19)
    assert calibration.interval(0, 0, 100, 1100.0, 0.5).high[0] == 1100 + 10


def test_jackknife_plus_by_its_definition():
    s = line(30, 3)
    model = create("poly1").fit(s)
    found = unseen_errors(model, s).interval(0, 0, 1e9, model.predict(0, 0, 1e9), 0.9)
    low, high = [], []
    for i in range(30):
        keep = np.arange(30) != i
        slope, beta = np.polyfit(s.C[keep], s.R[keep], 1)
        residual = abs(s.R[i] - beta - slope * s.C[i])
        low.append(beta + slope * 1e9 - residual)
        high.append(beta + slope * 1e9 + residual)
    # 31 x 0.1 = 3.1 and 31 x 0.9 = 27.9: the 3rd smallest and the 28th
    assert found.low[0] == pytest.approx(sorted(low)[2], rel=1e-9)
    assert found.high[0] == pytest.approx(sorted(high)[27], rel=1e-9)


@pytest.mark.parametrize("name, level", [("poly1", 0.9), ("poly3", 0.8), ("mosmodel", 0.8), ("yaniv", 0.9)])
def test_coverage_on_samples_from_a_known_law(name, level):
    """Fresh points of the same law lie inside about as often as the level says (1 - 2a is guaranteed)."""
    tables, points = (12, 50) if name == "mosmodel" else (60, 50)
    inside = []
    for seed in range(tables):
        s, fresh = line(40, seed), line(points, 10_000 + seed)
        model = create(name).fit(s)
        found = unseen_errors(model, s).interval(
            fresh.H, fresh.M, fresh.C, model.predict(fresh.H, fresh.M, fresh.C), level
        )
        inside.append(np.mean((found.low <= fresh.R) & (fresh.R <= found.high)))
    # the share varies from table to table; four standard errors of their mean
    spread = 4 * np.std(inside) / math.sqrt(tables)
    assert level - spread - 0.02 <= np.mean(inside) <= level + spread + 0.05


def test_an_interval_that_ignored_its_level_would_not_cover():
    """The coverage test can fail: 50% intervals cover far less than 90%."""
    inside = []
    for seed in range(20):
        s, fresh = line(40, seed), line(50, 10_000 + seed)
        model = create("poly1").fit(s)
        found = unseen_errors(model, s).interval(0, 0, fresh.C, model.predict(0, 0, fresh.C), 0.5)
        inside.append(np.mean((found.low <= fresh.R) & (fresh.R <= found.high)))
    assert 0.4 < np.mean(inside) < 0.6


def test_duplicates_are_left_out_together():
    """Every layout twice: without any pair the fit is that without one layout of the plain table."""
    s = line(10, 2)
    twice = s.subset([*range(10), *range(10)])
    once, again = (unseen_errors(create("poly3").fit(t), t) for t in (s, twice))
    np.testing.assert_allclose(again.residuals, once.residuals, rtol=1e-6)


@pytest.mark.parametrize("n, possible", [(18, False), (19, True)])
def test_nineteen_layouts_for_95_percent(n, possible):
    s = line(n, 1)
    model = create("poly1").fit(s)
    interval = unseen_errors(model, s).interval(0, 0, 1e9, 1e10, 0.95)
    assert np.isfinite(interval.high[0]) == possible
    assert interval.message == "" if possible else re.search("0.95 .*19 .*18", interval.message)


def test_the_anchors_alone_give_no_interval():
    s = line(9, 1).subset([0, 8])
    calibration = unseen_errors(create("yaniv").fit(s), s)
    interval = calibration.interval(0, 0, 1e9, 1e10, 0.5)
    assert np.isnan(interval.low[0]) and "anchors" in interval.message


def test_a_model_that_one_layout_holds_up():
    """Without the only layout of a fourth C, poly3 does not exist: no interval, and why."""
    C = np.array([1.0, 2, 3, 4] + [1.0, 2, 3] * 8)
    R = 100 + C + np.arange(28) / 100
    s = make_samples(R, np.arange(28), 0 * C, C)  # H differs: rows of equal H, M and C would be copies
    calibration = unseen_errors(create("poly3").fit(s), s)
    assert re.search("growing-3: 4 .* 3 ", calibration.message)


@pytest.mark.parametrize("level", [0, 1, 1.5, -0.1])
def test_levels(level):
    s = line(20, 1)
    with pytest.raises(TesseraError, match=f"level {level:g}: "):
        unseen_errors(create("poly1").fit(s), s).interval(0, 0, 1, 1, level)


@pytest.mark.parametrize("name", [n for n in EVERY if n != "alam-scaled"])
def test_every_model_has_an_interval(name):
    s = noisy()
    model = create(name).fit(s)
    H, M, C = (values[:3] for values in random_inputs(seed=9))
    found = unseen_errors(model, s).interval(H, M, C, model.predict(H, M, C))
    assert np.all(np.isfinite([found.low, found.high])) and np.all(found.low < found.high)
