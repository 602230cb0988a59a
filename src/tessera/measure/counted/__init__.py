"""``./run measure``: workloads x layouts x passes in rounds, with this machine's counters, as a bundle.

From the bottom: :mod:`here` (machine and launcher), :mod:`cpuid` and :mod:`facts` (machine.json),
:mod:`request` (options), :mod:`rows` (workloads that can be measured), :mod:`counts`, :mod:`perf` (the second
counter), :mod:`launched` (one run, counted or timed), :mod:`layout_sets`, :mod:`plan` (what will be run, kept
for resuming), :mod:`choice` (``--minutes``), :mod:`wider` (what was left out), :mod:`stand_in` (made-up
counts), :mod:`heads` (files written before the first run), :mod:`setting` (what all runs share), :mod:`trial`
(one run of each workload), :mod:`turns` (the passes of a layout in a round), :mod:`rounds`, :mod:`conditions`
(what the runs say about the machine), :mod:`campaign` (all of it) and :mod:`summary`.

The order, the stopping rule and the failures are those of :mod:`tessera.measure.rounds`. The turns are also
those of real runs without counters (:mod:`tessera.measure.experiment`).
"""
