"""Do the counters of this machine count what the table says? Opens events, counts known programs.

From the bottom: :mod:`row` (a result), :mod:`kernel` (perf_event_open), :mod:`refusal` (its errors in
words), :mod:`opening` (each event alone), :mod:`schedule` (each pass as a whole), :mod:`software` (events
that need no PMU), :mod:`bounds` (what a pointer chase must count), :mod:`chase` (runs it), and
:mod:`examine` (all of it).

Only the standard library is used, as in all of :mod:`tessera.counters`.
"""
