"""OPERA's "energy follows runtime" on simulated cells, with the assumed constants of E8."""

from __future__ import annotations

from tessera.energy import cells, power, savings
from tessera.judge.claims.outcome import Missing, Outcome
from tessera.judge.claims.selection import select


def energy_over_runtime_saved(claim, evidence, how: str) -> Outcome:
    """Energy over runtime that 2MB pages save of the 4KB run, both as shares; constants as given."""
    constants = [power.read(power.default())]

    def ratio(pair) -> float:
        (row,) = _rows(evidence, pair, constants)
        if row["ratio_2mb"] is None:
            raise Missing(f"{pair}: 2MB pages do not change the runtime")
        return float(row["ratio_2mb"])

    return select(claim, evidence).each(ratio, how)


def fastest_needs_least(claim, evidence, slack: float) -> Outcome:
    """Share of pairs whose fastest mosaic has, under every set of constants, the least energy.

    Args:
        slack: energies within this fraction of the least count as the least.
    """
    constants = power.swept(power.read(power.default()))

    def always(pair) -> float:
        rows = _rows(evidence, pair, constants)
        return float(all(row["excess_of_fastest"] <= slack for row in rows))

    return select(claim, evidence).each(always, "mean")


def _rows(evidence, pair, constants: list) -> list[dict]:
    """:func:`tessera.energy.savings.pair_rows` of the pair's good cells."""
    frame = evidence.samples(pair).reset_index().assign(workload=pair.workload, platform=pair.platform)
    rows, name = cells.usable(frame), pair.platform
    found = []
    if len(rows):  # measured cells have no loads by level, and their platforms have no file
        hertz = {name: evidence.once(("frequency", name), lambda: cells.frequency_of(name))}
        found = savings.pair_rows(*pair, rows, constants, hertz)
    if not found:
        raise Missing(f"{pair}: no 4KB and 2MB cells with loads by level")
    return found


EVALUATORS = {
    "energy_over_runtime_saved": energy_over_runtime_saved,
    "fastest_needs_least": fastest_needs_least,
}
