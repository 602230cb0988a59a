"""The workloads: their files in ``config/workloads``, their sizes, and how each kind of them is run."""

from tessera.record.workloads.kinds import missing, prepare
from tessera.record.workloads.model import Size, Workload, load, names
from tessera.record.workloads.regime import Regime, regime
from tessera.record.workloads.run import Finished, Run
from tessera.record.workloads.tracing import count_region

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
