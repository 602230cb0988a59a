"""One measured row, its verdict, and the table in text, CSV and JSON."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

from scipy import stats

from tessera.allocator_proof.bench.rows import Row
from tessera.core.files import write_text, writing
from tessera.core.stats.interval import CONFIDENCE
from tessera.core.tables import table_text


def median_interval(values: Sequence[float], confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Interval of the median from order statistics: no assumption on how the noise is distributed.

    The k-th smallest and k-th largest value enclose the median unless fewer than k of n values fall on one
    side, whose probability is binomial. Too few values for this confidence give an infinite interval.
    """
    ordered, count = sorted(values), len(values)
    rank = int(stats.binom.ppf((1 - confidence) / 2, count, 0.5))
    if rank < 1:
        return -math.inf, math.inf
    return ordered[rank - 1], ordered[count - rank]


@dataclass(frozen=True)
class Result:
    """``value``: median over the pairs of the ratio, or of the difference in the row's unit."""

    row: str
    unit: str
    kind: str
    plain: float | None
    library: float | None
    value: float | None
    low: float | None
    high: float | None
    bound: float | None
    pairs: int
    verdict: str
    reason: str = ""

    @classmethod
    def skipped(cls, row: Row, reason: str) -> Result:
        """A row that could not be measured, with the reason."""
        kind = "difference" if row.difference else "ratio"
        return cls(row.name, row.unit, kind, None, None, None, None, None, row.bound, 0, "SKIP", reason)

    @classmethod
    def of_pairs(cls, row: Row, pairs: Sequence[tuple[float, float]]) -> Result:
        """From (without, with the library) of each pair; ``plain`` and ``library`` are the lowest seen."""
        each = [ours - plain if row.difference else ours / plain for plain, ours in pairs]
        value, (low, high) = median(each), median_interval(each)
        verdict = "-" if row.bound is None else "PASS" if value <= row.bound else "FAIL"
        return cls(
            row=row.name,
            unit=row.unit,
            kind="difference" if row.difference else "ratio",
            plain=min(plain for plain, _ in pairs),
            library=min(ours for _, ours in pairs),
            value=value,
            low=low if math.isfinite(low) else None,
            high=high if math.isfinite(high) else None,
            bound=row.bound,
            pairs=len(pairs),
            verdict=verdict,
        )


def _number(value: float | None, kind: str) -> str:
    if value is None:
        return "-"
    return f"{value:.3f}" if kind == "ratio" else f"{value:,.0f}"


def format_table(results: Iterable[Result]) -> str:
    """The table for people; each row's numbers are in its own unit."""
    head = ("row", "unit", "plain", "library", "ratio/diff", "95% interval", "bound", "verdict")
    rows = []
    for r in results:
        interval = f"{_number(r.low, r.kind)}..{_number(r.high, r.kind)}" if r.pairs else r.reason
        plain, library = (
            _number(x, "ns") if x is None or x > 1000 else f"{x:.1f}" for x in (r.plain, r.library)
        )
        bound = "-" if r.bound is None else "<= " + _number(r.bound, r.kind)
        rows.append((r.row, r.unit, plain, library, _number(r.value, r.kind), interval, bound, r.verdict))
    return table_text(head, rows)


def write_results(results: Sequence[Result], path: Path) -> None:
    """Write ``path`` as JSON or, by its ending, CSV."""
    rows = [asdict(result) for result in results]
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".csv":
        with writing(path) as file:
            writer = csv.DictWriter(file, fieldnames=list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    else:
        write_text(path, json.dumps(rows, indent=2) + "\n")
