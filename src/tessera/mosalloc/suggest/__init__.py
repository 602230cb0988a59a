"""Where huge pages help a program most, and whether they did.

From the bottom: :mod:`load` (a server's load), :mod:`profile` (what a profile is), :mod:`choose` (pages to
windows), :mod:`estimate` (the interval of a sampled profile), :mod:`sampled`, :mod:`perf` and
:mod:`simulated` (ways to get a profile), :mod:`verify` (the proposal in the simulator), :mod:`trial` (before
and after on this machine), :mod:`printed` (the printed lines).
"""
