"""Readers of what ``perf stat`` writes: ``-x SEP``, ``-j`` and the table for people, of perf 4.15 to 6.12.

From the bottom: :mod:`row` (text of logs, one counted event), :mod:`machine_readable` (``-x`` and ``-j``),
:mod:`printed_table` (for people), :mod:`log` (a file of any form that holds one run, with output of the
program), :mod:`event_names` (perf's names of events), and :mod:`ibs` (samples of AMD's processors).
"""
