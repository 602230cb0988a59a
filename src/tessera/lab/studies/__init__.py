"""Studies of the simulator itself: errors of sampling, effects of mechanisms, effects of assumptions.

From the bottom: ``windows``, ``scenario_recording`` and ``placements`` (what is simulated), ``intervals``
(counts of parts of a window), ``variations`` and ``design_catalogue`` (platforms and designs) <
``sampling``, ``ablations``, ``sweep``, ``designs``, ``probes``, ``scenarios`` (a study each) <
``sentences`` (what the tables say). Start with ``sampling``. See docs/explain/studies.md.
"""
