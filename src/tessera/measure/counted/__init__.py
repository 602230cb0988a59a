"""``./run measure``: workloads x layouts x passes in rounds, with this machine's counters, as a bundle.

From the bottom: :mod:`host` (machine, launcher and machine.json), :mod:`request` (options, and workloads
that can be measured), :mod:`perf_stat` (the second counter), :mod:`counted_run` (one run, counted or timed),
:mod:`layout_sets`, :mod:`plan` (what will be run, ``--minutes``), :mod:`setting` (what all runs share, files
written before the first run), :mod:`turns` (the passes of a layout in a round), :mod:`bundle_rounds` (with
what the runs say about the machine) and :mod:`campaign` (all of it).

The order, the stopping rule and the failures are those of :mod:`tessera.measure.rounds`. The turns are also
those of real runs without counters (:mod:`tessera.measure.hybrid_cells`).
"""
