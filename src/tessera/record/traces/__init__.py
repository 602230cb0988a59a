"""Traces: record, inspect, convert.

From the bottom: :mod:`header` (the header of a trace), :mod:`guest` (QEMU's command line), :mod:`sysroot`
(programs of this machine for the image), :mod:`options` (what is recorded), :mod:`place` (where the program
is and who starts it), :mod:`switch` and :mod:`companion` (servers), :mod:`passing` (output, shown and
kept), :mod:`windows` (parts of a region), :mod:`fixed` (names that make recordings repeat), :mod:`record`,
:mod:`count`, :mod:`convert`, :mod:`cut`, :mod:`events`, :mod:`touches` and :mod:`cli`.
"""

from tessera.record.traces.convert import export_champsim, import_champsim, verify
from tessera.record.traces.count import Counted, count
from tessera.record.traces.cut import cut
from tessera.record.traces.events import events
from tessera.record.traces.header import info, outside_note
from tessera.record.traces.record import Recorded, record
from tessera.record.traces.switch import Switch
from tessera.record.traces.touches import touches

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
