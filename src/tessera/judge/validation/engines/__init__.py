"""The engines against each other and against an independent LRU, over random traces, layouts and platforms.

:mod:`random_cases` makes them from a seed, :mod:`variants` bends platforms, :mod:`oracle` is a Python LRU
that shares nothing with the simulator, :mod:`compare` runs and compares, cell by cell and digit by digit.
"""
