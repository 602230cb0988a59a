"""The five existing models as formulas (MICRO'20 section III), checked in exact fractions.

Written independently of :mod:`tessera.fit.models`, as its oracle. A sample is (H, M, C, R); the two
anchors below are arbitrary, positive and in no special position, so a residual of zero is algebra.
Not modelled: fitted polynomials and Mosmodel, which pass through no sample by construction.
"""

from __future__ import annotations

from fractions import Fraction as F

from tessera.core.errors import unknown_name
from tessera.report.claims.claim import Outcome
from tessera.report.claims.registry import evaluator

#: name -> (H, M, C, R); ``no-misses`` is where the Basu line starts.
ANCHORS = {
    "4kb": (F(11), F(2), F(76), F(1320)),
    "2mb": (F(3), F(1, 5), F(7), F(1155)),
}
STLB_LATENCY = 7


def coefficients(model: str, small: tuple, large: tuple) -> tuple[F, F, F, F]:
    """Coefficients of H, M, C and 1, from the 4KB (``small``) and 2MB (``large``) run."""
    h4, m4, c4, r4 = small
    _, _, c2, r2 = large
    formulas = {
        "basu": lambda: (F(0), c4 / m4, F(0), r4 - c4),
        "gandhi": lambda: (F(0), c4 / m4, F(0), r2 - c2),
        "pham": lambda: (F(STLB_LATENCY), F(0), F(1), r4 - c4 - STLB_LATENCY * h4),
        "alam": lambda: (F(0), F(0), F(1), r2 - c2),
        "yaniv": lambda: _line((c2, r2), (c4, r4)),
    }
    if model not in formulas:
        raise unknown_name("existing model", model, list(formulas))
    return formulas[model]()


def _line(first: tuple[F, F], second: tuple[F, F]) -> tuple[F, F, F, F]:
    slope = (second[1] - first[1]) / (second[0] - first[0])
    return F(0), F(0), slope, first[1] - slope * first[0]


def residual(model: str, point: str) -> F:
    """|prediction - runtime| of the model at one of its points, cycles."""
    samples = dict(ANCHORS)
    _, _, walk_cycles, runtime = ANCHORS["4kb"]
    samples["no-misses"] = (F(0), F(0), F(0), runtime - walk_cycles)
    if point not in samples:
        raise unknown_name("point", point, list(samples))
    *inputs, wanted = samples[point]
    terms = coefficients(model, ANCHORS["4kb"], ANCHORS["2mb"])
    return abs(sum(c * x for c, x in zip(terms, [*inputs, F(1)], strict=True)) - wanted)


@evaluator
def line_residual(claim, evidence, model: str, points: list) -> Outcome:
    """Sum of the residuals at ``points``."""
    return Outcome(float(sum(residual(model, point) for point in points)), "published")


@evaluator
def smallest_residual(claim, evidence, models: list) -> Outcome:
    """The largest, over ``models``, of the smallest residual at the two measured runs."""
    smallest = [min(residual(model, point) for point in ANCHORS) for model in models]
    return Outcome(float(max(smallest)), "published")


@evaluator
def alam_against_yaniv(claim, evidence) -> Outcome:
    """Difference of the two models' coefficients where the runs lie on a line of slope 1."""
    small = ANCHORS["4kb"]
    h, m, c, _ = ANCHORS["2mb"]
    large = (h, m, c, small[3] - (small[2] - c))
    pairs = zip(coefficients("alam", small, large), coefficients("yaniv", small, large), strict=True)
    return Outcome(float(sum(abs(a - b) for a, b in pairs)), "published")
