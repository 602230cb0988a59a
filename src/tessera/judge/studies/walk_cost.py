"""The verdicts of two runs that differ in one value: what a walk costs before its first load.

The claims are those with a simulated value at one end at least. Measured and printed values do not depend on
the simulated cost, and differ between runs for other reasons.
"""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pandas as pd

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.files import check_target, write_text
from tessera.judge.walk_cost.ends import KEY, LOWER_CYCLES, UPPER_CYCLES
from tessera.judge.walk_cost.verdicts import Ends
from tessera.results.loader import Loader
from tessera.results.schema.shown import CLAIMS

SIMULATED, NOT_OBTAINED = "simulated", ""
STUDIES = "studies/"  #: begins the reason of a claim that lacks a study; the upper end makes none
CELL = ["workload", "platform", "layout"]
MACHINE = "host"  #: platforms that begin so are this machine


def compare(lower: Path, upper: Path, out: Path) -> list[Ends]:
    """Write the verdicts at both ends to ``out``; one row per claim with a simulated value.

    Raises:
        TesseraError: a folder is not a run of its end, or the runs have other cells or claims.
    """
    check_target(out)
    runs = {LOWER_CYCLES: Loader(lower), UPPER_CYCLES: Loader(upper)}
    for cycles, run in runs.items():
        _check_end(run, cycles)
    _check_cells(*runs.values())
    rows = ends(*(run.read(CLAIMS) for run in runs.values()))
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([Ends._fields, *rows])
    write_text(out, text.getvalue())
    return rows


def ends(lower: pd.DataFrame, upper: pd.DataFrame) -> list[Ends]:
    """One row per claim with a simulated value, from the claims of both runs; none about studies."""
    if list(lower["id"]) != list(upper["id"]):
        other = sorted(set(lower["id"]) ^ set(upper["id"]))
        found = f"only one of them has {', '.join(other)}" if other else "they are in another order"
        raise TesseraError(
            "claims of both runs",
            found,
            "write both reports again: ./run tessera report render --results ...",
        )
    both = lower.merge(upper, on="id", suffixes=("_lower", "_upper"), validate="one_to_one")
    kinds = both[["provenance_lower", "provenance_upper"]]
    known = kinds.isin([SIMULATED, NOT_OBTAINED]).all(axis=1) & (kinds == SIMULATED).any(axis=1)
    known &= ~both["reason_upper"].astype(str).str.startswith(STUDIES)
    return [Ends(*map(str, row)) for row in both.loc[known, list(Ends._fields)].itertuples(index=False)]


def _check_end(run: Loader, cycles: int) -> None:
    """The run's configuration sets the cost of this end; the lower one changes no value."""
    wanted = {KEY: cycles} if cycles != LOWER_CYCLES else {}
    try:
        changes = json.loads((run.tree.root / "provenance" / "config.json").read_text()).get("changes", {})
    except (OSError, ValueError):
        changes = None
    if changes is None:
        found = "it has no provenance/config.json that can be read"
    elif changes != wanted:
        found = f"its configuration has the changes {changes or 'none'}; this end has {wanted or 'none'}"
    else:
        return
    remedy = "give the folder of the default run as --lower and that of config/walk-cost.yaml as --upper"
    raise TesseraError(f"results {run.tree.root}", found, remedy)


def _check_cells(lower: Loader, upper: Loader) -> None:
    """Both runs have the same good simulated cells: a cell that failed must not look like a cost."""
    good = []
    for run in (lower, upper):
        cells = run.good[~run.good["platform"].str.startswith(MACHINE)]
        good.append(set(map(tuple, cells[CELL].to_numpy())))
    if lacking := sorted(good[0] ^ good[1]):
        first = ", ".join(lacking[0])
        raise TesseraError(
            f"cells of {lower.tree.root} and {upper.tree.root}",
            f"{len(lacking)} cells are good in one of them only; the first is {first}",
            "run both configurations again: ./run reproduce tries failed rows again",
            exit_code=EXIT_FAILED,
        )
