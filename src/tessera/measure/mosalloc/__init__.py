"""Run programs of this machine under mosaics of page sizes (artifacts/mosalloc does the work).

- :mod:`launcher`: start here; :mod:`report` and :mod:`analysis` read what a run leaves
- :mod:`memory_needs`: the memory and the huge pages that a program needs
- :mod:`capture`: the mapping of a running program, from :mod:`stopping` (with :mod:`ptrace`) and :mod:`pools`
- :mod:`capture_matrix`: captures under fragmented memory and co-runners (:mod:`background`)

Launcher and report use the standard library only, also what this file imports: the programs of
:mod:`tessera.lab.allocator_proof` run in an image that has nothing else.
"""

from tessera.measure.mosalloc.launcher import mosalloc_command, run_under_layout
from tessera.measure.mosalloc.report import Report, WindowReport, read_report

__all__ = ["Report", "WindowReport", "mosalloc_command", "read_report", "run_under_layout"]
