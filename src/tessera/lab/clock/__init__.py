"""This machine's clock beside the simulated core: micro-benchmarks and programs, measured and simulated.

``marks`` (micro-benchmarks, and which half calibrates), ``measured`` (real programs, never used to
calibrate, and the table of what was measured), ``calibrate`` (keys of the core from the calibrating half),
``simulated`` (the same in the simulator, and all tables), ``errors``.
"""
