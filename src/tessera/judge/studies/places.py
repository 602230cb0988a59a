"""Which intervals of a window a sampling method simulates, and what share of all each stands for.

A window of n intervals of (about) equal length; every method may simulate k of them. The methods:

- ``systematic``: k intervals at even distances (ours);
- ``blind-first``, ``blind-middle``: one contiguous part, the practice that MICRO'20 section II-C describes;
- ``clustered``: basic-block vectors, projected to 15 dimensions, k-means; the interval nearest to each
  centre stands for its cluster (Sherwood et al., ASPLOS 2002). MICRO'20 warns that this misses rare events.
  Two differences: k is given by the cost, not chosen by a criterion; among intervals equally near to the
  centre the middle one is taken, not the first.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.random_projection import GaussianRandomProjection

DIMENSIONS = 15  #: of the projected vectors, as SimPoint
RESTARTS = 5


@dataclass(frozen=True)
class Places:
    """Interval numbers (k,) in ascending order and their shares (k,), which sum to 1."""

    method: str
    intervals: np.ndarray
    shares: np.ndarray


def systematic(instructions: np.ndarray, k: int) -> Places:
    """The middles of k equal stretches of the n intervals."""
    n = len(instructions)
    return _equal("systematic", np.unique(((np.arange(k) + 0.5) * n / k).astype(int)), instructions)


def blind(instructions: np.ndarray, k: int, where: str) -> Places:
    """k intervals in a row, at the ``first`` or in the ``middle``."""
    start = 0 if where == "first" else (len(instructions) - k) // 2
    return _equal(f"blind-{where}", np.arange(start, start + k), instructions)


def clustered(vectors: np.ndarray, instructions: np.ndarray, k: int, seed: int) -> Places:
    """One interval per cluster of the block vectors (n, blocks), weighted by the cluster's instructions.

    Fewer than k intervals come back when fewer vectors differ.
    """
    shares = vectors / vectors.sum(axis=1, keepdims=True)
    if shares.shape[1] > DIMENSIONS:
        shares = GaussianRandomProjection(DIMENSIONS, random_state=seed).fit_transform(shares)
    k = min(k, len(np.unique(np.round(shares, 12), axis=0)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = KMeans(k, n_init=RESTARTS, random_state=seed).fit(shares)
    picked, weights = [], []
    for cluster in range(k):
        members = np.flatnonzero(found.labels_ == cluster)
        if len(members) == 0:
            continue
        distance = np.linalg.norm(shares[members] - found.cluster_centers_[cluster], axis=1)
        nearest = members[distance <= distance.min() + 1e-9]
        picked.append(nearest[len(nearest) // 2])
        weights.append(instructions[members].sum())
    order = np.argsort(picked)
    weights = np.asarray(weights, dtype=float)[order]
    return Places("clustered", np.asarray(picked)[order], weights / weights.sum())


def all_methods(vectors: np.ndarray, instructions: np.ndarray, k: int, seed: int) -> list[Places]:
    """Every method at the cost of k intervals (all of them, if there are fewer)."""
    k = min(k, len(instructions))
    return [
        systematic(instructions, k),
        blind(instructions, k, "middle"),
        blind(instructions, k, "first"),
        clustered(vectors, instructions, k, seed),
    ]


def _equal(method: str, intervals: np.ndarray, instructions: np.ndarray) -> Places:
    own = instructions[intervals].astype(float)
    return Places(method, intervals, own / own.sum())
