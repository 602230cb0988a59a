"""Fit: runtime models, their errors, and predictions with an interval or a refusal.

- `models`: one file per model or small family; `registry` lists them, `base` says what a model is
- `evaluation`: protocols of cross-validation and the errors that they show
- `predict`: the answer for a new design: sources, levels, the one decision

Imports measure and what is below; it needs core only. Start with `models.anchors`, then `predict.decision`.
"""
