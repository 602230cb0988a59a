"""This machine's clock beside the simulated core: micro-benchmarks and programs, measured and simulated.

:mod:`marks` (which micro-benchmarks there are, and which half calibrates), :mod:`native` (cycles on this
machine), :mod:`simulated` (the same marks and programs in the simulator), :mod:`calibrate` (keys of the core
from the calibrating half), :mod:`programs` (real programs, never used to calibrate), :mod:`run` (all of it).
"""
