"""The twins of all points: which layouts of P are near, and their R."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tessera.fit.models.samples import Samples
from tessera.judge.studies.transfer.declared import INPUTS
from tessera.judge.studies.transfer.points import Measured
from tessera.judge.studies.transfer.simulated import PARTIAL, Runs, needed
from tessera.judge.studies.transfer.twins import EXACT, NEAR_SHARE, Mosaics, Twin, near_twin, nearest
from tessera.platforms import Platform


def find(
    runs: Runs, platform: Platform, samples: Samples, more: Sequence[Path], points: Sequence[Measured]
) -> list[dict[str, Twin]]:
    """For each point its twin by input; {} for a point without numbers.

    ``more``: layouts that are simulated without time first; those that are near a point are timed.
    """
    mosaics = _mosaics(runs, platform, samples, more)
    wanted = [_wanted(point) for point in points]
    found = (nearest(mosaics, x) for each in wanted for x in each.values())
    names = {name for name, share in found if share <= NEAR_SHARE}
    files = [path for path in more if path.stem in names]
    if files:
        runs.progress(f"timing {len(files)} twins")
        timed = needed(runs.cells(platform, files), "a twin")
        mosaics = mosaics.with_runtimes({name: cell.runtime for name, cell in timed.items()})
    return [_of(point, mosaics, each) for point, each in zip(points, wanted, strict=True)]


def exact(point: Measured) -> bool:
    """P has the H, M and C of the point under the same layout."""
    return point.ok and point.cell.x == point.base.x


def _mosaics(runs: Runs, platform: Platform, samples: Samples, more: Sequence[Path]) -> Mosaics:
    x = np.column_stack([samples.H, samples.M, samples.C])
    if not more:
        return Mosaics(samples.layouts, x, samples.R)
    runs.progress(f"H, M and C of {len(more)} further layouts of P")
    cells = needed(runs.cells(platform, more, engine=PARTIAL), "P")
    return Mosaics(
        (*samples.layouts, *cells),
        np.vstack([x, [cell.x for cell in cells.values()]]),
        np.append(samples.R, np.full(len(cells), np.nan)),
    )


def _wanted(point: Measured) -> dict[str, tuple]:
    """Input -> (H, M, C) for which a near twin is looked for."""
    if not point.ok:
        return {}
    same = exact(point)
    return {
        inputs: tuple(point.x[inputs])
        for inputs in INPUTS
        if not (same and tuple(point.x[inputs]) == point.base.x)
    }


def _of(point: Measured, mosaics: Mosaics, wanted: dict[str, tuple]) -> dict[str, Twin]:
    if not point.ok:
        return {}
    there = Twin(EXACT, point.cell.layout, 0.0, point.base.runtime, 0.0)
    return {inputs: near_twin(mosaics, wanted[inputs]) if inputs in wanted else there for inputs in INPUTS}
