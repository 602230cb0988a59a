"""Runtime models: from (H, M, C) to a runtime, fitted per workload and platform (docs/explain/models.md).

Bottom up: `terms` (monomials) and `samples` < `base` < `design_matrix`, `lasso` < one file per model or small
family (`anchors`, `polynomials`, `mosmodel`, `gaussian_process`). `registry` lists them by name and imports
none of them. Start with `base` and `anchors`; docs/howto/add-a-model.md adds one.
"""
