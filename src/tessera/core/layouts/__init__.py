"""Layouts: mosaics of 4KB, 2MB and 1GB pages over the pools of a program (MICRO'20 V, VI-B).

Start with :mod:`layout` (a layout, its name and its file). :mod:`layout_format` has the grammar of the file
and the reasons to refuse one; :mod:`generation` makes the 54 + 1 layouts of a workload on a platform.
"""
