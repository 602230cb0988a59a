"""Order, stopping rule and failures of the rounds, with invented runs."""

from __future__ import annotations

import random

import pytest

from tessera.core.layouts.layout import ALL_4KB
from tessera.measure.hybrid_cells import LoggedRun
from tessera.measure.rounds import StoppingRule, relative_runtime, run_rounds

LAYOUTS = [ALL_4KB, "growing-4", "growing-8"]
SPEED = {ALL_4KB: 1.0, "growing-4": 0.95, "growing-8": 0.9}


class Machine:
    """Runs whose time is a layout's speed times the drift of the round times a little noise."""

    def __init__(self, noise=0.001, drift=0.5, broken=()):
        self.noise, self.drift, self.broken = noise, drift, broken
        self.random = random.Random(7)
        self.order = []

    def __call__(self, layout, number):
        self.order.append((number, layout))
        if layout in self.broken:
            return LoggedRun("k", "w", layout, number, "failed", "it broke", None)
        slow = 1 + self.drift * (number % 3)
        exact = 1e9 * SPEED[layout] * slow * (1 + self.random.gauss(0, self.noise))
        return LoggedRun("k", "w", layout, number, "ok", "", int(exact))


def counts(runs):
    return {layout: sum(r.layout == layout for r in runs) for layout in LAYOUTS}


def test_every_round_runs_every_layout_once_in_changing_order():
    machine = Machine(noise=0)
    run_rounds(LAYOUTS, [], machine, StoppingRule(min_repeats=8), seed=1)
    rounds = [[name for n, name in machine.order if n == number] for number in range(8)]
    assert all(sorted(r) == sorted(LAYOUTS) for r in rounds)
    assert len({tuple(r) for r in rounds}) > 1


def test_the_order_depends_on_the_seed_only():
    def order(seed):
        machine = Machine()
        run_rounds(LAYOUTS, [], machine, StoppingRule(max_repeats=4, min_repeats=4), seed)
        return machine.order

    assert order(1) == order(1)
    assert order(1) != order(2)


def test_stops_at_the_least_count_when_differences_are_exact_though_rounds_drift():
    runs = run_rounds(LAYOUTS, [], Machine(noise=0), StoppingRule(min_repeats=5, max_repeats=50), seed=1)
    assert set(counts(runs).values()) == {5}
    assert relative_runtime(runs, "growing-8").value == pytest.approx(0.9, rel=1e-6)


def test_goes_on_until_every_difference_is_known():
    rule = StoppingRule(half_width=0.005, min_repeats=3, max_repeats=200)
    runs = run_rounds(LAYOUTS, [], Machine(noise=0.01), rule, seed=1)
    assert 3 < counts(runs)["growing-8"] < 200
    assert all(relative_runtime(runs, layout).half_width <= 0.005 for layout in LAYOUTS[1:])


def test_stops_at_the_cap():
    runs = run_rounds(LAYOUTS, [], Machine(noise=0.2), StoppingRule(max_repeats=6), seed=1)
    assert set(counts(runs).values()) == {6}


def test_a_cap_below_the_least_count_holds():
    runs = run_rounds(LAYOUTS, [], Machine(noise=0.2), StoppingRule(min_repeats=5, max_repeats=2), seed=1)
    assert set(counts(runs).values()) == {2}


@pytest.mark.parametrize("broken", ["growing-4", ALL_4KB])
def test_a_failing_layout_is_left_out_and_the_others_go_on(broken):
    machine = Machine(noise=0, drift=0, broken=(broken,))
    runs = run_rounds(LAYOUTS, [], machine, StoppingRule(min_repeats=5), seed=1)
    found = counts(runs)
    assert found.pop(broken) == 1
    assert set(found.values()) == {5}


def test_all_failing_ends():
    runs = run_rounds(LAYOUTS, [], Machine(broken=tuple(LAYOUTS)), StoppingRule(), seed=1)
    assert set(counts(runs).values()) == {1}


def test_earlier_runs_count_and_their_round_is_not_continued():
    earlier = run_rounds(LAYOUTS, [], Machine(noise=0), StoppingRule(min_repeats=4, max_repeats=4), seed=1)
    cut = earlier[:-1]  # killed before the last run of round 3
    machine = Machine(noise=0)
    runs = run_rounds(LAYOUTS, cut, machine, StoppingRule(min_repeats=5, max_repeats=9), seed=1)
    assert {number for number, _ in machine.order} <= {4, 5}
    assert min(counts(runs).values()) == 5


@pytest.mark.parametrize("cut", [1, 2, 3])
def test_the_last_round_is_finished_if_asked(cut):
    """Rounds 0 to 3 were run, the last one without its last runs: they are run first, in the same order."""
    whole = Machine(noise=0)
    runs = run_rounds(LAYOUTS, [], whole, StoppingRule(min_repeats=4, max_repeats=4), seed=1)
    machine = Machine(noise=0)
    rule = StoppingRule(min_repeats=5, max_repeats=5)
    done = run_rounds(LAYOUTS, runs[:-cut], machine, rule, seed=1, begun=3)
    assert machine.order[:cut] == whole.order[-cut:]
    assert sorted((r.round, r.layout) for r in done) == sorted((n, x) for n in range(5) for x in LAYOUTS)


def test_a_cut_round_is_finished_although_all_differences_are_known():
    runs = run_rounds(LAYOUTS, [], Machine(noise=0), StoppingRule(min_repeats=6, max_repeats=6), seed=1)
    machine = Machine(noise=0)
    run_rounds(LAYOUTS, runs[:-1], machine, StoppingRule(min_repeats=4), seed=1, begun=5)
    assert machine.order == [(5, runs[-1].layout)]


@pytest.mark.parametrize("cut", [1, 2, 3])
def test_a_cut_round_is_finished_although_the_time_is_up(cut):
    """No further round starts. With all three cut, only a pass of a turn was run in round 3."""
    runs = run_rounds(LAYOUTS, [], Machine(noise=0.2), StoppingRule(min_repeats=4, max_repeats=4), seed=1)
    machine, now = Machine(noise=0.2), iter(range(0, 1000, 10))
    rule = StoppingRule(max_repeats=50, max_minutes=0)
    done = run_rounds(LAYOUTS, runs[:-cut], machine, rule, seed=1, clock=lambda: next(now), begun=3)
    assert {number for number, _ in machine.order} == {3} and len(done) == 4 * len(LAYOUTS)


def test_no_round_starts_after_the_time_is_up_but_the_first_is_run():
    now = iter(range(0, 100000, 100))  # 100 s between looks at the clock
    rule = StoppingRule(max_repeats=50, max_minutes=1)
    runs = run_rounds(LAYOUTS, [], Machine(noise=0.2), rule, seed=1, clock=lambda: next(now))
    assert set(counts(runs).values()) == {1}
