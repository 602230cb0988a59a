"""The workloads: their files in ``config/workloads``, their sizes, and how each kind of them is run.

From the bottom: :mod:`definition` (a file and its sizes), :mod:`program_run` (one run of any kind),
:mod:`server_load` (the load of servers), :mod:`kinds` (a size becomes a run), :mod:`prepared` (files that are
built once), :mod:`execution` (run it, or trace it).
"""

from tessera.record.workloads.definition import Regime, Size, Workload, load_workload, regime, workload_names
from tessera.record.workloads.execution import count_region
from tessera.record.workloads.kinds import missing, prepare
from tessera.record.workloads.program_run import Finished, ProgramRun

__all__ = [
    "Finished",
    "Regime",
    "ProgramRun",
    "Size",
    "Workload",
    "count_region",
    "load_workload",
    "missing",
    "workload_names",
    "prepare",
    "regime",
]
