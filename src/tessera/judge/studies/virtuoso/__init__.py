"""Figures 1 to 3, 11 and 12 of Virtuoso (ASPLOS 2025) for recorded programs (docs/faults.md).

From the bottom: :mod:`cells` (a log with and without the kernel's work), :mod:`latency` (of each fault),
:mod:`costs` (of the simulator itself), :mod:`step` (the tables of a program), :mod:`claims` (rules fixed
before results), :mod:`judged` (verdicts).
"""
