"""A Gaussian process over (H, M, C): it has no equation and interpolates the samples smoothly.

Kernel, pinned: v RBF(l_H, l_M, l_C) + noise on inputs divided by their ranges and runtimes standardised;
its five numbers maximise the marginal likelihood of the samples (L-BFGS from one fixed start and
``restarts`` starts of a generator with a pinned seed). Five, so the one-in-ten rule holds at 54 samples.

It checks the form of the polynomials: if its error is much smaller, the form is wrong. Far from the samples
it predicts their mean runtime with their standard deviation, so never use it to extrapolate.

The learned state is the samples and one weight each, so it has no ``coefficients_``. Predictions are sums
over the samples done here, in one order, so that a fit read back from `fit.json` predicts the same bits.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np
from sklearn.base import clone

from tessera.fit.models.base import ORDER, CannotFit, RuntimeModel
from tessera.fit.models.samples import Samples
from tessera.fit.models.terms import checked_inputs

HYPERPARAMETERS = 5
BOUNDS = {"amplitude": (1e-2, 1e4), "length": (1e-2, 1e3), "noise": (1e-10, 1e0)}


class GaussianProcess(RuntimeModel):
    """Learned: ``state_`` (inputs, weights, length scales, amplitude), ``details_`` (the kernel).

    Args:
        restarts: starts of the likelihood search beside the fixed one.
        seed: of those starts.
    """

    name = "gp"
    equation = "Gaussian process over (H, M, C), kernel v RBF + noise"
    source = "scikit-learn's GaussianProcessRegressor (not in the paper)"
    cross_validated = True

    def __init__(self, restarts: int = 1, seed: int = 0):
        self.restarts = restarts
        self.seed = seed

    def fit_samples(self, samples: Samples) -> GaussianProcess:
        return self._fit(samples)

    def refit(self, samples: Samples) -> GaussianProcess:
        """With this model's kernel: leaving one sample out hardly moves it, and a search costs 0.3 s."""
        other = clone(self)._fit(samples, np.array(self.details_["theta"]))
        other.n_features_in_ = 3
        return other

    def _fit(self, samples: Samples, fixed: np.ndarray | None = None) -> GaussianProcess:
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.gaussian_process import GaussianProcessRegressor
        from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

        if len(samples) < HYPERPARAMETERS + 1:
            raise CannotFit(
                self.name,
                f"{HYPERPARAMETERS} kernel parameters but {len(samples)} samples",
                "add layouts; the one-in-ten rule asks for 10 samples per parameter",
            )
        inputs = np.column_stack([getattr(samples, symbol) for symbol in ORDER])
        ranges = np.where(np.ptp(inputs, axis=0) > 0, np.ptp(inputs, axis=0), 1.0)
        mean, deviation = samples.R.mean(), samples.R.std()
        if not deviation > 0:
            deviation = 1.0
        kernel = ConstantKernel(1.0, BOUNDS["amplitude"]) * RBF([1.0] * 3, BOUNDS["length"])
        kernel += WhiteKernel(1e-4, BOUNDS["noise"])
        search: dict[str, int | None] = {"n_restarts_optimizer": self.restarts, "random_state": self.seed}
        if fixed is not None:
            kernel, search = kernel.clone_with_theta(fixed), {"optimizer": None}
        process = GaussianProcessRegressor(kernel, alpha=1e-12, **search)
        with warnings.catch_warnings():
            # a parameter at its bound (an input that does not matter) is no failure
            warnings.simplefilter("ignore", ConvergenceWarning)
            process.fit(inputs / ranges, (samples.R - mean) / deviation)
        learned = process.kernel_
        self.state_ = {
            "inputs": (inputs / ranges).tolist(),
            "ranges": ranges.tolist(),
            "weights": (process.alpha_ * deviation).tolist(),
            "mean": float(mean),
            "lengths": np.broadcast_to(learned.k1.k2.length_scale, 3).tolist(),
            "amplitude": float(learned.k1.k1.constant_value),
        }
        self.details_ = {"kernel": str(learned), "theta": learned.theta.tolist()}
        return self

    def evaluate(self, H, M, C) -> np.ndarray:
        return evaluate_state(self.state_, H, M, C)

    def gradient(self, H, M, C) -> dict[str, np.ndarray]:
        return gradient_of_state(self.state_, H, M, C)

    def state(self) -> dict:
        return self.state_

    def restore(self, entry: dict) -> GaussianProcess:
        self.state_, self.details_ = entry["state"], entry["details"]
        self.n_features_in_ = 3
        return self

    def size(self) -> int:
        return HYPERPARAMETERS


def evaluate_state(state: dict, H, M, C) -> np.ndarray:
    """Predicted runtime in cycles from the learned state; inputs as for `terms.predict_runtime`."""
    inputs = checked_inputs(H, M, C)
    return sum((part for part, _ in _parts(state, inputs)), np.full(inputs["H"].shape, state["mean"]))


def gradient_of_state(state: dict, H, M, C) -> dict[str, np.ndarray]:
    """{"H", "M", "C"}: derivatives of :func:`evaluate_state`, cycles per count."""
    inputs = checked_inputs(H, M, C)
    slopes = {symbol: np.zeros(inputs["H"].shape) for symbol in ORDER}
    for part, scaled in _parts(state, inputs):
        for symbol, distance, extent, length in zip(
            ORDER, scaled, state["ranges"], state["lengths"], strict=True
        ):
            slopes[symbol] = slopes[symbol] - part * distance / (extent * length)
    return slopes


def _parts(state: dict, inputs: dict[str, np.ndarray]) -> Iterator[tuple[np.ndarray, list[np.ndarray]]]:
    """What each sample adds to the prediction (cycles), and the distances to it in length scales."""
    for known, weight in zip(state["inputs"], state["weights"], strict=True):
        scaled = [
            (inputs[symbol] / extent - value) / length
            for symbol, value, extent, length in zip(
                ORDER, known, state["ranges"], state["lengths"], strict=True
            )
        ]
        squared = sum((distance**2 for distance in scaled), np.zeros(inputs["H"].shape))
        yield weight * state["amplitude"] * np.exp(-0.5 * squared), scaled
