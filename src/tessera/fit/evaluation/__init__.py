"""How good a fitted model is: errors, cross validation, intervals, protocols, and the order of layouts.

From the bottom: `accuracy` (equations (1) and (2)), `cross_validation` (folds, shared fits), `intervals`;
`anchored` and `protocols` (which layouts are fitted and which are tested), `judgement` (their files, and
learning curves); `adaptive` (which layout to run next).
"""
