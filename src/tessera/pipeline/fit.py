"""Fit every model to one cells file; what can't be fitted gives empty tables and a reason."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from tessera import cells, models
from tessera.errors import TesseraError


def fit_cells(cells_path: Path, seed: int, out: Path) -> str:
    """Fit into the folder of ``out`` (errors.csv); returns the reason when nothing could be fitted.

    Cells that failed are left out by the models; with too few left (or no anchors) the tables are
    written with their headers only, ``not_fitted.txt`` holds the reason and the report shows it.
    """
    folder = out.parent
    folder.mkdir(parents=True, exist_ok=True)
    note = folder / "not_fitted.txt"
    note.unlink(missing_ok=True)
    table = cells.read_cells(cells_path)
    try:
        models.fit_all(table, seed=seed).write(folder)
        return ""
    except TesseraError as error:
        reason = f"{error.asked}: {error.found}"
        note.write_text(reason + "\n")
        for name, columns in models.TABLES.items():
            pd.DataFrame(columns=list(columns)).to_csv(folder / f"{name}.csv", index=False)
        return reason
