"""The Basu model (MICRO'20 paper, section III): R = alpha M + beta from the 4KB run alone.

alpha = C_4K / M_4K (mean cycles per walk), beta = R_4K - C_4K (runtime if every walk cycle stalled
the core). So the line through (0, R_4K - C_4K) and (M_4K, R_4K). beta may be negative when two
walkers count more walk cycles than there are cycles.
"""

from __future__ import annotations

from tessera.fit.models.base import CannotFit, RuntimeModel
from tessera.fit.models.samples import Samples
from tessera.layouts.names import ALL_4KB


class Basu(RuntimeModel):
    """Learned: ``coefficients_`` of M (cycles per miss) and 1 (cycles)."""

    name = "basu"
    label = "Basu"
    inputs = ("M",)
    equation = "R = (C_4K / M_4K) M + R_4K - C_4K"
    source = "MICRO'20 section III, Basu"

    def fit_samples(self, samples: Samples) -> Basu:
        _, misses, walk_cycles, runtime = samples.anchor(ALL_4KB)
        return self._learn({"M": cycles_per_miss(self.name, walk_cycles, misses), "1": runtime - walk_cycles})


def cycles_per_miss(model: str, walk_cycles: float, misses: float) -> float:
    """alpha = C_4K / M_4K of the Basu and Gandhi models, in cycles per miss."""
    if misses == 0:
        raise CannotFit(
            model,
            "alpha = C_4K / M_4K is undefined: the 4KB run (growing-0) has no STLB misses",
            "use a workload whose footprint exceeds the reach of the TLB, or another model",
        )
    return walk_cycles / misses
