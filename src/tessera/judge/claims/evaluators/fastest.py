"""The fastest of the fitted layouts, and what the others lose against it (OPERA 2.5.3)."""

from __future__ import annotations

from tessera.judge.claims.evidence import Evidence
from tessera.judge.claims.outcome import Missing, Outcome
from tessera.judge.claims.selection import select
from tessera.layouts.names import ALL_1GB
from tessera.results.pair import Pair

RUNTIME = "runtime_cycles"


def _fastest(evidence: Evidence, pair: Pair) -> str:
    runtimes = evidence.samples(pair)[RUNTIME].drop(index=ALL_1GB, errors="ignore").dropna()
    if runtimes.empty:
        raise Missing(f"{pair}: no fitted layout has a runtime")
    return str(runtimes.idxmin())


def loss_against_fastest(claim, evidence, layout: str, how: str) -> Outcome:
    """By how much ``layout`` is slower than the fastest fitted layout, percent; below 0 it is faster."""

    def of(pair: Pair) -> float:
        best = evidence.cell(pair, _fastest(evidence, pair), RUNTIME)
        return 100 * (evidence.cell(pair, layout, RUNTIME) / best - 1)

    return select(claim, evidence).each(of, how)


def least_over_fastest(claim, evidence, column: str, how: str) -> Outcome:
    """``column`` of the fastest fitted layout over the smallest of any: 1 if it has the least."""

    def of(pair: Pair) -> float:
        counts = evidence.samples(pair)[column].drop(index=ALL_1GB, errors="ignore").dropna()
        if counts.empty or counts.min() == 0:
            raise Missing(f"{pair}: {column} is missing or zero for some layout, so there is no ratio")
        return float(evidence.cell(pair, _fastest(evidence, pair), column) / counts.min())

    return select(claim, evidence).each(of, how)


def layout_over_fastest(claim, evidence, column: str, layout: str, how: str) -> Outcome:
    """``column`` of ``layout`` over that of the fastest fitted layout: 1 if ``layout`` is the fastest."""

    def of(pair: Pair) -> float:
        best = evidence.cell(pair, _fastest(evidence, pair), column)
        if best == 0:
            raise Missing(f"{pair}: {column} of the fastest layout is zero, so there is no ratio")
        return evidence.cell(pair, layout, column) / best

    return select(claim, evidence).each(of, how)


EVALUATORS = {
    "loss_against_fastest": loss_against_fastest,
    "least_over_fastest": least_over_fastest,
    "layout_over_fastest": layout_over_fastest,
}
