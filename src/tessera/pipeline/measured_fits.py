"""Fits of measured cells: all tables that findings read, for pairs with all layouts of MICRO'20.

Imports stand inside functions, because command lines import this file.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tessera.results.tree import Tree

if TYPE_CHECKING:
    from tessera.bundles.model import Bundle

FITTED_LAYOUTS = 54  #: MICRO'20 VI-B; the test point 1gb is not among them


def write_fitted(
    bundles: Sequence[Bundle],
    tree: Tree,
    *,
    seed: int,
    orders: int,
    rehearsals: bool = False,
    say: Callable[[str], None],
) -> None:
    """Write the cells of bundles into ``tree``, and the fits of the pairs with all layouts.

    Args:
        seed, orders: as :func:`fit`.
        rehearsals: accept bundles with simulated counts. Only tests do this.
        say: as :func:`has_all_layouts`.

    Raises:
        TesseraError: as :func:`tessera.judge.machines.tree.write_tree`.
    """
    from tessera.judge.machines.tree import write_tree

    paths = write_tree(bundles, tree.root, rehearsals=rehearsals)
    if paths := [path for path in paths if has_all_layouts(path, say)]:
        fit(paths, tree, seed=seed, orders=orders)
        collected(paths, tree)


def has_all_layouts(cells: Path, say: Callable[[str], None]) -> bool:
    """Whether models are fitted to these cells: findings about models are about 54 layouts.

    Args:
        cells: cells file of a pair, ``<workload>/<platform>.csv``.
        say: told of a pair that has fewer.
    """
    from tessera.layouts.names import ALL_1GB
    from tessera.results.cells import read_cells

    found = read_cells(cells)
    count = found.loc[found["layout"] != ALL_1GB, "layout"].nunique()
    if count < FITTED_LAYOUTS:
        name = f"{cells.parent.name} on {cells.stem}"
        say(f"{name}: {count} layouts, so no model is fitted; models need {FITTED_LAYOUTS}")
    return count >= FITTED_LAYOUTS


def fit(paths: Sequence[Path], tree: Tree, *, seed: int, orders: int) -> None:
    """Fit models to cells files and judge them: the tables of each pair in ``tree``.

    Args:
        seed: seed of the folds.
        orders: random orders of layouts to compare with the adaptive one.
    """
    from tessera.pipeline.fit import adaptive_pairs, fit_pairs, one_gb_pairs

    fit_pairs(paths, seed, tree.all_models, tree.layouts)
    adaptive_pairs(paths, orders, tree.all_models)
    one_gb_pairs(paths, tree.all_models)


def collected(paths: Sequence[Path], tree: Tree) -> None:
    """Join the tables of the fits of these cells files."""
    from tessera.fit.models.collect import collect, write_collected

    write_collected(collect([tree.all_models / p.parent.name / p.stem for p in paths]), tree.all_models)
