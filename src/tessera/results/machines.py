"""Where a results folder keeps what real machines measured: ``machines/``, a results tree of its own.

Its cells are measured, those of the folder around it are not, so no table has both. ``bundles/<id>`` has each
bundle that took part, also those that decide nothing.
"""

from __future__ import annotations

from pathlib import Path

from tessera.results.tree import Tree

FOLDER, BUNDLES = "machines", "bundles"
LIST = "bundles.json"  #: in the folder: the bundles that took part, and what bars each


def machines_tree(results: Path | str) -> Tree:
    """The tree of measured cells inside a results folder; it may be absent."""
    return Tree(Path(results) / FOLDER)


def bundle_folder(machines: Tree, identity: str) -> Path:
    """The copy of a bundle that took part."""
    return machines.root / BUNDLES / identity


def bundle_folders(results: Path | str) -> list[Path]:
    """Every bundle that took part in this results folder, by id."""
    found = (machines_tree(results).root / BUNDLES).glob("*")
    return sorted(path for path in found if path.is_dir())
