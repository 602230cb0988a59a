"""The provenance of the numbers in a packed file, for the manifest.

``code``, ``published``, ``measured``, ``simulated`` (joined by ``+`` if a table has several), ``derived from
...`` for files computed from cells, ``input`` for inputs of runs (layouts, platforms, configuration), and
``stated with each number`` for pages.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from tessera.results.loader import Loader
from tessera.results.read import Unreadable, read_texts

KNOWN = ("measured", "simulated", "published")
_INPUTS = frozenset({"layouts", "platforms", "provenance"})
_PAGES = frozenset({"report", "notebooks"})


def of_code(path: str) -> str:
    """Provenance of a committed file."""
    published = path.startswith("reference-results/") and path.endswith(".csv")
    return "published" if published else "code"


def of_result(path: Path, results: Path, cells: str) -> str:
    """Provenance of a file of a results folder; ``cells`` is :func:`of_cells`."""
    inside = PurePosixPath(path.relative_to(results).as_posix())
    if stated := _stated(path):
        return stated
    if path.suffix == ".svg" and (stated := _stated(path.with_suffix(".csv"))):
        return stated
    if inside.parts[0] == "benchmarks" or inside.parts[:2] == ("host", "runs.csv"):
        return "measured"
    if inside.parts[0] in _INPUTS or path.suffix == ".yaml":
        return "input"
    if inside.parts[0] in _PAGES:
        return "stated with each number"
    return f"derived from {cells}"


def of_cells(results: Path) -> str:
    """Provenance of the cells that models and claims use: cells with a runtime in cycles."""
    try:
        cells = Loader(results).cells
    except Unreadable:
        return "unknown"
    fitted = cells[cells["runtime_cycles"].notna()]
    return _joined(set(fitted["runtime_provenance"]) | set(fitted["tlb_provenance"])) or "unknown"


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
