"""Cosine of two series of latencies, as Virtuoso (ASPLOS 2025, Figure 9) judges simulated faults.

The cosine of two series of positive numbers is near 1 as soon as neither has rare large values. So a
*constant* series, which says nothing about faults, gets a high cosine, too. A cosine is therefore printed
only beside that of a constant, and no result is judged by it.
"""

from __future__ import annotations

import numpy as np


def cosine(one: np.ndarray, other: np.ndarray) -> float:
    """Cosine similarity of two series of the same shape; nan if one is zero."""
    norms = float(np.linalg.norm(one.astype(float)) * np.linalg.norm(other.astype(float)))
    return float(one.astype(float) @ other.astype(float)) / norms if norms else float("nan")


def with_constant(series: np.ndarray) -> float:
    """Cosine of a series and a constant: mean over root mean square."""
    return cosine(series, np.ones(len(series)))


def clipped(series: np.ndarray, share: float = 0.999) -> np.ndarray:
    """The series with values above this quantile replaced by it."""
    return np.minimum(series, np.quantile(series, share))
