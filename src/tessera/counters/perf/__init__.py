"""Readers of what ``perf stat`` writes: ``-x SEP`` and ``-j``, of perf 4.15 to 6.12.

From the bottom: :mod:`row` (one counted event), :mod:`separated` (``-x``), :mod:`json_lines` (``-j``),
:mod:`log` (a file of either), :mod:`names` (perf's names of events).
"""
