"""Pointer chases, measured on this machine and simulated on its platform file, and steps of their latency.

``measured`` (what is chased, on this machine), ``latency_steps`` (time per access, and where it jumps),
``findings`` (splintering, coalescing, order), ``simulated`` (the same chases in the simulator),
``calibrate`` (this machine's platform file, corrected by what the chase measured), ``explain`` (all that
follows from the measurements).
"""
