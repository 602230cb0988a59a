"""Traces: record, inspect, convert.

From the bottom: :mod:`header` (the header of a trace), :mod:`packed` (foreign files), :mod:`options` (what is
recorded), :mod:`guest` (QEMU's command line, where the program is and who starts it), :mod:`companion`
(servers and output), :mod:`failures` (why a program failed), :mod:`recording`, and :mod:`trace_tool`
(``tessera-trace``).
"""

from tessera.record.traces.companion import RecordingSwitch
from tessera.record.traces.header import outside_note, trace_info
from tessera.record.traces.recording import Recorded, RegionCounts, count_accesses, record_program
from tessera.record.traces.trace_tool import (
    cut,
    export_champsim,
    import_champsim,
    trace_events,
    verify_trace,
    write_touches,
)

__all__ = [
    "RegionCounts",
    "Recorded",
    "RecordingSwitch",
    "count_accesses",
    "cut",
    "trace_events",
    "export_champsim",
    "import_champsim",
    "trace_info",
    "outside_note",
    "record_program",
    "write_touches",
    "verify_trace",
]
