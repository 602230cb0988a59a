"""Conditions of a measurement with hardware counters: examine them, set them for a while, judge runs by them.

From the bottom: :mod:`condition` (a row of ``environment.csv``), :mod:`tree` (files below a root folder),
:mod:`rule` (what a condition is made from), :mod:`counting`, :mod:`pages`, :mod:`processor`, :mod:`tuning`,
:mod:`kernel` and :mod:`boot` (the rules), :mod:`examine` (all of them, and their table), :mod:`runs` (what
only runs can show), :mod:`guardian` and :mod:`fix` (change settings for the duration of a block).
"""

from tessera.machine.environment.condition import Condition, barring, stopping, worse_of
from tessera.machine.environment.examine import CHECKS, as_csv, examine
from tessera.machine.environment.fix import Plan, fixed, free_memory, plan
from tessera.machine.environment.rule import Needs
from tessera.machine.environment.runs import RUN_CHECKS, RunFacts, judge, judge_run, throttles

__all__ = [
    "CHECKS",
    "RUN_CHECKS",
    "Condition",
    "Needs",
    "Plan",
    "RunFacts",
    "as_csv",
    "barring",
    "examine",
    "fixed",
    "free_memory",
    "judge",
    "judge_run",
    "plan",
    "stopping",
    "throttles",
    "worse_of",
]
