"""The data set for ``liblinear-train``: clicks on advertisements, with the structure of kdd12.

kdd12 (KDD Cup 2012, track 2, as LIBSVM's data page gives it) has 54,686,452 binary features in 149,639,105
rows of about 11: categories (user, query, advertisement, ...) in one-hot form. Here a row has one feature of
each of 11 fields; few values of a field are frequent and most are rare, and a value's place in its field is
arbitrary.
The label depends on hidden weights of the values, with noise, so that the classifier can learn it.
All values are computed from the seed in integers, so they are the same on every machine.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

FIELDS = 11
_ROWS_A_PIECE = 100_000
_NOISE_PERCENT = 10


def mix64(seed: int, counters: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The output function of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014) for many counters."""
    z = np.uint64(seed) + (counters + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@dataclass(frozen=True)
class Clicks:
    """``rows`` examples over ``features`` binary features (at least one a field)."""

    rows: int
    features: int
    seed: int

    def part(self, start: int, end: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Features of these rows, from 0 and ascending, (end - start, 11), and their labels, -1 or 1."""
        row = np.arange(start, end, dtype=np.uint64)[:, None]
        field = np.arange(FIELDS, dtype=np.uint64)[None, :]
        size = self.features // FIELDS
        drawn = mix64(self.seed, row * np.uint64(FIELDS) + field) >> np.uint64(40)
        cubed = (drawn * drawn >> np.uint64(24)) * drawn >> np.uint64(24)  # 24 bits; small ones frequent
        value = cubed * np.uint64(size) >> np.uint64(24)
        features = field * np.uint64(size) + value * np.uint64(2654435761) % np.uint64(size)
        weight = (mix64(~self.seed & (2**63 - 1), features) >> np.uint64(48)).astype(np.int64) - 32768
        label = np.where(weight.sum(axis=1) > 0, 1, -1)
        noise = mix64(self.seed ^ 0x5EED, row[:, 0]) % np.uint64(100) < _NOISE_PERCENT
        return features.astype(np.int64), np.where(noise, -label, label)

    def write(self, path: Path) -> None:
        """The rows as LIBSVM's text: ``+1 5:1 17:1 ...``, features counted from 1."""
        form = "%+d" + " %d:1" * FIELDS + "\n"
        with path.open("w") as out:
            for start in range(0, self.rows, _ROWS_A_PIECE):
                features, labels = self.part(start, min(start + _ROWS_A_PIECE, self.rows))
                table = np.column_stack([labels, features + 1]).tolist()
                out.writelines(form % tuple(row) for row in table)
