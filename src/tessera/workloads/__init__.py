"""The benchmark programs of ``artifacts/workloads`` and their sizes in ``config/workloads``."""

from tessera.workloads.model import Size, Workload, load, names
from tessera.workloads.regime import Regime, regime

__all__ = ["Regime", "Size", "Workload", "load", "names", "regime"]
