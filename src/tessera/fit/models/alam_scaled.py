"""The Alam model with its scale factor (MICRO'20 paper, section III): simulated walk cycles corrected.
from tessera.layouts.names import ALL_2MB
from tessera.layouts.names import ALL_4KB
from tessera.layouts.names import ALL_2MB
from tessera.layouts.names import ALL_4KB

R = s C_sim + beta with s = C_4K / C_4K_sim: the walk cycles that a simulator gives are scaled by how far it
is off at 4KB pages. One of the two is the C of the samples' 4KB run, the other must be given:

- samples measured on a machine (the paper's case): give ``simulated_walk_cycles_4kb``, what the simulator
  says of the same run. Predictions take simulated C; beta = R_2M - C_2M is all measured.
- samples simulated: give ``measured_walk_cycles_4kb``, from a machine with a PMU. Every C is simulated
  then, that of beta too: beta = R_2M - s C_2M.

With neither there is no factor, and the model refuses: the factor is not 1 for want of a measurement.
"""

from __future__ import annotations

from tessera.fit.models.base import CannotFit, RuntimeModel
from tessera.fit.models.samples import Samples
from tessera.layouts.names import ALL_2MB, ALL_4KB


class AlamScaled(RuntimeModel):
    """Learned: ``coefficients_`` of C (the factor s) and 1 (cycles); ``details_["scale"]``.

    Args:
        simulated_walk_cycles_4kb: C_4K_sim in cycles, with measured samples.
        measured_walk_cycles_4kb: C_4K in cycles, with simulated samples.
    """

    name = "alam-scaled"
    label = "Alam, scaled"
    inputs = ("C",)
    equation = "R = (C_4K / C_4K_sim) C_sim + R_2M - C_2M"
    source = "MICRO'20 section III, Alam, the scale factor of C_DVMT"

    def __init__(
        self,
        simulated_walk_cycles_4kb: float | None = None,
        measured_walk_cycles_4kb: float | None = None,
    ):
        self.simulated_walk_cycles_4kb = simulated_walk_cycles_4kb
        self.measured_walk_cycles_4kb = measured_walk_cycles_4kb

    def fit_samples(self, samples: Samples) -> AlamScaled:
        simulated, measured = self.simulated_walk_cycles_4kb, self.measured_walk_cycles_4kb
        if (simulated is None) == (measured is None):
            found = "neither is given" if simulated is None else "both are given"
            raise CannotFit(
                self.name,
                f"the scale factor needs C_4K measured and C_4K simulated, and {found}",
                "give measured_walk_cycles_4kb if the samples are simulated,"
                " simulated_walk_cycles_4kb if they are measured",
            )
        _, _, anchor, _ = samples.anchor(ALL_4KB)
        _, _, walk_cycles, runtime = samples.anchor(ALL_2MB)
        numerator = anchor if measured is None else measured
        denominator = anchor if simulated is None else simulated
        if not denominator > 0 or not numerator >= 0:
            raise CannotFit(
                self.name,
                f"C_4K / C_4K_sim = {numerator:g} / {denominator:g} is no scale factor",
                "use a workload with walk cycles under 4KB pages",
            )
        scale = numerator / denominator
        own = walk_cycles if measured is None else scale * walk_cycles
        return self._learn({"C": scale, "1": runtime - own}, scale=scale)
