"""Studies of the simulator itself: errors of sampling, effects of mechanisms, effects of assumptions.

From the bottom: ``windows``, ``scenario_recording`` and ``placements`` (what is simulated), ``failures``
(why nothing is), ``intervals`` (counts of parts of a window), ``variations`` and ``design_catalogue``
(platforms and designs) <
``sampling``, ``ablations``, ``sweep``, ``designs``, ``probes``, ``scenarios`` (a study each) <
``entry_points`` (what rules and commands call), ``sentences`` (what the tables say). Start with
``entry_points``. See docs/studies.md.
"""
