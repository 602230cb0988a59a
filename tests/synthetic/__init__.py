"""Synthetic results trees: what the pipeline would write, made of formulas, without running it."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from . import cells

#: modules of this package that add the tables of one step to a tree
PARTS = (
    *("judgements", "kernel", "transfer", "studies", "validation"),
    *("energy", "placements", "scenarios", "faults"),
)


def make_tree(root: Path, *pairs, parts: tuple[str, ...] = (), **options) -> Path:
    """Write cells, layouts and models as :func:`cells.write` does, then ``parts``; returns ``root``."""
    cells.write(root, *pairs, **options)
    for part in parts:
        import_module(f".{part}", __package__).write(root)
    return root
