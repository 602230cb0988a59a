"""The provenance of the numbers in a packed file, for the manifest.

``code``, ``published``, ``measured``, ``simulated`` (joined by ``+`` if a table has several), ``derived from
...`` for files computed from cells, ``input`` for inputs of runs (layouts, platforms, configuration), and
``stated with each number`` for pages.

``machines/`` is a results tree of its own: its files are derived from its own cells. Bundles are what real
machines measured, also those in the code.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path, PurePosixPath

from tessera.bundles import names
from tessera.bundles.documents import read_about
from tessera.results.loader import Loader
from tessera.results.read import Unreadable, read_texts
from tessera.results.tree import Tree

KNOWN = ("measured", "simulated", "published")
INPUT = "input"
_INPUTS = frozenset({"layouts", "platforms", "provenance"})
_PAGES = frozenset({"report", "notebooks"})
_BUNDLES_OF_CODE = "bundles"  #: folder of a checkout
#: Files of a bundle that decide what runs, and hold no number of a run.
_INPUTS_OF_BUNDLES = frozenset({names.EVENTS, names.WORKLOADS, names.ABOUT})


def of_code(path: str) -> str:
    """Provenance of a committed file."""
    parts = PurePosixPath(path).parts
    if parts[0] == _BUNDLES_OF_CODE and len(parts) > 2:
        return of_bundle(PurePosixPath(*parts[2:]), rehearsal=False)
    published = path.startswith("reference-results/") and path.endswith(".csv")
    return "published" if published else "code"


def of_bundle(inside: PurePosixPath, rehearsal: bool) -> str:
    """Provenance of a file of a bundle; ``inside`` is its path in the bundle."""
    if inside.parts[0] == names.LAYOUTS or inside.name in _INPUTS_OF_BUNDLES:
        return INPUT
    return "simulated" if rehearsal else "measured"


class Origins:
    """Provenance of the files of one results folder."""

    def __init__(self, results: Path):
        self.results = results

    @cached_property
    def cells(self) -> str:
        """Of the cells that models and claims use: cells with a runtime in cycles."""
        try:
            cells = Loader(self.results).cells
        except Unreadable:
            return "unknown"
        fitted = cells[cells["runtime_cycles"].notna()]
        return _joined(set(fitted["runtime_provenance"]) | set(fitted["tlb_provenance"])) or "unknown"

    @cached_property
    def machines(self) -> Origins:
        """Those of the measured cells."""
        return Origins(Tree(self.results).machines.root)

    def of(self, path: Path) -> str:
        """Provenance of a file of this folder."""
        inside = PurePosixPath(path.relative_to(self.results).as_posix())
        if path.is_relative_to(Tree(self.results).machines.root):
            return self.machines._of_machines(path)
        if stated := _stated(path):
            return stated
        if path.suffix == ".svg" and (stated := _stated(path.with_suffix(".csv"))):
            return stated
        if path == Tree(self.results).claims_elsewhere:
            return f"derived from {self.machines.cells}"
        if inside.parts[0] == "benchmarks" or inside.parts[:2] == ("host", "runs.csv"):
            return "measured"
        if inside.parts[0] in _INPUTS or path.suffix == ".yaml":
            return INPUT
        if inside.parts[0] in _PAGES:
            return "stated with each number"
        return f"derived from {self.cells}"

    def _of_machines(self, path: Path) -> str:
        """The same if this is the tree of measured cells, which has bundles, too."""
        tree = Tree(self.results)
        if not path.is_relative_to(tree.all_bundles):
            return INPUT if path == tree.bundles_list else self.of(path)
        identity, *inside = path.relative_to(tree.all_bundles).parts
        return of_bundle(PurePosixPath(*inside), _rehearsal(tree.bundle(identity)))


def is_of_bundle(path: Path, results: Path) -> bool:
    """Whether this file is of the copy of a bundle, whose own sums hold for its bytes."""
    return path.is_relative_to(Tree(results).machines.all_bundles)


def _rehearsal(bundle: Path) -> bool:
    return read_about((bundle / names.ABOUT).read_bytes()).rehearsal


def _stated(path: Path) -> str:
    """The values of the provenance columns of a table; empty if it has none, or is not a table."""
    if path.suffix != ".csv" or not path.is_file() or path.stat().st_size == 0:
        return ""
    try:
        frame = read_texts(path)
    except Unreadable:
        return ""
    stated = [name for name in frame.columns if name.endswith("provenance")]
    return _joined({word for name in stated for value in frame[name].unique() for word in value.split()})


def _joined(words: set[str]) -> str:
    return "+".join(name for name in KNOWN if name in words)
