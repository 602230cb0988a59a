"""Which findings a planned measurement can decide, before its first run. The rules are those of the verdicts.

Made-up numbers stand in for the planned ones, in a folder that is removed. Models are fitted once, to one of
the pairs with enough layouts: what matters is that there are tables of models.
"""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from tessera.cli.pipeline.bundles import collect_fits, fit_measured, has_all_layouts
from tessera.core.errors import TesseraError
from tessera.core.results.tree import Tree
from tessera.measure.counted.plan import with_made_up_counts
from tessera.record import workloads
from tessera.report.machines.bundle_tree import write_tree
from tessera.report.machines.evaluate import WORKLOADS, Prospect, prospects

if TYPE_CHECKING:
    from tessera.measure.bundles.bundle import Bundle
    from tessera.measure.counted.plan import LayoutNames, PlanCandidates


MOST_TRIED = 12  #: sets of further workloads that are tried for a hint; each takes seconds


def planned_findings(planned: Bundle) -> list[Prospect]:
    """What a bundle without runs can decide once its layouts have run."""
    with tempfile.TemporaryDirectory(prefix="tessera-foretold-") as name:
        tree = Tree(Path(name))
        paths = write_tree([with_made_up_counts(planned)], tree.root, rehearsals=True)
        paths = [path for path in paths if has_all_layouts(path, lambda text: None)]
        if paths:
            fit_measured(paths[:1], tree, seed=1, orders=1)
            fitted = tree.all_models / paths[0].parent.name / paths[0].stem
            for path in paths[1:]:
                shutil.copytree(fitted, tree.all_models / path.parent.name / path.stem)
            collect_fits(paths, tree)
        return prospects(tree.root)


def decided(found: list[Prospect]) -> bool:
    """Whether there is a finding that is decided, whole or one way."""
    return any(one.way for one in found)


def smallest_minutes(bundle: Bundle, wider: PlanCandidates, more_than: float) -> int | None:
    """The least ``--minutes`` above ``more_than`` whose choice decides a finding; None if none does.

    A choice for more minutes has at least as many layouts of a workload, but for the rare case that a tier of
    a slower workload takes the place of another one. So the search halves the range.
    """
    known: dict[tuple, bool] = {}

    def decides(names: LayoutNames) -> bool:
        key = tuple((workload, *layouts) for workload, layouts in names.items())
        if key not in known:
            known[key] = decided(planned_findings(wider.planned(bundle, names)))
        return known[key]

    if not decides(wider.everything):
        return None
    low, high = int(more_than), max(int(more_than) + 1, wider.minutes_of(wider.everything))
    while high - low > 1:
        middle = (low + high) // 2
        try:
            enough = decides(wider.fitting(middle))
        except TesseraError:  # not even one workload fits
            enough = False
        low, high = (low, middle) if enough else (middle, high)
    return high


def workloads_that_help(bundle: Bundle, found: list[Prospect]) -> list[str]:
    """The fewest workloads that would make a finding decided if they were measured, too; empty if none."""
    known, layouts = set(workloads.names()), {name: one for (_, name), one in bundle.layouts.items()}
    lacking: set[tuple[str, ...]] = set()
    for one in found:
        if one.cause == WORKLOADS:
            missing = tuple(name for name in one.claim.scope.workloads if name not in bundle.workloads)
            lacking |= {missing, missing[:1]} if missing and known.issuperset(missing) else set()
    like = next(iter(bundle.workloads.values()))
    for missing in sorted(lacking, key=lambda names: (len(names), names))[:MOST_TRIED]:
        more = {(workload, name): layout for workload in missing for name, layout in layouts.items()}
        rows = dict(bundle.workloads) | dict.fromkeys(missing, like)
        if decided(planned_findings(replace(bundle, workloads=rows, layouts=bundle.layouts | more))):
            return list(missing)
    return []
