"""Do the counters of this machine count what the table says? Opens events, counts known programs.

From the bottom: :mod:`opening` (perf_event_open, its errors in words, each event alone and each pass as a
whole), :mod:`known_programs` (what page faults and a pointer chase must count), and :mod:`examine` (all of
it).

Only the standard library is used, as in all of :mod:`tessera.machine.counters`.
"""
