"""Random numbers of inputs that are made here: each from a seed and a place, the same on every machine."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def mix64(seed: int, counters: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The output function of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014) for many counters."""
    z = np.uint64(seed) + (counters + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))
