"""Builders of samples for the tests of the runtime models."""

from __future__ import annotations

import numpy as np
import pandas as pd

from tessera.fit.models.samples import Samples

LAYOUTS = [
    *(f"growing-{i}" for i in range(9)),
    *(f"random-{i}" for i in range(9)),
    *(f"sliding-{percent}-{i}" for percent in (20, 40, 60, 80) for i in range(9)),
]


def random_inputs(n: int = 54, seed: int = 0):
    """(H, M, C), each (n,): independent counts, H up to 5e7, M up to 1e8, C up to 4e9."""
    rng = np.random.default_rng(seed)
    return tuple(np.round(top * rng.random(n)) for top in (5e7, 1e8, 4e9))


def make_samples(R, H, M, C) -> Samples:
    """Samples named like the paper's layouts, as far as the names go."""
    n = len(R)
    names = (LAYOUTS + [f"extra-{i}" for i in range(max(0, n - 54))])[:n]
    return Samples(tuple(names), *(np.asarray(a, dtype=float) for a in (H, M, C, R)))


def make_frame(samples: Samples) -> pd.DataFrame:
    """The table of docs/contracts.md with these samples."""
    return pd.DataFrame(
        {
            "layout": samples.layouts,
            "runtime_cycles": samples.R,
            "stlb_hits": samples.H,
            "stlb_misses": samples.M,
            "walk_cycles": samples.C,
        }
    )


def noisy() -> Samples:
    """54 samples of a mildly curved runtime with 0.1% noise."""
    H, M, C = random_inputs(seed=4)
    noise = np.random.default_rng(5).standard_normal(54)
    return make_samples((5e9 + 0.6 * C + 1e-10 * C * C + 3 * H) * (1 + 1e-3 * noise), H, M, C)
