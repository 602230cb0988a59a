"""Random numbers that repeat on every machine: SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).

The numbers of a seed and a stream are the outputs of a generator whose state begins with output ``stream``
of a generator whose state begins with the seed. A stream is the place of a region, or a purpose named by
its user.
"""

from __future__ import annotations

import numpy as np

_GOLDEN = 0x9E3779B97F4A7C15
_MASK = (1 << 64) - 1


def outputs(state: int, count: int) -> np.ndarray:
    """The first outputs of the generator from ``state``; shape ``(count,)``, uint64."""
    with np.errstate(over="ignore"):
        z = np.uint64(state & _MASK) + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(_GOLDEN)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


def stream(seed: int, number: int, count: int) -> np.ndarray:
    """``count`` outputs of one stream of a seed; shape ``(count,)``, uint64."""
    return outputs(int(outputs(seed, number + 1)[number]), count)


def uniform(numbers: np.ndarray, low: int, high: int) -> np.ndarray:
    """Whole numbers low..high (both included, fewer than 2^32 values) from the upper halves; int64."""
    span = np.uint64(high - low + 1)
    return low + (((numbers >> np.uint64(32)) * span) >> np.uint64(32)).astype(np.int64)
