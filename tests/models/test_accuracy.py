"""Equations (1) and (2) against plain loops."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tessera.fit.evaluation.accuracy import accuracy, relative_errors

positive = st.floats(1e-6, 1e15)


@given(st.lists(st.tuples(positive, st.floats(-1e15, 1e15)), min_size=1, max_size=60))
def test_against_plain_loops(pairs):
    largest, logs, zeros = 0.0, 0.0, 0
    for runtime, predicted in pairs:
        error = abs(runtime - predicted) / runtime
        largest = max(largest, error)
        if error > 1e-12:
            logs += math.log(error)
        else:
            zeros += 1
    R, predicted = map(np.array, zip(*pairs, strict=True))
    result = accuracy(relative_errors(R, predicted))
    assert result.max_error == pytest.approx(largest, rel=1e-15)
    assert result.zero_errors == zeros
    counted = len(pairs) - zeros
    expected = math.exp(logs / counted) if counted else 0.0
    assert result.geomean_error == pytest.approx(expected, rel=1e-12)


def test_by_hand():
    result = accuracy(relative_errors(np.array([100.0, 50, 10]), np.array([101.0, 52, 10])))
    assert result.max_error == pytest.approx(0.04)
    assert result.geomean_error == pytest.approx(0.02)  # sqrt(0.01 * 0.04); the zero is dropped
    assert (result.samples, result.zero_errors, result.dropped_zero_errors) == (3, 1, 1)


# name: (errors, geometric mean, zeros, dropped)
EDGES = {
    "at the threshold": ([1e-12, 0.1], 0.1, 1, 1),
    "above the threshold": ([1.01e-12, 1.01e-12], 1.01e-12, 0, 0),
    "rounding": ([2e-16, 0.0, 0.1], 0.1, 2, 2),
    "all zero": ([0.0, 1e-16], 0.0, 2, 0),
    "no underflow": ([1e-9] * 54, 1e-9, 0, 0),
}


@pytest.mark.parametrize("name", EDGES)
def test_zeros(name):
    errors, geomean, zeros, dropped = EDGES[name]
    result = accuracy(np.array(errors))
    assert result.geomean_error == pytest.approx(geomean)
    assert (result.zero_errors, result.dropped_zero_errors) == (zeros, dropped)


def test_negative_predictions_count_in_full():
    assert accuracy(relative_errors(np.array([10.0]), np.array([-5.0]))).max_error == 1.5
