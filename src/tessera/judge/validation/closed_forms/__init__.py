"""Streams whose H, M, C or R follow from a formula: the formula's value beside what the simulator prints.

:mod:`cases` holds one function per case, :mod:`run` simulates them and compares.
"""
