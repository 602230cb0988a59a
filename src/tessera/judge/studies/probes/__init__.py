"""Probes: single structures of Park's designs under accesses from a formula (docs/studies.md).

From the bottom: :mod:`case` (one simulation), :mod:`index_cache` (Figure 2.7b), :mod:`synonym_filter`
(Tables 2.1 and 2.2), :mod:`step` (the command's table). The structures are those of the simulator, inside
their designs; only accesses and mappings are made here.
"""
