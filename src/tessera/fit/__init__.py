"""Fit: runtime models, their errors, and predictions with an interval or a refusal.

- `models`: `base` says what a model is, `registry` lists them, a new one is one file
- `evaluation`: errors, protocols of cross validation, intervals
- `fitting` fits and judges all models on one table; `fit_folder` is the folder that it writes, and
  `collected_fits` joins several
- `predict`: the answer for a new design: sources, levels, the one decision
- `sklearn_versions`: Mosmodel under several versions of scikit-learn

Imports core and nothing between. Start with `models.anchors`, then `predict.decision`.
"""
