"""Where huge pages help a program most, and whether they did.

From the bottom: :mod:`server_load` (a server's load), :mod:`perf_script` (sampled addresses),
:mod:`perf_events` (what an event samples, what to record), :mod:`sample_weights` (samples to misses),
:mod:`profile` (what a profile is, and the choice of pages), :mod:`sampled_profile` and :mod:`simulation`
(ways to get a profile, and the proposal in the simulator), :mod:`before_and_after` (on this machine) and
:mod:`proposal`.
"""
