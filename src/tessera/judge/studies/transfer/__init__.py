"""The study of transfer: is a runtime model of P right for a new design? (docs/transfer.md)

From the bottom: :mod:`classes` (variants of P), :mod:`plan` (units of a window), :mod:`declared` (what H and
C count), :mod:`twins` (R of P at the same H, M, C), :mod:`hull`, :mod:`fits` (models of P), :mod:`rules`,
:mod:`random_layouts` < :mod:`simulated` (the runs), :mod:`points`, :mod:`predictions`, :mod:`answered` (the
bracket), :mod:`twinned`, :mod:`ladder` < :mod:`study` (one workload), :mod:`coverage`, :mod:`openness`,
:mod:`verdicts`, :mod:`new_designs` < :mod:`step` (files of a workload, and of a run) < :mod:`archived`,
:mod:`sentences`, :mod:`own_design` < :mod:`answer` < :mod:`from_python`.
"""
