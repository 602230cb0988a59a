"""Which samples are the same layout twice: they must never lie on both sides of a test.

Two samples are one group if H, M and C are equal to the last digit, or if a layouts' manifest says
`duplicate_of`. R does not count: a model sees H, M and C only, so it cannot tell the two apart. Of 54 layouts
of a small workload a third may be duplicates.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from tessera.fit.models.samples import Samples
from tessera.results.read import read_file
from tessera.results.schema.cells import MANIFEST


def groups_of(samples: Samples, duplicate_of: Mapping[str, str] | None = None) -> np.ndarray:
    """(n,) group numbers 0.. in the order of first appearance.

    Args:
        duplicate_of: layout -> the earlier layout that it repeats (column of `manifest.csv`).
    """
    rows = list(zip(samples.H, samples.M, samples.C, strict=True))
    first: dict[object, int] = {}
    parent = list(range(len(rows)))

    def root(row: int) -> int:
        while parent[row] != row:
            row = parent[row]
        return row

    number = {name: row for row, name in enumerate(samples.layouts)}
    links = [(row, first.setdefault(values, row)) for row, values in enumerate(rows)]
    links += [(number[a], number[b]) for a, b in (duplicate_of or {}).items() if {a, b} <= set(number)]
    for a, b in links:
        low, high = sorted((root(a), root(b)))
        parent[high] = low
    numbering: dict[int, int] = {}
    return np.array([numbering.setdefault(root(row), len(numbering)) for row in range(len(rows))])


def grouped_folds(groups: np.ndarray, folds: int, seed: int) -> list[np.ndarray]:
    """Test rows of each fold: groups shuffled once with a pinned seed and cut into ``folds`` parts.

    Without duplicates these are the folds of :func:`tessera.fit.models.crossval.split`.
    """
    # RandomState: its stream is frozen, that of numpy's Generator may change between versions
    order = np.random.RandomState(seed).permutation(int(groups.max()) + 1)
    parts = np.array_split(order, folds)
    return [np.concatenate([np.flatnonzero(groups == group) for group in part]) for part in parts]


def read_duplicates(manifest: str | Path) -> dict[str, str]:
    """layout -> `duplicate_of` from a layouts' manifest (docs/contracts.md, "Layout file")."""
    frame = read_file(MANIFEST, Path(manifest), f"manifest {manifest}")
    pairs = zip(frame["layout"], frame["duplicate_of"], strict=True)
    return {name: other for name, other in pairs if other}
