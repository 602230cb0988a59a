"""Steps are found where they were put, and nowhere else."""

import numpy as np
import pandas as pd
import pytest

from tessera.lab.chase import latency_steps
from tessera.lab.chase.measured import LINES, PAGES


def measurements(cost, *, rounds=6, noise=0.02, series="pages", footprints=PAGES, ghz=3.0, seed=4):
    """Rows of chase.csv for a series with translation cost ``cost(footprint)``, over flat 5-cycle lines."""
    random = np.random.default_rng(seed)
    rows = []
    for name, points, cycles in (
        (series, footprints, lambda n: 5 + cost(n)),
        ("lines", LINES, lambda n: 5.0),
    ):
        for number in range(rounds):
            for n in points:
                measured = cycles(n) * (1 + noise * random.exponential())
                rows.append((name, n, 1, number, 1000, measured / ghz * 1000, "measured"))
            rows.append((name, 0, 0, number, 3000, 1000, "measured"))
    columns = ["series", "elements", "chains", "round", "accesses", "ns", "provenance"]
    return pd.DataFrame(rows, columns=columns)


def two_levels(first, second):
    return lambda n: 0 if n <= first else 7 if n <= second else 50


@pytest.mark.parametrize("first, second", [(64, 1536), (96, 2048), (64, 512), (48, 3072)])
def test_finds_both_tlbs_between_the_footprints_around_them(first, second):
    found = latency_steps.steps_table(measurements(two_levels(first, second)), "measured", resamples=50)
    assert list(found["what"]) == ["L1 DTLB, 4KB pages", "STLB"]
    for row, size in zip(found.itertuples(), (first, second), strict=True):
        following = min(n for n in PAGES if n > size)
        assert size <= row.entries <= following
        assert row.low <= size and row.high >= following
    assert found["added_cycles"].tolist() == pytest.approx([7, 43], rel=0.1)
    assert (found["added_low"] <= found["added_cycles"]).all()
    assert (found["added_high"] >= found["added_cycles"]).all()


def test_a_flat_curve_has_no_step():
    assert latency_steps.steps_table(measurements(lambda n: 0), "measured", resamples=20).empty


def test_one_step_is_not_made_two():
    found = latency_steps.steps_table(measurements(lambda n: 7 if n > 96 else 0), "measured", resamples=20)
    assert found["step"].tolist() == [1]
    assert 96 <= found["entries"].iloc[0] <= 104


def test_a_step_smaller_than_two_cycles_is_none():
    assert latency_steps.find_steps(pd.Series([0.0] * 6 + [1.5] * 6, index=range(1, 13))) == []


def test_the_interval_covers_a_step_that_moves_between_rounds():
    """Five rounds step at 64 pages and four at 128: the interval must reach both."""
    early = measurements(lambda n: 20 if n > 64 else 0, rounds=5, seed=1)
    late = measurements(lambda n: 20 if n > 128 else 0, rounds=4, seed=2).assign(
        round=lambda t: t["round"] + 5
    )
    found = latency_steps.steps_table(pd.concat([early, late]), "measured", resamples=100).iloc[0]
    assert found["low"] <= 72 and found["high"] >= 128


def test_edges_are_the_best_of_all():
    """Dynamic programming against trying every pair of edges."""
    values = np.random.default_rng(3).normal(size=14).cumsum()

    def squares(*edges):
        parts = np.split(values, edges)
        return sum(((part - part.mean()) ** 2).sum() for part in parts)

    least = latency_steps.LEAST_POINTS
    pairs = [(a, b) for a in range(least, 14 - least) for b in range(a + least, 14 - least + 1)]
    assert latency_steps._best_edges(values, 2) == min(pairs, key=lambda pair: squares(*pair))
