"""Fit: runtime models, their errors, and predictions with an interval or a refusal.

- `models`: `base` says what a model is, `registry` lists them, a new one is one file
- `evaluation`: errors, protocols of cross validation, intervals
- `predict`: the answer for a new design: sources, levels, the one decision

Imports core and nothing between. Start with `models.anchors`, then `predict.decision`.
"""
