"""Where huge pages help a program most, and whether they did.

From the bottom: :mod:`load` (a server's load), :mod:`profile` (what a profile is), :mod:`perf` and
:mod:`simulated` (two ways to get one), :mod:`choose` (pages to windows), :mod:`verify` (the proposal in the
simulator), :mod:`trial` (before and after on this machine), :mod:`printed` (the printed lines).
"""
