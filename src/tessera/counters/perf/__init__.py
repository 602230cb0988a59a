"""Readers of what ``perf stat`` writes: ``-x SEP``, ``-j`` and the table for people, of perf 4.15 to 6.12.

From the bottom: :mod:`row` (one counted event), :mod:`text` (encodings and lines), :mod:`separated` (``-x``),
:mod:`json_lines` (``-j``), :mod:`table` (for people), :mod:`runs` (one run and no other),
:mod:`log` (a file of any form, with output of the program), :mod:`names` (perf's names of events).
"""
