"""Figures 1 and 3 of Virtuoso (ASPLOS 2025) for recorded programs (docs/faults.md).

From the bottom: :mod:`cells` (a log with and without the kernel's work), :mod:`step` (the table of a
program), :mod:`claims` (rules fixed before results), :mod:`judged` (verdicts).
"""
