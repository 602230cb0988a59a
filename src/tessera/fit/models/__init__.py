"""Runtime models: from (H, M, C) to a runtime, fitted per workload and platform (docs/models.md).

Bottom up: `terms` (monomials) and `samples` < `base` < `design`, `lasso` < one file per model <
`registry` < `accuracy`, `crossval`, `rsquared` < `tables`, `result` < `fitting` < `store`,
`collect`.
"""
