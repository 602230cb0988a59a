"""The workloads: their files in ``config/workloads``, their sizes, and how each kind of them is run."""

from tessera.workloads.kinds import missing, prepare
from tessera.workloads.model import Size, Workload, load, names
from tessera.workloads.regime import Regime, regime
from tessera.workloads.run import Finished, Run

__all__ = ["Finished", "Regime", "Run", "Size", "Workload", "load", "missing", "names", "prepare", "regime"]
