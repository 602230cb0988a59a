"""The runtime of your own design: three lines from simulator output to cycles.

>>> from tessera.fit.predict import predict
>>> table = predict("cells.csv", "design.csv")  # doctest: +SKIP
>>> table[["design", "predicted_runtime_cycles", "low_cycles", "high_cycles"]]  # doctest: +SKIP

Bottom up: `design` (reads the points asked about), `hull` (how far outside the samples they lie) <
`prediction` < `budget` (where the error comes from) < `cli`.
"""

from tessera.fit.predict.budget import error_budget
from tessera.fit.predict.prediction import ExtrapolationWarning, predict

__all__ = ["ExtrapolationWarning", "error_budget", "predict"]
