"""The Alam model (MICRO'20 paper, section III): R = C + beta, beta = R_2M - C_2M.

The scale factor for simulated walk cycles (C_4K / C_4K simulated) is not modelled: like the paper,
we feed the model walk cycles from the same source as its anchors.
"""

from __future__ import annotations

from tessera.fit.models.base import RuntimeModel
from tessera.fit.models.samples import Samples
from tessera.layouts.names import ALL_2MB


class Alam(RuntimeModel):
    """Learned: the ``coefficients_`` of 1 (cycles); that of C is fixed at 1."""

    name = "alam"
    label = "Alam"
    inputs = ("C",)
    equation = "R = C + R_2M - C_2M"
    source = "MICRO'20 section III, Alam"

    def fit_samples(self, samples: Samples) -> Alam:
        _, _, walk_cycles, runtime = samples.anchor(ALL_2MB)
        return self._learn({"C": 1.0, "1": runtime - walk_cycles})
