"""The two ends of a walk's cost, in cycles. They were committed before any run with the upper one.

The rule: a source that may decide (``evidence.csv``) gives the value. Without one, two ends are run. The
lower end is 0, the default of the platforms. The upper end is the cost of a walk beside its loads in a chase
with nested paging, 29.0 - 7.3 cycles, rounded up: nested walks cost more than those of a bare machine. The
residues of the papers' own counters (7.4 and 16.6 cycles) are between the ends, and decide nothing.
"""

from __future__ import annotations

KEY = "walker.begin_cycles"
LOWER_CYCLES = 0
UPPER_CYCLES = 22
