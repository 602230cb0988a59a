"""Twins, the bound on every model, and distances to the hull, where the truth is known by construction."""

from __future__ import annotations

import numpy as np
import pytest

from tessera.fit.models.registry import create
from tessera.fit.models.samples import Samples
from tessera.fit.predict.prediction import distance_outside
from tessera.lab.transfer.predictions import Hull, inputs_used
from tessera.lab.transfer.twins import NEAR, NONE, Mosaics, gap, least_error, near_twin, nearest

RNG = np.random.default_rng(3)


def plane(x):
    return 5e6 + x @ np.array([7.0, 30.0, 1.5])


def mosaics(n=40, runtime=plane):
    x = RNG.uniform(1e5, 1e6, size=(n, 3))
    return Mosaics(tuple(f"m{i}" for i in range(n)), x, runtime(x))


def test_the_correction_by_slope_is_exact_on_a_plane():
    known = mosaics()
    point = known.x[7] + 0.009 * known.extent * np.array([1, -1, 1])
    twin = near_twin(known, point)
    assert (twin.kind, twin.name) == (NEAR, "m7") and twin.distance == pytest.approx(0.009)
    assert twin.at_point == pytest.approx(plane(point), rel=1e-9)
    assert twin.runtime != pytest.approx(plane(point), rel=1e-6)


def test_the_nearest_by_the_largest_difference_over_ranges():
    x = np.array([[0.0, 0, 0], [100.0, 10, 1], [50.0, 5, 0.5]])
    known = Mosaics(("a", "b", "c"), x, np.ones(3))
    # from b: 0.4, 0, 0; from c: 0.1, 0.5, 0.5
    assert nearest(known, (60, 10, 1)) == ("b", pytest.approx(0.4))
    assert near_twin(known, (60, 10, 1)).kind == NONE


def test_of_equal_layouts_the_timed_one_is_the_twin():
    x = np.array([[1.0, 1, 1], [1.0, 1, 1], [2.0, 2, 2]])
    known = Mosaics(("untimed", "timed", "far"), x, np.array([np.nan, 8.0, 9.0]))
    assert nearest(known, (1, 1, 1)) == ("timed", 0)
    assert known.with_runtimes({"untimed": 7.0}).runtime.tolist() == [7, 8, 9]


def test_no_function_is_nearer_than_the_bound():
    """Brute force over values of f at the common (H, M, C)."""
    for r1, r2 in ((100.0, 130.0), (7.0, 5.0), (1.0, 1.0)):
        g = gap(r1, r2)
        values = np.linspace(min(r1, r2), max(r1, r2), 200_001)
        worst = np.maximum(abs(values / r1 - 1), abs(values / r2 - 1))
        assert worst.min() == pytest.approx(least_error(g), abs=1e-5)
    assert gap(100, 130) == gap(130, 100) == pytest.approx(0.3)


def samples(n=30):
    H, M, C = (RNG.uniform(10, 20, n) for _ in range(3))
    names = ("growing-0", "growing-8", *(f"random-{i}" for i in range(n - 2)))
    return Samples(names, H, M, C, 100 + 2 * C)


def test_a_line_in_c_is_inside_whatever_h_is():
    known = samples()
    hull = Hull(known)
    inside = (1e6, 1e6, float(np.median(known.C)))
    assert hull.distance(inside, ("C",)) == 0
    assert hull.distance(inside) > 1
    beyond = known.C.max() + 0.5 * np.ptp(known.C)
    assert hull.distance((0, 0, beyond), ("C",)) == pytest.approx(0.5)
    assert hull.distance((0, 0, beyond), ()) == 0


def test_with_all_inputs_it_is_the_distance_of_tessera_predict():
    known = samples()
    hull = Hull(known)
    for point in ((15, 15, 15), (25, 15, 15), (30, 1, 12)):
        assert hull.distance(point) == pytest.approx(distance_outside(known, *point), abs=1e-9)


def test_inputs_that_a_fitted_model_uses():
    known = samples()
    assert inputs_used(create("yaniv").fit(known)) == ("C",)
    assert inputs_used(create("basu").fit(known)) == ("M",)
    assert set(inputs_used(create("mosmodel").fit(known))) <= {"H", "M", "C"}
