"""Addresses that hardware sampled, from the text of ``perf script``: where a program misses the TLB.

From the bottom: :mod:`tlb` (what a sample says about the TLB), :mod:`line` (one line), :mod:`script` (a
file), :mod:`kinds` (what an event samples), :mod:`weigh` (samples to misses), :mod:`place` (pools of the
recorded run), :mod:`plan` (what to record on a class of processors).
"""
