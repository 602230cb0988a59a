"""OPERA's variant of the Gandhi model (OPERA D5.10, section 2.3.2): Gandhi's ideal runtime, a line in C.

R = alpha C + beta with beta = R_2M - C_2M. The printed formula of alpha is garbled; its readable parts
(R_4K, then R_2M and C_2M, over C_4K) are those of the line from (0, beta) through the 4KB run,
alpha = (R_4K - (R_2M - C_2M)) / C_4K, which this model uses.
"""

from __future__ import annotations

from tessera.fit.models.base import CannotFit, RuntimeModel
from tessera.fit.models.samples import Samples
from tessera.layouts.names import ALL_2MB, ALL_4KB


class GandhiOpera(RuntimeModel):
    """Learned: ``coefficients_`` of C (cycles per walk cycle) and 1 (cycles)."""

    name = "gandhi-opera"
    inputs = ("C",)
    equation = "R = (R_4K - R_2M + C_2M) / C_4K C + R_2M - C_2M"
    source = "OPERA D5.10 section 2.3.2 (formula printed garbled)"

    def fit_samples(self, samples: Samples) -> GandhiOpera:
        _, _, walk_4kb, runtime_4kb = samples.anchor(ALL_4KB)
        _, _, walk_2mb, runtime_2mb = samples.anchor(ALL_2MB)
        if walk_4kb == 0:
            raise CannotFit(
                self.name,
                "alpha is undefined: the 4KB run (growing-0) has no walk cycles",
                "use a workload whose footprint exceeds the reach of the TLB, or another model",
                code="no-walk-cycles",
            )
        ideal = runtime_2mb - walk_2mb
        return self._learn({"C": (runtime_4kb - ideal) / walk_4kb, "1": ideal})
