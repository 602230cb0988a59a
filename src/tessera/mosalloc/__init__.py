"""Run programs of this machine under mosaics of page sizes (artifacts/mosalloc does the work)."""

from tessera.mosalloc.report import Report, WindowReport, read_report
from tessera.mosalloc.runner import command, run_under_layout

__all__ = ["Report", "WindowReport", "command", "read_report", "run_under_layout"]
