"""Measure: programs that run for real, on real huge pages.

- `mosalloc`: a program under a layout; `suggest`: the huge pages that a program should have
- `counted`: campaigns with this processor's counters; `program`: a program of one's own
- `bundles`: what a machine measured, in files that can be sent: format, checks, cells from counts
- `hybrid_cells`: clock time of workloads under layouts

Imports simulate and what is below. Start with `mosalloc.launcher`, then `counted.campaign`.
"""
