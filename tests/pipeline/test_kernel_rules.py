"""`snakemake kernel` and its neighbours: each step makes what the rules say, and is started once."""

from __future__ import annotations

from pathlib import Path

import pytest

from .stub_checkout import Checkout


@pytest.fixture
def steps(tmp_path):
    """Runs targets with a `tessera` that only makes its outputs; returns the parts that were made."""
    checkout = Checkout(tmp_path)

    def run(*targets):
        lines = checkout.steps(*targets)
        return [Path(line.split()[3]).parent.name for line in lines if line.startswith("dev attempt ")]

    return run


@pytest.mark.slow
def test_each_part_is_made_once(steps):
    assert steps("kernel_smoke") == ["test"]
    rest = [
        "balancing",
        "costs",
        "fragmented",
        "lives",
        "maps",
        "placement",
        "prove",
        "selftests-mm",
        "stress-ng",
        "table4",
        "table5",
        "table6",
    ]
    assert sorted(steps("kernel")) == rest
    assert steps("kernel", "kernel_smoke") == []
    assert steps("kernel_bisect") == ["bisect"]
