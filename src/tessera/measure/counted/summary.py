"""What a finished measurement tells its user: R of each layout, and its precision."""

from __future__ import annotations

import statistics
from collections.abc import Iterator

from tessera.bundles.model import Bundle
from tessera.bundles.numbers import R
from tessera.layouts.names import ALL_4KB
from tessera.measure.counted.turns import Turn, finished
from tessera.measure.rounds import difference

#: Largest standard deviation of R over its mean (MICRO'20 section VI).
LARGEST_SD = 0.05
HEADS = ("workload", "layout", "rounds", f"{R} (mean)", f"R / R of {ALL_4KB}", "95% half-width", "sd/mean")


def rows(bundle: Bundle) -> Iterator[tuple[str, ...]]:
    """A row of text for each workload and layout; a failed one has its message."""
    passes = bundle.passes()
    for workload in bundle.workloads:
        turns = finished(bundle.runs, bundle.counts, passes, workload)
        bad = {run.layout: run for run in bundle.runs if run.workload == workload and not run.good}
        for name in (layout for one, layout in bundle.layouts if one == workload):
            if name in bad:
                yield workload, name, "-", f"{bad[name].status}: {bad[name].message}", "-", "-", "-"
            else:
                yield (workload, name, *_numbers(turns, name))


def _numbers(turns: list[Turn], layout: str) -> tuple[str, ...]:
    values = [turn.runtime for turn in turns if turn.layout == layout]
    ratio = difference(turns, layout)
    shown = ("-", "-") if ratio is None else (f"{ratio.value:.4f}", f"{ratio.half_width:.2%}")
    return str(len(values)), f"{statistics.fmean(values):.4g}", *shown, spread(values)


def spread(values: list[float]) -> str:
    """Standard deviation over mean, marked if it exceeds the paper's 5%."""
    if len(values) < 2:
        return "-"
    share = statistics.stdev(values) / statistics.fmean(values)
    return f"{share:.2%}" + (f" (above {LARGEST_SD:.0%})" if share > LARGEST_SD else "")
