"""Events of processors' counters.

From the bottom: :mod:`event` (a row of ``pmu-events.csv``, and the processors that it is for),
:mod:`event_table` (the strict reader; rows by class), :mod:`passes` (which events fit on the counters
together), :mod:`sysfs` (this machine's PMUs, and its energy counters), and :mod:`attributes` (passes for
perf_event_open). Logs of ``perf`` are read by :mod:`tessera.machine.perf`.

Only the standard library is used: the doctor needs this package before anything is installed.
"""
