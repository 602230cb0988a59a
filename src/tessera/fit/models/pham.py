"""The Pham model (MICRO'20 paper, section III): every cycle of translation adds to the runtime.

R = 7 H + C + beta, beta = R_4K - C_4K - 7 H_4K. Seven cycles is the latency of an L2 TLB hit that
the paper takes from Intel's optimisation manual; it is part of the model and never fitted.
"""

from __future__ import annotations

from tessera.fit.models.base import RuntimeModel
from tessera.fit.models.samples import Samples
from tessera.layouts.names import ALL_4KB

STLB_HIT_CYCLES = 7.0


class Pham(RuntimeModel):
    """Learned: the ``coefficients_`` of 1 (cycles); those of H and C are fixed."""

    name = "pham"
    label = "Pham"
    equation = "R = 7 H + C + R_4K - C_4K - 7 H_4K"
    source = "MICRO'20 section III, Pham"

    def fit_samples(self, samples: Samples) -> Pham:
        hits, _, walk_cycles, runtime = samples.anchor(ALL_4KB)
        return self._learn(
            {
                "H": STLB_HIT_CYCLES,
                "C": 1.0,
                "1": runtime - walk_cycles - STLB_HIT_CYCLES * hits,
            }
        )
