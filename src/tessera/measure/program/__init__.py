"""``tessera measure -- PROGRAM``: TLB misses and walk cycles of a program, and what larger pages gain.

From the bottom: :mod:`started` (one run), :mod:`variants` (4KB pages, THP, hugetlb, a layout), :mod:`pairs`
(gains with intervals), :mod:`counts` (with a PMU: walks and misses), :mod:`slopes` (of other programs),
:mod:`mosaics` (samples for a model), :mod:`printed`. No bundle is written.
"""
