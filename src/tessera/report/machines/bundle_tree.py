"""Bundles as a results folder: their cells and layouts, where models can be fitted and claims judged."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from tessera.core.errors import TesseraError
from tessera.core.layouts.generation import layouts_manifest
from tessera.core.results.cell_tables import MANIFEST
from tessera.core.results.loader import pairs_of
from tessera.core.results.outcomes import ok_rows
from tessera.core.results.table_io import frame_of, write_cells, write_table
from tessera.core.results.tree import ResultsTree
from tessera.measure.bundles import cell_arithmetic
from tessera.measure.bundles.bundle import Bundle


def write_tree(bundles: Sequence[Bundle], root: Path, *, rehearsals: bool = False) -> list[Path]:
    """Write ``cells.csv``, a cells file of each pair, and the manifests of layouts.

    Args:
        rehearsals: take simulated counts as measured ones. Only tests of the verdicts do this.

    Returns:
        The cells files of pairs with a good cell, for fits.

    Raises:
        TesseraError: two bundles are of one machine (merge them), or one is a rehearsal.
    """
    seen: dict[str, str] = {}
    for bundle in bundles:
        if bundle.about.rehearsal and not rehearsals:
            raise TesseraError(
                f"judge claims with {bundle.name}", "it is a rehearsal: its counts are simulated",
                "measure on a real machine", code="bundle-rehearsal",
            )  # fmt: skip
        if other := seen.get(bundle.about.platform):
            raise TesseraError(
                f"judge claims with {bundle.name}", f"{other} is of the same machine",
                "merge them: tessera measure bundle merge --help", code="bundle-twice",
            )  # fmt: skip
        seen[bundle.about.platform] = bundle.name
    tree = ResultsTree(root)
    table = pd.concat([cell_arithmetic.compute_cells(bundle) for bundle in bundles], ignore_index=True)
    if rehearsals:
        good = table["status"].isin(ok_rows(table)["status"])
        table.loc[good, ["runtime_provenance", "tlb_provenance"]] = "measured"
    write_cells(table, tree.cells)
    for bundle in bundles:
        for workload in bundle.workloads:
            mine = [one for (w, _), one in bundle.layouts.items() if w == workload]
            place = tree.manifest(workload, bundle.about.platform)
            write_table(MANIFEST, frame_of(MANIFEST, layouts_manifest(mine)), place)
    paths = []
    for pair in pairs_of(ok_rows(table)):
        paths.append(tree.cells_of(*pair))
        write_cells(pair.rows(table), paths[-1])
    return paths
