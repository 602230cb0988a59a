"""Scenarios: the machine, its memory and the policies of its operating system (docs/os.md).

From the bottom: :mod:`keys` (the table of keys), :mod:`model` (scenario files), :mod:`imitated` (a trace
under a scenario, and what its log says), :mod:`progress`, :mod:`faults` (a table of
the faults of several logs).
"""
