"""Closed forms of the model of threads (:mod:`tessera.energy.closed_forms`) over many sets of parameters.

The equations are assumed (docs/energy.md), so these values decide rules of our own and contradict no paper.
"""

from __future__ import annotations

import numpy as np

from tessera.energy import closed_forms
from tessera.judge.claims.outcome import Outcome

ALGEBRA = "published"  #: provenance of values that need no run
_THREADS = np.unique(np.geomspace(1, 4096, 200).round())


def equivalent_threads(claim, evidence, threads, cache, other_cache) -> Outcome:
    """Threads on ``other_cache`` with as much cache for each as ``threads`` have on ``cache``."""
    numbers = (evidence.number(spec) for spec in (threads, cache, other_cache))
    return Outcome(closed_forms.equivalent_threads(*numbers), ALGEBRA)


def threads_elasticity_error(claim, evidence, sets: int, seed: int) -> Outcome:
    """Largest difference between the numeric elasticity and L/Power."""
    found = closed_forms.random_machines(sets, seed)
    return Outcome(max(closed_forms.elasticity_error(one, one.threads / 2) for one in found), ALGEBRA)


def threads_deepest_fall(claim, evidence, sets: int, seed: int, exponent: list) -> Outcome:
    """Largest fall of IPS without E5, with a in the range ``exponent``."""
    found = closed_forms.random_machines(sets, seed, locality_exponent=tuple(exponent))
    return Outcome(max(closed_forms.deepest_fall(one, _THREADS) for one in found), ALGEBRA)


def threads_speedup_per_thread(claim, evidence, sets: int, seed: int) -> Outcome:
    """Largest IPS(n) / (n IPS(1)) without sharing."""
    found = closed_forms.random_machines(sets, seed)
    return Outcome(max(closed_forms.most_speedup_per_thread(one, _THREADS) for one in found), ALGEBRA)


def threads_smallest_rise_of_misses(claim, evidence, sets: int, seed: int) -> Outcome:
    """Smallest relative change of the miss rate with more threads."""
    found = closed_forms.random_machines(sets, seed)
    return Outcome(min(closed_forms.smallest_rise_of_misses(one, _THREADS) for one in found), ALGEBRA)


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
    for machine in closed_forms.random_machines(sets, seed, **fixed):
        before = closed_forms.deepest_fall(machine, n)
        if not range_grows and closed_forms.deepest_fall(machine, wider) > before:
            continue  # one thread is already behind the peak, so the range begins inside the valley
        scaled = closed_forms.scaled(machine, factor)
        changes.append(closed_forms.deepest_fall(scaled, factor * n if range_grows else n) - before)
    return Outcome(max(changes, key=abs) if range_grows else max(changes), ALGEBRA)


EVALUATORS = {
    "equivalent_threads": equivalent_threads,
    "threads_elasticity_error": threads_elasticity_error,
    "threads_deepest_fall": threads_deepest_fall,
    "threads_speedup_per_thread": threads_speedup_per_thread,
    "threads_smallest_rise_of_misses": threads_smallest_rise_of_misses,
    "threads_depth_change": threads_depth_change,
}
