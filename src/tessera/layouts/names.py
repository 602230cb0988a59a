"""Names of the layouts that the method itself names; every other name is a heuristic's (docs/contracts.md).

Generation, parsing, results, models and figures share this module.
"""

from __future__ import annotations

ALL_4KB = "growing-0"  #: no window: the base of every difference
ALL_2MB = "growing-8"  #: 2MB pages wherever one fits
ALL_1GB = "1gb"  #: 1GB pages: the test point, never fitted

#: The page size that stands for each in figures and tables.
PAGE_SIZE_OF = {ALL_4KB: "4KB", ALL_2MB: "2MB", ALL_1GB: "1GB"}
