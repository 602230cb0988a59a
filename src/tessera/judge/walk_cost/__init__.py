"""What a page walk costs before its first load: the evidence, the two ends, and claims that depend on it.

No source decides the value (``evidence.csv``). So the main job runs with the lower end,
``config/walk-cost.yaml`` with the upper one, and ``verdicts.csv`` has the verdicts of both. A claim whose
verdict differs between the ends depends on the walk's cost.
"""

from tessera.judge.walk_cost.ends import KEY, LOWER_CYCLES, UPPER_CYCLES
from tessera.judge.walk_cost.evidence import Source, deciding, sources
from tessera.judge.walk_cost.verdicts import DEPENDS_ON, Ends, committed, dependent

__all__ = [
    "DEPENDS_ON", "KEY", "LOWER_CYCLES", "UPPER_CYCLES", "Ends", "Source", "committed", "dependent",
    "deciding", "sources",
]  # fmt: skip
