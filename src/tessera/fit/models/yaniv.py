"""The Yaniv model (MICRO'20 paper, section III): the line in C through the 2MB and 4KB runs.

R = alpha C + beta through (C_2M, R_2M) and (C_4K, R_4K); alpha is the slowdown per walk cycle.
"""

from __future__ import annotations

from tessera.fit.models.base import CannotFit, RuntimeModel
from tessera.fit.models.samples import Samples
from tessera.layouts.names import ALL_2MB, ALL_4KB


class Yaniv(RuntimeModel):
    """Learned: ``coefficients_`` of C (cycles per walk cycle) and 1 (cycles)."""

    name = "yaniv"
    label = "Yaniv"
    inputs = ("C",)
    equation = "R = alpha C + beta through (C_2M, R_2M) and (C_4K, R_4K)"
    source = "MICRO'20 section III, Yaniv"

    def fit_samples(self, samples: Samples) -> Yaniv:
        _, _, walk_4kb, runtime_4kb = samples.anchor(ALL_4KB)
        _, _, walk_2mb, runtime_2mb = samples.anchor(ALL_2MB)
        if walk_4kb == walk_2mb:
            raise CannotFit(
                self.name,
                f"the anchors do not define a line: both have C = {walk_4kb:.17g} walk cycles",
                "use a workload whose walk cycles differ between 4KB and 2MB pages",
            )
        slope = (runtime_4kb - runtime_2mb) / (walk_4kb - walk_2mb)
        return self._learn({"C": slope, "1": runtime_2mb - slope * walk_2mb})
