"""``tessera measure -- PROGRAM``: TLB misses and walk cycles of a program, and what larger pages gain.

From the bottom: :mod:`single_run`, :mod:`gains` (4KB pages, THP, hugetlb, a layout; gains with intervals),
:mod:`hot_regions`, :mod:`walk_counts` (with a PMU: walks and misses) and :mod:`model_data` (samples for a
model, slopes of other programs). No bundle is written.
"""
