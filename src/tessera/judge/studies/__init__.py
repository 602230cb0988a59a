"""Studies of the simulator itself: errors of sampling, effects of mechanisms, effects of assumptions.

Bottom up: ``window`` (a part of a trace), ``layouts``, ``variants``
(a platform with some values changed) < ``units`` (counts by interval), ``blocks`` (basic-block vectors),
``shape`` (slope and curvature) < ``places`` (which intervals a method simulates), ``estimates``, ``points``
(what a sweep varies), ``xml_points``, ``conclusions`` < ``sampling``, ``ablations``, ``sweep``,
``xml_grid`` (one study each) <
``tables`` (what they wrote), ``words`` and ``hypotheses`` (what it says) < ``links`` < ``cli``. See
docs/studies.md.
"""
