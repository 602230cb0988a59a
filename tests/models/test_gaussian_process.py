"""The Gaussian process: what is stored predicts what scikit-learn predicts, exactly reproducibly."""

import json

import numpy as np
import pytest

from tessera.fit.models.base import CannotFit
from tessera.fit.models.gaussian_process import BOUNDS
from tessera.fit.models.registry import create

from .builders import noisy


@pytest.fixture(scope="module")
def fitted():
    return create("gp").fit(noisy())


def test_weights_solve_the_kernel_system(fitted):
    """(K + noise) w = R - mean, with the kernel written out here."""
    s, state = noisy(), fitted.state_
    x = np.array(state["inputs"]) / np.array(state["lengths"])
    distance = ((x[:, None, :] - x[None, :, :]) ** 2).sum(axis=2)
    K = state["amplitude"] * np.exp(-distance / 2)
    noise = np.exp(fitted.details_["theta"][-1]) + 1e-12
    residual = (K + noise * np.eye(54)) @ np.array(state["weights"]) - (s.R - s.R.mean())
    assert np.abs(residual).max() < 1e-6 * np.ptp(s.R)
    np.testing.assert_allclose(
        fitted.predict(s.H, s.M, s.C), s.R.mean() + K @ np.array(state["weights"]), rtol=1e-9
    )


def test_kernel_parameters_maximise_the_likelihood_nearby(fitted):
    """Moving any parameter by 10% either way does not raise the log marginal likelihood."""
    s, theta = noisy(), np.array(fitted.details_["theta"])
    x = np.array(fitted.state_["inputs"])
    y = (s.R - s.R.mean()) / s.R.std()

    def likelihood(theta):
        amplitude, lengths, noise = np.exp(theta[0]), np.exp(theta[1:4]), np.exp(theta[4])
        d = x / lengths
        K = amplitude * np.exp(-((d[:, None] - d[None]) ** 2).sum(axis=2) / 2) + (noise + 1e-12) * np.eye(54)
        return -0.5 * y @ np.linalg.solve(K, y) - 0.5 * np.linalg.slogdet(K)[1]

    limits = np.log([BOUNDS["amplitude"], *[BOUNDS["length"]] * 3, BOUNDS["noise"]])
    for i in range(5):
        for step in (-0.1, 0.1):
            moved = theta.copy()
            moved[i] = np.clip(theta[i] + step, *limits[i])
            assert likelihood(moved) <= likelihood(theta) + 1e-3


def test_a_fit_read_back_predicts_the_same_bits(fitted):
    s = noisy()
    entry = json.loads(json.dumps({"state": fitted.state(), "details": fitted.details_}))
    again = create("gp").restore(entry)
    np.testing.assert_array_equal(again.predict(s.H, s.M, s.C), fitted.predict(s.H, s.M, s.C))


def test_fitting_twice_gives_the_same_bits(fitted):
    assert create("gp").fit(noisy()).state_ == fitted.state_


def test_gradient_is_the_derivative(fitted):
    point, step = {"H": 2e7, "M": 4e7, "C": 1.5e9}, 1e-3
    slope = fitted.gradient(**point)
    for symbol, value in point.items():
        up, down = (fitted.predict(**(point | {symbol: value * (1 + s)})) for s in (step, -step))
        assert slope[symbol] == pytest.approx((up - down) / (2 * step * value), rel=1e-3)


def test_far_away_it_returns_to_the_mean(fitted):
    far = fitted.predict(1e13, 1e13, 1e15)
    assert far == pytest.approx(noisy().R.mean(), rel=1e-6)


def test_refitting_keeps_the_kernel(fitted):
    other = fitted.refit(noisy().subset(range(40)))
    assert other.state_["lengths"] == pytest.approx(fitted.state_["lengths"])
    assert len(other.state_["weights"]) == 40


def test_too_few_samples():
    with pytest.raises(CannotFit, match="5 .*parameters .*5 samples"):
        create("gp").fit(noisy().subset(range(5)))
