"""Run programs of this machine under mosaics of page sizes (artifacts/mosalloc does the work)."""

from tessera.measure.mosalloc.launcher import command, run_under_layout
from tessera.measure.mosalloc.report import Report, WindowReport, read_report

__all__ = ["Report", "WindowReport", "command", "read_report", "run_under_layout"]
