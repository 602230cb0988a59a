"""Runtimes of layouts against each other: what large pages gain, and when fewer gain more."""

from __future__ import annotations

from tessera.judge import fewer_pages
from tessera.judge.claims.evidence import Evidence
from tessera.judge.claims.outcome import Missing, Outcome
from tessera.judge.claims.selection import aggregate, select
from tessera.layouts.names import ALL_4KB
from tessera.results.pair import Pair

RUNTIME = "runtime_cycles"


def gain_percent(evidence: Evidence, pair: Pair, layout: str) -> float:
    """Runtime that ``layout`` saves against all-4KB, percent of the latter."""
    return 100 * (1 - evidence.cell(pair, layout, RUNTIME) / evidence.cell(pair, ALL_4KB, RUNTIME))


def sensitivity(claim, evidence, layout: str, how: str) -> Outcome:
    """Change of runtime against all-4KB, percent, either sign."""
    return select(claim, evidence, insensitive=True).each(
        lambda p: abs(gain_percent(evidence, p, layout)), how
    )


def gain(claim, evidence, layout: str, how: str) -> Outcome:
    """Runtime that ``layout`` saves against all-4KB, percent; below 0 it costs."""
    return select(claim, evidence).each(lambda p: gain_percent(evidence, p, layout), how)


def sensitivity_ratio(claim, evidence, layout: str, platform: str, base: str) -> Outcome:
    """Median gain on one generation over the median gain on another."""
    selection = select(claim, evidence, insensitive=True)
    medians = {
        name: aggregate(
            [gain_percent(evidence, p, layout) for p in selection.pairs if p.generation == name],
            "median",
        )
        for name in (platform, base)
    }
    if medians[base] <= 0:
        raise Missing(f"{layout} gains nothing on {base}, so there is no ratio")
    return selection.outcome(medians[platform] / medians[base])


def pairs_with_similar_runtime(claim, evidence, layout: str, base: str, within_percent) -> Outcome:
    """Share of pairs whose two runtimes differ by at most so many percent of ``base``'s."""
    selection = select(claim, evidence)
    bound = evidence.number(within_percent)
    similar = [
        100 * abs(evidence.cell(p, layout, RUNTIME) / evidence.cell(p, base, RUNTIME) - 1) <= bound
        for p in selection.pairs
    ]
    return selection.outcome(100 * sum(similar) / len(similar))


def loss_of_all_large_pages(claim, evidence, layout: str, how: str) -> Outcome:
    """By how much ``layout`` is slower than the fastest layout with fewer 2MB pages, percent."""

    def of(pair: Pair) -> float:
        pages = evidence.manifest(pair)["pages_2mb"]
        if layout not in pages.index:
            raise Missing(f"{pair}: layout {layout} is not in the manifest")
        evidence.cell(pair, layout, RUNTIME)
        found = fewer_pages.loss(evidence.samples(pair)[RUNTIME], pages, layout)
        if found is None:
            raise Missing(f"{pair}: no layout with fewer 2MB pages ran")
        return 100 * found.loss

    return select(claim, evidence).each(of, how)


EVALUATORS = {
    "gain": gain,
    "sensitivity": sensitivity,
    "sensitivity_ratio": sensitivity_ratio,
    "pairs_with_similar_runtime": pairs_with_similar_runtime,
    "loss_of_all_large_pages": loss_of_all_large_pages,
}
