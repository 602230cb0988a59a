"""Samples and designs for the tests of predictions."""

import numpy as np
import pandas as pd

LAYOUTS = [*(f"growing-{i}" for i in range(9)), *(f"random-{i}" for i in range(51))]


def samples(n: int = 40, noise: float = 1e7, seed: int = 0) -> pd.DataFrame:
    """R = 5e9 + 0.5 C + noise with C in 0..4e9, M = C / 40 and H = 5e7 - C / 100 (a straight line)."""
    rng = np.random.default_rng(seed)
    C = np.linspace(4e9, 0, n)
    runtime = 5e9 + 0.5 * C + noise * rng.standard_normal(n)
    return pd.DataFrame(
        {
            "layout": LAYOUTS[:n], "runtime_cycles": runtime, "stlb_hits": 5e7 - C / 100,
            "stlb_misses": C / 40, "walk_cycles": C, "runtime_provenance": "simulated",
            "platform": "haswell-sim",
        }
    )  # fmt: skip


def design(**columns) -> pd.DataFrame:
    """One design on the samples' line, at C = 1e9."""
    row = {"design": ["mine"], "stlb_hits": [4e7], "stlb_misses": [2.5e7], "walk_cycles": [1e9]}
    return pd.DataFrame(row | columns)
