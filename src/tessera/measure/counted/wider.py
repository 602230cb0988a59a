"""What a plan was chosen from: every workload that was tried, with all its layouts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from tessera.bundles.model import Bundle, Workload
from tessera.layouts.model import Layout
from tessera.measure.counted import choice

Names = dict[str, list[str]]  #: workload -> names of layouts, in their order


@dataclass(frozen=True)
class Wider:
    """``seconds``: of a run of each workload. ``rounds``: the least number. ``spent``: minutes of trials."""

    seconds: Mapping[str, float]
    layouts: Mapping[tuple[str, str], Layout]
    passes: int
    rounds: int
    spent: float

    @property
    def everything(self) -> Names:
        found: Names = {}
        for workload, layout in self.layouts:
            found.setdefault(workload, []).append(layout)
        return found

    def fitting(self, minutes: float) -> Names:
        """What ``--minutes`` chooses; raises TesseraError as :func:`choice.fitting`."""
        left = minutes * choice.MARGIN - self.spent
        return choice.fitting(self.seconds, self.everything, self.passes, self.rounds, left, self.spent)

    def minutes_of(self, names: Names) -> int:
        """The least ``--minutes`` in which these layouts fit by time alone."""
        runs = {workload: (self.seconds[workload], len(found)) for workload, found in names.items()}
        needed = choice.seconds_of(runs, self.passes, self.rounds) / 60 + self.spent
        return math.ceil(needed / choice.MARGIN)

    def planned(self, bundle: Bundle, names: Names) -> Bundle:
        """``bundle`` as it would be with these layouts, without runs."""
        size = next(iter(bundle.workloads.values())).size
        known = {name: Workload(name, size, (), "", verified=True) for name in names}
        layouts = {(w, one): self.layouts[w, one] for w, found in names.items() for one in found}
        return replace(bundle, workloads=known | dict(bundle.workloads), layouts=layouts)
