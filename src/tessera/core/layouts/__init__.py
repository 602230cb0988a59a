"""Layouts: mosaics of 4KB, 2MB and 1GB pages over the pools of a program (MICRO'20 V, VI-B)."""
