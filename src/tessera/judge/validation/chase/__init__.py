"""Pointer chases, measured on this machine and simulated on its platform file, and steps of their latency.

:mod:`series` (what is chased), :mod:`measure` (on this machine), :mod:`latency` (time per access),
:mod:`steps` (where latency jumps), :mod:`findings` (splintering, coalescing, order), :mod:`simulate` (the
same chases in the simulator), :mod:`fit` and :mod:`calibrate` (this machine's platform file, corrected by
what the chase measured).
"""
