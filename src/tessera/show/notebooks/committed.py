"""Notebooks in git hold the outputs of the archived data: readable without running, the same at every run.

What differs between runs without a meaning is taken out: execution times, widget models, cell ids.
"""

from __future__ import annotations

import re

from tessera.show.explore.source import ARCHIVE
from tessera.show.notebooks.catalogue import Entry
from tessera.show.notebooks.page import WIDGET
from tessera.show.notebooks.run import INJECTED, execute

#: Kept of a notebook's metadata.
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
#: Objects without a text of their own print their address.
ADDRESS = re.compile(r" at 0x[0-9a-f]+")


def on_archive(entry: Entry):
    """The notebook executed on the archive, cleaned: what git should hold."""
    notebook = execute(entry, {"results_dir": ARCHIVE})
    notebook.cells = [cell for cell in notebook.cells if INJECTED not in cell.metadata.get("tags", [])]
    notebook.metadata = {"kernelspec": KERNEL, "language_info": {"name": "python"}}
    for number, cell in enumerate(notebook.cells, start=1):
        cell.id = f"cell-{number:02}"
        tags = cell.metadata.get("tags", [])
        cell.metadata = {"tags": tags} if tags else {}
        if cell.cell_type == "code":
            cell.execution_count = None
            cell.outputs = [_clean(output) for output in cell.outputs]
    return notebook


def refresh(entry: Entry) -> None:
    """Write the outputs of the archive into the notebook's file."""
    import nbformat

    nbformat.write(on_archive(entry), entry.path)


def texts(notebook) -> list[str]:
    """All text outputs, in order: streams, plain text, HTML (tables). Pictures are not compared."""
    found = []
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            found += [output["text"]] if "text" in output else []
            found += [data[kind] for kind in ("text/plain", "text/html", "text/markdown") if kind in data]
    return ["".join(text) for text in found]


def _clean(output):
    output.pop("execution_count", None)
    if output.output_type == "execute_result":
        output.execution_count = None
    data = output.get("data", {})
    data.pop(WIDGET, None)
    if "text/plain" in data:
        data["text/plain"] = ADDRESS.sub("", data["text/plain"])
    output.get("metadata", {}).clear()
    return output
