"""Threads and energy (OPERA D5.10 chapters 1 and 3): the model of Guz et al., energy of cells, sweeps of
L3, RAPL.

From bottom to top: ``leaves`` (files whose values have sources), ``machines``, ``power``; ``guz``
(equations E1 to E7) and ``closed_forms``; ``cells`` (E8, E9), ``savings`` and ``sentences``; ``locality``
and ``sweep`` (hit rates by size of L3); ``meter``, ``measure`` and ``fitted`` (runs on a machine).
docs/energy.md has the equations.
"""
