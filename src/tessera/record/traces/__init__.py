"""Traces: record, inspect, convert.

From the bottom: :mod:`header` (the header of a trace), :mod:`packed` (foreign files), :mod:`options` (what is
recorded), :mod:`guest` (QEMU's command line, where the program is and who starts it), :mod:`companion`
(servers and output), :mod:`failures` (why a program failed), :mod:`recording`, and :mod:`trace_tool`
(``tessera-trace``).
"""

from tessera.record.traces.companion import Switch
from tessera.record.traces.header import info, outside_note
from tessera.record.traces.recording import Counted, Recorded, count, record
from tessera.record.traces.trace_tool import cut, events, export_champsim, import_champsim, touches, verify

__all__ = [
    "Counted",
    "Recorded",
    "Switch",
    "count",
    "cut",
    "events",
    "export_champsim",
    "import_champsim",
    "info",
    "outside_note",
    "record",
    "touches",
    "verify",
]
