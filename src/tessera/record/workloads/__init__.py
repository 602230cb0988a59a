"""The workloads: their files in ``config/workloads``, their sizes, and how each kind of them is run."""

from tessera.record.workloads.definition import Regime, Size, Workload, load, names, regime
from tessera.record.workloads.execution import count_region
from tessera.record.workloads.kinds import missing, prepare
from tessera.record.workloads.program_run import Finished, Run

__all__ = [
    "Finished",
    "Regime",
    "Run",
    "Size",
    "Workload",
    "count_region",
    "load",
    "missing",
    "names",
    "prepare",
    "regime",
]
