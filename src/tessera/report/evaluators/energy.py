"""Energy of simulated cells with the assumed constants of E8, and closed forms of the model of threads."""

from __future__ import annotations

import numpy as np

from tessera.lab.energy import cell_energy, guz_model, power
from tessera.report.claims.claim import Missing, Outcome
from tessera.report.claims.registry import evaluator
from tessera.report.claims.selection import deciding_pairs

# OPERA's "energy follows runtime" on simulated cells, with the assumed constants of E8.


@evaluator
def energy_over_runtime_saved(claim, evidence, how: str) -> Outcome:
    """Energy over runtime that 2MB pages save of the 4KB run, both as shares; constants as given."""
    constants = [power.read_power(power.default_power_file())]

    def ratio(pair) -> float:
        (row,) = _energy_rows(evidence, pair, constants)
        if row["ratio_2mb"] is None:
            raise Missing(f"{pair}: 2MB pages do not change the runtime")
        return float(row["ratio_2mb"])

    return deciding_pairs(claim, evidence).each(ratio, how)


@evaluator
def fastest_needs_least(claim, evidence, slack: float) -> Outcome:
    """Share of pairs whose fastest mosaic has, under every set of constants, the least energy.

    Args:
        slack: energies within this fraction of the least count as the least.
    """
    constants = power.swept_power(power.read_power(power.default_power_file()))

    def always(pair) -> float:
        rows = _energy_rows(evidence, pair, constants)
        return float(all(row["excess_of_fastest"] <= slack for row in rows))

    return deciding_pairs(claim, evidence).each(always, "mean")


def _energy_rows(evidence, pair, constants: list) -> list[dict]:
    """:func:`tessera.lab.energy.cell_energy.pair_rows` of the pair's good cells."""
    frame = evidence.samples(pair).reset_index().assign(workload=pair.workload, platform=pair.platform)
    rows, name = cell_energy.usable_cells(frame), pair.platform
    found = []
    if len(rows):  # measured cells have no loads by level, and their platforms have no file
        hertz = {name: evidence.once(("frequency", name), lambda: cell_energy.frequency_of(name))}
        found = cell_energy.pair_rows(*pair, rows, constants, hertz)
    if not found:
        raise Missing(f"{pair}: no 4KB and 2MB cells with loads by level")
    return found


# Closed forms of the model of threads (:mod:`tessera.lab.energy.guz_model`) over many sets of parameters.
#
# The equations are assumed (docs/explain/energy.md), so these values decide rules of our own and contradict
# no paper.

ALGEBRA = "published"  #: provenance of values that need no run
_THREADS = np.unique(np.geomspace(1, 4096, 200).round())


@evaluator
def equivalent_threads(claim, evidence, threads, cache, other_cache) -> Outcome:
    """Threads on ``other_cache`` with as much cache for each as ``threads`` have on ``cache``."""
    numbers = (evidence.number(spec) for spec in (threads, cache, other_cache))
    return Outcome(guz_model.equivalent_threads(*numbers), ALGEBRA)


@evaluator
def threads_elasticity_error(claim, evidence, sets: int, seed: int) -> Outcome:
    """Largest difference between the numeric elasticity and L/Power."""
    found = guz_model.random_machines(sets, seed)
    return Outcome(max(guz_model.elasticity_error(one, one.threads / 2) for one in found), ALGEBRA)


@evaluator
def threads_deepest_fall(claim, evidence, sets: int, seed: int, exponent: list) -> Outcome:
    """Largest fall of IPS without E5, with a in the range ``exponent``."""
    found = guz_model.random_machines(sets, seed, locality_exponent=tuple(exponent))
    return Outcome(max(guz_model.deepest_fall(one, _THREADS) for one in found), ALGEBRA)


@evaluator
def threads_speedup_per_thread(claim, evidence, sets: int, seed: int) -> Outcome:
    """Largest IPS(n) / (n IPS(1)) without sharing."""
    found = guz_model.random_machines(sets, seed)
    return Outcome(max(guz_model.most_speedup_per_thread(one, _THREADS) for one in found), ALGEBRA)


@evaluator
def threads_smallest_rise_of_misses(claim, evidence, sets: int, seed: int) -> Outcome:
    """Smallest relative change of the miss rate with more threads."""
    found = guz_model.random_machines(sets, seed)
    return Outcome(min(guz_model.smallest_rise_of_misses(one, _THREADS) for one in found), ALGEBRA)


@evaluator
def threads_depth_change(
    claim, evidence, sets: int, seed: int, threads: int, factor: float, range_grows: bool
) -> Outcome:
    """Largest change of the valley's depth with a cache ``factor`` times as large.

    Args:
        threads: end of the range, from one thread.
        range_grows: the range is ``factor`` times as large, too, and the sets have cores that are never all
            used. Otherwise only sets count whose valley begins at one thread or more with the smaller cache.
    """
    fixed = {"cores": (1e6, 1e7)} if range_grows else {}
    n = np.unique(np.geomspace(1, threads, 2000))
    wider = np.concatenate([np.geomspace(1 / factor, 1, 200, endpoint=False), n])
    changes = []
    for machine in guz_model.random_machines(sets, seed, **fixed):
        before = guz_model.deepest_fall(machine, n)
        if not range_grows and guz_model.deepest_fall(machine, wider) > before:
            continue  # one thread is already behind the peak, so the range begins inside the valley
        scaled = guz_model.scaled_cache(machine, factor)
        changes.append(guz_model.deepest_fall(scaled, factor * n if range_grows else n) - before)
    return Outcome(max(changes, key=abs) if range_grows else max(changes), ALGEBRA)
