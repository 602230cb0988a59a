"""Which notebooks there are: files of `notebooks/`, in the order of their numbers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tessera.core.errors import TesseraError, unknown_name
from tessera.core.paths import repo_root

FOLDER = "notebooks"


@dataclass(frozen=True)
class Entry:
    """``name`` is the file's stem, such as `02-explore-fits`; ``title`` its first heading."""

    name: str
    title: str
    path: Path


def entries() -> list[Entry]:
    """Every notebook, by number."""
    return [Entry(path.stem, _title(path), path) for path in sorted((repo_root() / FOLDER).glob("*.ipynb"))]


def entry(name: str) -> Entry:
    """By name or by number (`02`); TesseraError with the names if there is none."""
    found = [one for one in entries() if name in (one.name, one.name.split("-")[0])]
    if not found:
        raise unknown_name("notebook", name, [one.name for one in entries()])
    return found[0]


def _title(path: Path) -> str:
    import nbformat

    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "markdown" and cell.source.startswith("# "):
            return cell.source.splitlines()[0].removeprefix("# ")
    raise TesseraError(f"notebook {path.name}", "it has no heading", "begin it with a cell '# Title'")
