"""The Gandhi model (MICRO'20 paper, section III): Basu's slope, ideal runtime from the 2MB run.

R = alpha M + beta with alpha = C_4K / M_4K and beta = R_2M - C_2M. It need not pass through any
sample: at the 2MB run it predicts R_2M - C_2M + alpha M_2M.
"""

from __future__ import annotations

from tessera.fit.models.base import RuntimeModel
from tessera.fit.models.basu import cycles_per_miss
from tessera.fit.models.samples import Samples
from tessera.layouts.names import ALL_2MB, ALL_4KB


class Gandhi(RuntimeModel):
    """Learned: ``coefficients_`` of M (cycles per miss) and 1 (cycles)."""

    name = "gandhi"
    label = "Gandhi"
    inputs = ("M",)
    equation = "R = (C_4K / M_4K) M + R_2M - C_2M"
    source = "MICRO'20 section III, Gandhi"

    def fit_samples(self, samples: Samples) -> Gandhi:
        _, misses, walk_cycles, _ = samples.anchor(ALL_4KB)
        _, _, walk_cycles_2mb, runtime_2mb = samples.anchor(ALL_2MB)
        return self._learn(
            {
                "M": cycles_per_miss(self.name, walk_cycles, misses),
                "1": runtime_2mb - walk_cycles_2mb,
            }
        )
