"""Mosmodel (MICRO'20 paper, section VII-C, equation (3)): a sparse cubic in (H, M, C).

R = beta + the 19 monomials of degree 1..3, of which at most five get a coefficient (section VI-C:
54 samples and the one-in-ten rule; the intercept does not count). The recipe, pinned here since the
paper names the Lasso but not its settings:

1. standardise the monomials over the samples (`design.py`, ddof = 0);
2. follow the exact Lasso path down to `floor` times its largest penalty (`lasso.py`);
3. take the least-penalised point with at most `max_nonzero` nonzero coefficients;
4. refit the selected monomials by least squares and return to raw units.

No inner cross-validation and no randomness. Constant monomials (H is always 0, say) are never
selected; if all runtimes are equal none is, and the model is their mean.
"""

from __future__ import annotations

import numpy as np

from tessera.fit.models.base import CannotFit, RuntimeModel
from tessera.fit.models.design import CONSTANT_TOLERANCE, DesignMatrix, build, least_squares
from tessera.fit.models.lasso import FLOOR, PathError, Segment, lasso_path, least_penalised
from tessera.fit.models.samples import Samples
from tessera.fit.models.terms import monomials


class Mosmodel(RuntimeModel):
    """Learned: ``coefficients_`` of 1 and of the selected monomials.

    ``details_``: ``penalty`` and ``largest_penalty`` of the path (cycles), ``knots`` passed,
    ``constant_terms``; from the base class ``effective_n`` (distinct samples) and ``one_in_ten`` (ten of
    them per coefficient, intercept aside).

    Args:
        max_nonzero: most coefficients kept, the intercept aside (paper: 5).
        floor: where the path ends, as a share of its largest penalty.
    """

    name = "mosmodel"
    label = "Mosmodel"
    equation = "R = beta + at most 5 of the 19 monomials of degree <= 3 in H, M, C"
    source = "MICRO'20 section VII-C, equation (3)"
    cross_validated = True

    def __init__(self, max_nonzero: int = 5, floor: float = FLOOR):
        self.max_nonzero = max_nonzero
        self.floor = floor

    def fit_samples(self, samples: Samples) -> Mosmodel:
        if len(samples) < self.max_nonzero + 1:
            raise CannotFit(
                self.name,
                f"{self.max_nonzero + 1} coefficients but {len(samples)} samples",
                "add layouts; the one-in-ten rule asks for 10 samples per coefficient",
            )
        design = build(samples, monomials(3))
        segments, chosen = self._select(design, samples)
        return self._learn(
            self._coefficients(design, samples, chosen),
            penalty=float(chosen.lower) if chosen else None,
            largest_penalty=float(segments[0].upper) if segments else None,
            knots=len(segments),
            constant_terms=design.constant,
        )

    def _select(self, design: DesignMatrix, samples: Samples) -> tuple[list[Segment], Segment | None]:
        """The path, and its least-penalised stretch within the cap (None: the model is a constant)."""
        if np.ptp(samples.R) <= CONSTANT_TOLERANCE * samples.R.max():
            return [], None
        try:
            segments = lasso_path(design.columns, samples.R - samples.R.mean(), self.floor)
        except PathError as error:
            raise CannotFit(self.name, str(error), "please report these samples as a bug") from error
        return segments, least_penalised(segments, self.max_nonzero)

    def _coefficients(
        self, design: DesignMatrix, samples: Samples, chosen: Segment | None
    ) -> dict[str, float]:
        """Step 4."""
        return least_squares(self.name, design, samples, list(chosen.active) if chosen else [])
