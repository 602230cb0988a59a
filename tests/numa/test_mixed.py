"""Costs of a program with some 2MB pages, against the closed form of uniform accesses."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from tessera.core.errors import TesseraError
from tessera.lab.numa.mitosis_figures import mixed_cycles, mixed_gain
from tessera.lab.numa.placement_costs import HOG_SWEEP


def rows(**changes):
    """R of 4KB and 2MB pages, before and after the tables moved."""
    cycles = {
        ("RPI-LD", "4KB"): 400.0,
        ("RPI-LD", "2MB"): 60.0,
        ("RPI-LD+M", "4KB"): 100.0,
        ("RPI-LD+M", "2MB"): 50.0,
    }
    found = [
        {"configuration": name, "page_size": size, "assumption": HOG_SWEEP[1.0] if name == "RPI-LD" else "",
         "runtime_cycles": value, "walk_cycles": value / 2}
        for (name, size), value in cycles.items()
    ]  # fmt: skip
    other = found[0] | {"assumption": HOG_SWEEP[2.0], "runtime_cycles": 999.0}
    return pd.DataFrame([other, *found]).assign(**changes)


@pytest.mark.parametrize(("share", "expected"), [(0, 4.0), (1, 1.2), (0.5, 230 / 75), (0.2, 332 / 90)])
def test_the_gain_is_a_quotient_of_weighted_cycles(share, expected):
    assert mixed_gain(rows(), share, "runtime_cycles") == pytest.approx(expected)
    assert mixed_gain(rows(), share, "walk_cycles") == pytest.approx(expected)


def test_uniform_accesses_cost_the_weighted_mean():
    """Accesses to random pages, each of which is large with probability p: within 4.5 standard errors."""
    chance, share, small, large = np.random.default_rng(1), 0.3, 300.0, 20.0
    costs = np.where(chance.random(40_000) < share, large, small)
    assert abs(costs.mean() - mixed_cycles(small, large, share)) < 4.5 * costs.std() / 200


@pytest.mark.parametrize("share", [-0.01, 1.01, float("nan")])
def test_a_share_is_between_0_and_1(share):
    with pytest.raises(TesseraError) as refused:
        mixed_cycles(1, 2, share)
    assert refused.value.code == "numa-share"


def test_a_missing_page_size_is_named():
    with pytest.raises(TesseraError, match=r"RPI-LD\+M") as refused:
        mixed_gain(rows().iloc[:-1], 0.5, "runtime_cycles")
    assert refused.value.code == "numa-mixed" and refused.value.found.endswith("4KB")
