"""Events of processors' counters, and logs of ``perf stat``.

From the bottom: :mod:`event` (a row of ``pmu-events.csv``), :mod:`cpuid` (processors that a row is for),
:mod:`table` (the strict reader), :mod:`classes` (rows by class), :mod:`matching` and :mod:`passes` (which
events fit on the counters together), :mod:`command` (lines for ``perf stat``), :mod:`sysfs` (this machine's
PMUs), and :mod:`perf` (readers of logs).

Only the standard library is used: the doctor needs this package before anything is installed.
"""
