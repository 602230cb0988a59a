"""Verdicts of findings by machine: cells of two machines are never mixed in one number.

From the bottom: `groups` (which machines decide a claim together, what a part of a scope decides), `verdicts`
(all groups of a claim; processors of other classes), the module `evaluate` (all claims), and `bundle_tree`
(bundles as a results folder).
"""

from tessera.report.machines.evaluate import Judged, judge_machines, judge_results

__all__ = ["Judged", "judge_machines", "judge_results"]
