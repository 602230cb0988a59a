"""Runtime models: from (H, M, C) to a runtime, fitted per workload and platform (docs/models.md).

Bottom up: `terms` (monomials) and `samples` < `base` < `design`, `lasso` < one file per model <
`registry` < `accuracy`, `crossval`, `rsquared` < `tables`, `result` < `fitting` < `store`,
`collect` < `cli`.
"""

from tessera.fit.models.collect import collect
from tessera.fit.models.fitting import fit_all
from tessera.fit.models.registry import MODELS, create
from tessera.fit.models.result import FitResult
from tessera.fit.models.samples import Samples, check_table, read_table
from tessera.fit.models.tables import TABLES

__all__ = [
    "MODELS", "TABLES", "FitResult", "Samples",
    "check_table", "collect", "create", "fit_all", "read_table",
]  # fmt: skip
