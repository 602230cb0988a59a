"""The monotone non-negative cubic in C: least squares among cubics that never fall and never go below zero.

More walk cycles cannot make a run shorter, and no runtime is negative. poly3 can violate both rules, mostly
just outside its samples. Here p(C) = b + c1 C + c2 C^2 + c3 C^3 is fitted by least squares subject to
p(0) >= 0 and p'(C) >= 0 for every C >= 0, not at samples only.

p' is a parabola, so it is non-negative on C >= 0 exactly if c1, c3 >= 0 and (c2 >= 0 or
c2^2 <= 3 c1 c3). The problem is convex, and its optimum is one of these, of which the best is taken:

1. the plain least squares cubic (with or without b) if it satisfies the rules;
2. non-negative least squares on 1, C, C^2, C^3 (the part of the set where c2 >= 0);
3. b + a (C - u C^2 + u^2 C^3 / 3), a, b >= 0: the cubics with c2^2 = 3 c1 c3, whose slope touches zero
   once, at C = 1/u; u by a search in one dimension.
"""

from __future__ import annotations

import numpy as np

from tessera.fit.models.base import CannotFit, RuntimeModel
from tessera.fit.models.design import power_of_two_above
from tessera.fit.models.samples import Samples

GRID = 241  #: angles tried for u = tan(angle) before the search is refined


class Monotone(RuntimeModel):
    """Learned: ``coefficients_`` of 1, C, C^2, C^3 (zeros left out)."""

    name = "monotone"
    equation = "R = beta + a1 C + a2 C^2 + a3 C^3, least squares, beta >= 0, never falling"
    source = "constrained least squares (not in the paper)"
    cross_validated = True

    def fit_samples(self, samples: Samples) -> Monotone:
        different = len(np.unique(samples.C))
        if different < 4:
            raise CannotFit(
                self.name,
                f"4 coefficients but {different} different values of C",
                "add layouts with other walk cycles, or use a model with fewer terms",
            )
        scale, mean = power_of_two_above(samples.C), samples.R.mean()
        x, y = samples.C / scale, samples.R / mean
        powers = np.column_stack([np.ones_like(x), x, x * x, x * x * x])
        best = min(candidates(powers, y), key=lambda c: float(np.sum((powers @ c - y) ** 2)))
        raw = {
            term: float(mean * best[k] / scale**k)
            for k, term in enumerate(("1", "C", "C^2", "C^3"))
            if best[k]
        }
        return self._learn(raw or {"1": 0.0})


def candidates(powers: np.ndarray, y: np.ndarray) -> list[np.ndarray]:
    """Coefficient vectors (4,), all admissible, one of which is the optimum; ``powers`` is (n, 4)."""
    from scipy.optimize import minimize_scalar, nnls  # 0.3 s to import

    free = np.linalg.lstsq(powers, y, rcond=None)[0]
    if admissible(free):
        return [free]
    through_zero = np.append(0.0, np.linalg.lstsq(powers[:, 1:], y, rcond=None)[0])
    found = [c for c in (through_zero,) if admissible(c)]
    found.append(nnls(powers, y)[0])

    def touching(angle: float) -> tuple[float, np.ndarray]:
        u = np.tan(angle)
        # divided by 1 + u^2, so that both ends (the line, the pure cube) are ordinary points
        shape = np.array([0.0, 1.0, -u, u * u / 3]) / (1 + u * u)
        weights, residual = nnls(np.column_stack([powers[:, 0], powers @ shape]), y)
        return residual, np.append(weights[0], weights[1] * shape[1:])

    angles = np.linspace(0, np.pi / 2, GRID)[:-1]
    nearest = int(np.argmin([touching(angle)[0] for angle in angles]))
    bounds = angles[max(0, nearest - 1)], angles[min(len(angles) - 1, nearest + 1)]
    refined = minimize_scalar(
        lambda a: touching(a)[0], bounds=bounds, method="bounded", options={"xatol": 1e-10}
    )
    return [*found, touching(angles[nearest])[1], touching(float(refined.x))[1]]


def admissible(c: np.ndarray) -> bool:
    """Non-negative at 0 and never falling at any C >= 0."""
    return bool(c[0] >= 0 and c[1] >= 0 and c[3] >= 0 and (c[2] >= 0 or c[2] ** 2 <= 3 * c[1] * c[3]))
