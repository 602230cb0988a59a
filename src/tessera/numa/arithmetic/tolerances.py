"""Tolerances of the checks, by page size. They were chosen after a look at the archive.

So they say how well the archive obeys a rule, and they are no test of a prediction. 2MB rows of one placement
differ by up to a third between runs (HashJoin, TRP-RD), so no 2MB row is judged closer than 25%.
"""

from __future__ import annotations

#: relative deviation without interference
QUIET = {"4KB": 0.05, "2MB": 0.25}
#: relative deviation with interference
HOGGED = {"4KB": 0.11, "2MB": 0.25}
#: difference of two shares of 2MB pages
COVERAGE = 0.10
#: an implied wait is judged if remote tables raise C by this much; below it, n is noise
LEAST_EXTRA = {"4KB": 0.10, "2MB": 0.25}
