"""Quantiles of latencies: of each pass, then their median over passes.

A median over passes ignores a few passes that other programs disturbed; a quantile of all passes together
does not. The smallest and largest value over passes show how much they differ.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

#: Shares of touches that are at most as slow.
SHARES = (0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.97, 0.98, 0.99, 0.995, 0.998, 0.999)


@dataclass(frozen=True)
class Quantile:
    """A quantile in the unit of the latencies: median, minimum and maximum over passes."""

    share: float
    median: float
    low: float
    high: float


def quantiles(passes: list[np.ndarray], shares: tuple[float, ...] = SHARES) -> list[Quantile]:
    """Quantiles of passes, each of shape (touches,).

    A quantile is a value of the pass: the smallest one that at least this share of touches does not exceed.
    """
    found = np.array([np.quantile(one, shares, method="inverted_cdf") for one in passes])
    return [
        Quantile(share, float(np.median(column)), float(column.min()), float(column.max()))
        for share, column in zip(shares, found.T, strict=True)
    ]
