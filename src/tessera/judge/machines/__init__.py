"""Verdicts of findings by machine: cells of two machines are never mixed in one number.

From the bottom: :mod:`groups` (which machines decide a claim together), :mod:`parts` (what a part of a scope
decides), :mod:`verdicts` (all groups of a claim), :mod:`elsewhere` (processors of other classes),
:mod:`evaluate` (all claims), :mod:`prospects` (what a planned measurement can decide), and :mod:`tree`
(bundles as a results folder).
"""

from tessera.judge.machines.evaluate import Judged, evaluate, of_results

__all__ = ["Judged", "evaluate", "of_results"]
