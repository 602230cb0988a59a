"""Answers for a design, and formulas of papers beside them (docs/explain/predict.md).

Answers: `answers` < `bracket`, `calibrated` < `decision` (which source answers, at which level) < `processor`
(P: its samples, its clock) < `counts` (designs by their counts); the study of transfer adds designs that are
simulated, and ``tessera.predict`` asks all of them.

Formulas: `prediction` (at given points, and how far outside the samples these lie) < `budget` (where the
error comes from), `formula` (what may be printed). They are for tables in which they are compared with R:

>>> from tessera.fit.predict import predict_designs
>>> table = predict_designs("cells.csv", "design.csv")  # doctest: +SKIP
>>> table[["design", "predicted_runtime_cycles", "low_cycles", "high_cycles"]]  # doctest: +SKIP
"""

from tessera.fit.predict.budget import error_budget
from tessera.fit.predict.prediction import ExtrapolationWarning, predict_designs

__all__ = ["ExtrapolationWarning", "error_budget", "predict_designs"]
