"""OPERA's variant of the Pham model (OPERA D5.10, section 2.3.1): R = C + beta, beta = R_2M - C_2M.

It ignores STLB hits and takes the ideal runtime from the 2MB run, so it equals what MICRO'20 calls the
Alam model; it is kept under its own name because OPERA's figures 4 and 5 show it.
"""

from __future__ import annotations

from tessera.fit.models.base import RuntimeModel
from tessera.fit.models.samples import Samples
from tessera.layouts.names import ALL_2MB


class PhamOpera(RuntimeModel):
    """Learned: the ``coefficients_`` of 1 (cycles); that of C is fixed at 1."""

    name = "pham-opera"
    inputs = ("C",)
    equation = "R = C + R_2M - C_2M"
    source = "OPERA D5.10 section 2.3.1"

    def fit_samples(self, samples: Samples) -> PhamOpera:
        _, _, walk_cycles, runtime = samples.anchor(ALL_2MB)
        return self._learn({"C": 1.0, "1": runtime - walk_cycles})
