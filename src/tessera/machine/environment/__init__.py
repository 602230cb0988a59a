"""Conditions of a measurement with hardware counters: examined, set for a while, and judged from its runs.

From the bottom: :mod:`condition` (files of the kernel, the parts of a rule, a row of ``environment.csv``),
the rules in :mod:`kernel`, :mod:`pages` and :mod:`processor`, :mod:`preparation` (examine all of them, change
settings for the duration of a block), :mod:`guardian` (its process), :mod:`runs` (what only runs can show).
"""

from tessera.machine.environment.condition import Condition, Needs, barring, stopping, worse_of
from tessera.machine.environment.preparation import (
    CHECKS,
    MachineChanges,
    as_csv,
    examine_conditions,
    fixed,
    free_memory,
    plan_changes,
)
from tessera.machine.environment.runs import RUN_CHECKS, RunFacts, run_conditions, throttles

__all__ = [
    "CHECKS",
    "RUN_CHECKS",
    "Condition",
    "Needs",
    "MachineChanges",
    "RunFacts",
    "as_csv",
    "barring",
    "examine_conditions",
    "fixed",
    "free_memory",
    "run_conditions",
    "plan_changes",
    "stopping",
    "throttles",
    "worse_of",
]
