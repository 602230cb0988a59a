"""Distance to the convex hull of P's samples in the inputs that a model uses.

As :mod:`tessera.fit.predict.hull`, but over a part of (H, M, C): a line in C does not depend on H, so a
design with another H is no extrapolation for it.
"""

from __future__ import annotations

from collections.abc import Sequence

from tessera.fit.models.base import RuntimeModel
from tessera.fit.models.inputs import ORDER
from tessera.fit.models.samples import Samples
from tessera.fit.models.terms import INPUTS, TERMS
from tessera.fit.predict.hull import distance_outside


def inputs_used(model: RuntimeModel) -> tuple[str, ...]:
    """Those of H, M, C that a fitted model depends on, in that order."""
    coefficients = getattr(model, "coefficients_", None)
    if coefficients is None:
        return tuple(symbol for symbol in ORDER if symbol in model.inputs)
    powers = [TERMS[term].powers for term, value in coefficients.items() if value]
    return tuple(s for s in ORDER if any(p[INPUTS.index(s)] for p in powers))


class Hull:
    """Distances of points, remembered."""

    def __init__(self, samples: Samples):
        self._samples = samples
        self._known: dict[tuple, float] = {}

    def distance(self, point: Sequence[float], used: Sequence[str] = ORDER) -> float:
        """Distance of (H, M, C) as a share of the ranges; 0 inside, and for a model without inputs."""
        H, M, C = map(float, point)
        key = (tuple(used), tuple(v for s, v in zip(ORDER, (H, M, C), strict=True) if s in used))
        if key not in self._known:
            self._known[key] = distance_outside(self._samples, H, M, C, used) if used else 0.0
        return self._known[key]
