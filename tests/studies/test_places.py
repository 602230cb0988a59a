"""Which intervals each method picks, on programs with phases."""

import numpy as np
import pytest

from tessera.lab.studies import sampling

N = 100
ONES = np.ones(N)


def phases(*lengths: int) -> np.ndarray:
    """Block vectors (n, phases): phase p executes block p only."""
    kinds = np.repeat(np.arange(len(lengths)), lengths)
    return np.eye(len(lengths))[kinds]


def test_systematic_takes_the_middles_of_equal_stretches():
    assert sampling.systematic(ONES, 4).intervals.tolist() == [12, 37, 62, 87]


def test_blind_is_contiguous():
    assert sampling.blind(ONES, 4, "first").intervals.tolist() == [0, 1, 2, 3]
    assert sampling.blind(ONES, 4, "middle").intervals.tolist() == [48, 49, 50, 51]


def test_clusters_are_the_phases_and_weigh_what_they_execute():
    found = sampling.clustered(phases(60, 30, 10), ONES, 20, seed=1)
    assert found.shares == pytest.approx([0.6, 0.3, 0.1])
    assert [i // 10 for i in found.intervals] == [3, 7, 9]  # the middle interval of each phase


def test_weights_are_instructions_not_intervals():
    instructions = np.repeat([1.0, 3.0], 50)
    assert sampling.clustered(phases(50, 50), instructions, 2, seed=1).shares == pytest.approx([0.25, 0.75])


def test_many_blocks_are_projected_and_still_separate():
    random = np.random.default_rng(5)
    kinds = np.repeat([0, 1], 50)
    vectors = random.random((2, 400))[kinds] + 0.001 * random.random((N, 400))
    found = sampling.clustered(vectors, ONES, 2, seed=1)
    assert found.shares == pytest.approx([0.5, 0.5])


@pytest.mark.parametrize("k", [1, 7, 100, 1000])
def test_no_method_spends_more_than_its_cost_and_shares_sum_to_1(k):
    for found in sampling.all_methods(phases(60, 40), ONES, k, seed=1):
        assert len(set(found.intervals)) == len(found.intervals) <= min(k, N), found.method
        assert found.shares.sum() == pytest.approx(1), found.method


def test_the_same_seed_gives_the_same_places():
    vectors = np.random.default_rng(2).random((N, 50))
    one, two = (sampling.clustered(vectors, ONES, 9, seed=4) for _ in range(2))
    assert one.intervals.tolist() == two.intervals.tolist()
