"""Errors of sampling on a program with two phases: blind samples are provably wrong, others right."""

import numpy as np
import pandas as pd
import pytest

from tessera.lab.studies import sampling
from tessera.lab.studies.intervals import QUANTITIES

N = 100


def counts(first: int = 60) -> pd.DataFrame:
    """Full simulation: with 4KB pages `first` intervals of 10 cycles, then 30; with 2MB pages always 10."""
    rows = []
    for layout, slow in (("growing-0", 30), ("growing-4", 20), ("growing-8", 10)):
        for unit in range(N):
            cycles = 10 if unit < first else slow
            rows.append(
                {"layout": layout, "unit": unit, "instructions": 10, "runtime_cycles": cycles,
                 "walk_cycles": cycles - 10, "stlb_misses": (cycles - 10) / 10}
            )  # fmt: skip
    return pd.DataFrame(rows)


def truth(full: pd.DataFrame) -> pd.DataFrame:
    return full.groupby("layout")[[*QUANTITIES.values(), "instructions"]].sum()


def errors(method: sampling.Places, full: pd.DataFrame) -> pd.DataFrame:
    rows = sampling.from_places(method, full, truth(full))
    return pd.DataFrame(rows).set_index(["quantity", "layout"])


def test_blind_sampling_misses_the_second_phase_and_with_it_the_whole_gain():
    # True R: 4KB 60 x 10 + 40 x 30 = 1800, 2MB 1000; the first ten intervals say 1000 for both.
    found = errors(sampling.blind(np.full(N, 10), 10, "first"), counts())
    assert found.loc[("R", "growing-0"), "truth"] == 1800
    assert found.loc[("R", "growing-0"), "estimate"] == pytest.approx(1000)
    assert found.loc[("R", "growing-0"), "error"] == pytest.approx(-800 / 1800)
    assert found.loc[("R", "growing-8"), "error"] == pytest.approx(0)
    assert found.loc[("R", "growing-8"), "true_difference"] == -800
    assert found.loc[("R", "growing-8"), "difference_error"] == pytest.approx(1)  # all of the gain
    assert found.loc[("R", "growing-4"), "difference_error"] == pytest.approx(0.5)
    assert found.loc[("C", "growing-8"), "difference_error"] == pytest.approx(1)


def test_blind_sampling_in_the_second_phase_doubles_the_gain():
    # Intervals 45 to 54 are all of the second phase when that begins at 40: 30 against 10 cycles.
    found = errors(sampling.blind(np.full(N, 10), 10, "middle"), counts(first=40))
    true_gain = 60 * 20
    assert found.loc[("R", "growing-8"), "difference_error"] == pytest.approx(-(2000 - true_gain) / true_gain)


@pytest.mark.parametrize("method", ["systematic", "clustered"])
def test_methods_that_see_both_phases_are_exact(method):
    vectors = np.eye(2)[np.repeat([0, 1], [60, 40])]
    chosen = {p.method: p for p in sampling.all_methods(vectors, np.full(N, 10), 10, seed=1)}[method]
    found = errors(chosen, counts())
    assert found["error"].dropna().abs().max() == pytest.approx(0, abs=1e-12)
    assert found["difference_error"].abs().max() == pytest.approx(0, abs=1e-12)


def test_a_rare_event_outside_the_parts_is_lost():
    full = counts()
    full.loc[(full["layout"] == "growing-8") & (full["unit"] == 3), "stlb_misses"] = 7
    chosen = sampling.systematic(np.full(N, 10), 10)
    assert errors(chosen, full).loc[("M", "growing-8"), "estimate"] == 0
    assert errors(chosen, full).loc[("M", "growing-8"), "error"] == -1


def test_plans_have_intervals_of_totals_and_of_differences():
    # Units of 10 instructions; 2MB pages save 6 and 8 cycles: 7 a unit, half-width 1 x t(1) = 12.7062.
    units = pd.DataFrame(
        [("growing-0", 0, 10, 20, 4), ("growing-0", 1, 10, 40, 8),
         ("growing-8", 0, 10, 14, 0), ("growing-8", 1, 10, 32, 0)],
        columns=["layout", "unit", "instructions", "runtime_cycles", "walk_cycles"],
    )  # fmt: skip
    whole = pd.DataFrame(
        {"runtime_cycles": [300.0, 230.0], "walk_cycles": [60.0, 0.0], "stlb_misses": [6, 0],
         "instructions": [100, 100]},
        index=pd.Index(["growing-0", "growing-8"], name="layout"),
    )  # fmt: skip
    found = pd.DataFrame(sampling.from_plan(units, whole, 500)).set_index(["quantity", "layout"])
    runtime = found.loc[("R", "growing-8")]
    assert runtime["warmup"] == "500 accesses" and runtime["timed_instructions"] == 20
    assert runtime["estimated_difference"] == pytest.approx(-70)
    assert runtime["difference_ci95"] == pytest.approx(5 * 2 * 12.7062047, rel=1e-6)
    assert runtime["difference_error"] == pytest.approx(0) and runtime["difference_covers"]
    assert found.loc[("C", "growing-8"), "covers"]  # 0 within 0 of 0
    assert (
        found.loc[("R", "growing-0"), "difference_covers"] is None
    )  # the base differs from itself by nothing
    assert "M" not in found.index.get_level_values(0)  # counted over everything, never estimated
