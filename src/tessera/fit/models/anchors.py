"""The models that the 4KB and 2MB runs define: Basu, Gandhi, Pham, Alam, Yaniv, and variants of them.

Formulas are those of the MICRO'20 paper, section III; OPERA's variants those of OPERA D5.10, section 2.3.
"""

from __future__ import annotations

from tessera.core.layouts.layout import ALL_2MB, ALL_4KB
from tessera.fit.models.base import CannotFit, RuntimeModel
from tessera.fit.models.samples import Samples

# The Basu model: R = alpha M + beta from the 4KB run alone.
#
# alpha = C_4K / M_4K (mean cycles per walk), beta = R_4K - C_4K (runtime if every walk cycle stalled
# the core). So the line through (0, R_4K - C_4K) and (M_4K, R_4K). beta may be negative when two
# walkers count more walk cycles than there are cycles.


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


# The Gandhi model: Basu's slope, ideal runtime from the 2MB run.
#
# R = alpha M + beta with alpha = C_4K / M_4K and beta = R_2M - C_2M. It need not pass through any
# sample: at the 2MB run it predicts R_2M - C_2M + alpha M_2M.


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


# OPERA's variant of the Gandhi model (section 2.3.2): Gandhi's ideal runtime, a line in C.
#
# R = alpha C + beta with beta = R_2M - C_2M. The printed formula of alpha is garbled; its readable parts
# (R_4K, then R_2M and C_2M, over C_4K) are those of the line from (0, beta) through the 4KB run,
# alpha = (R_4K - (R_2M - C_2M)) / C_4K, which this model uses.


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


# The Pham model: every cycle of translation adds to the runtime.
#
# R = 7 H + C + beta, beta = R_4K - C_4K - 7 H_4K. Seven cycles is the latency of an L2 TLB hit that
# the paper takes from Intel's optimisation manual; it is part of the model and never fitted.

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


# OPERA's variant of the Pham model (section 2.3.1): R = C + beta, beta = R_2M - C_2M.
#
# It ignores STLB hits and takes the ideal runtime from the 2MB run, so it equals what MICRO'20 calls the
# Alam model; it is kept under its own name because OPERA's figures 4 and 5 show it.


class PhamOpera(RuntimeModel):
    """Learned: the ``coefficients_`` of 1 (cycles); that of C is fixed at 1."""

    name = "pham-opera"
    inputs = ("C",)
    equation = "R = C + R_2M - C_2M"
    source = "OPERA D5.10 section 2.3.1"

    def fit_samples(self, samples: Samples) -> PhamOpera:
        _, _, walk_cycles, runtime = samples.anchor(ALL_2MB)
        return self._learn({"C": 1.0, "1": runtime - walk_cycles})


# The Alam model: R = C + beta, beta = R_2M - C_2M.
#
# It has no scale factor for simulated walk cycles (C_4K / C_4K simulated; :class:`AlamScaled` has it): like
# the paper, we feed the model walk cycles from the same source as its anchors.


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


# The Alam model with its scale factor: simulated walk cycles corrected.
#
# R = s C_sim + beta with s = C_4K / C_4K_sim: the model scales simulated walk cycles by the error of the
# simulator under 4KB pages. One of the two is the C of the samples' 4KB run. Give the other:
#
# - samples measured on a machine (the paper's case): give ``simulated_walk_cycles_4kb``, the simulator's
#   number for the same run. Predictions take simulated C; beta = R_2M - C_2M uses measured numbers only.
# - samples simulated: give ``measured_walk_cycles_4kb``, from a machine with a PMU. Then every C is
#   simulated, also the C in beta: beta = R_2M - s C_2M.
#
# Without either there is no factor, and the fit fails. The model does not assume that the factor is 1.


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


# The Yaniv model: the line in C through the 2MB and 4KB runs.
#
# R = alpha C + beta through (C_2M, R_2M) and (C_4K, R_4K); alpha is the slowdown per walk cycle.


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
