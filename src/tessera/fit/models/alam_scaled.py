"""The Alam model with its scale factor (MICRO'20 paper, section III): simulated walk cycles corrected.

R = s C_sim + beta with s = C_4K / C_4K_sim: the model scales simulated walk cycles by the error of the
simulator under 4KB pages. One of the two is the C of the samples' 4KB run. Give the other:

- samples measured on a machine (the paper's case): give ``simulated_walk_cycles_4kb``, the simulator's
  number for the same run. Predictions take simulated C; beta = R_2M - C_2M uses measured numbers only.
- samples simulated: give ``measured_walk_cycles_4kb``, from a machine with a PMU. Then every C is simulated,
  also the C in beta: beta = R_2M - s C_2M.

Without either there is no factor, and the fit fails. The model does not assume that the factor is 1.
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
            given = "neither" if simulated is None else "both"
            raise CannotFit(
                self.name,
                "the scale factor needs C_4K measured and C_4K simulated; the samples have one of them, and"
                f" {given} of the two parameters is given: exactly one must be",
                "give measured_walk_cycles_4kb if the samples are simulated,"
                " simulated_walk_cycles_4kb if they are measured",
                code=f"{given}-given",
            )
        _, _, anchor, _ = samples.anchor(ALL_4KB)
        _, _, walk_cycles, runtime = samples.anchor(ALL_2MB)
        numerator = anchor if measured is None else measured
        denominator = anchor if simulated is None else simulated
        if not denominator > 0 or not numerator >= 0:
            raise CannotFit(
                self.name,
                f"C_4K / C_4K_sim = {numerator:g} / {denominator:g} is not a valid scale factor",
                "use a workload with walk cycles under 4KB pages",
                code="scale-factor",
            )
        scale = numerator / denominator
        own = walk_cycles if measured is None else scale * walk_cycles
        return self._learn({"C": scale, "1": runtime - own}, scale=scale)
