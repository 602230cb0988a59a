"""M of one layout in a cells file: what an estimate of walk cycles multiplies."""

from __future__ import annotations

from pathlib import Path

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.layouts.model import canonical_name
from tessera.results.cells import read_cells
from tessera.results.status import ok_rows


def misses_of(path: Path, *, layout: str, workload: str | None = None, platform: str | None = None) -> int:
    """Mean M of the good rows of a layout that were measured; whole misses.

    Raises:
        TesseraError: no such row (``misses-absent``), rows of several workloads or platforms
            (``misses-several``), or M that was not measured (``misses-simulated``).
    """
    owner = f"M of layout {layout} in {path}"
    name = canonical_name(layout)
    rows = ok_rows(read_cells(path))
    rows = rows[rows["layout"].map(canonical_name) == name]
    for column, wanted in (("workload", workload), ("platform", platform)):
        if wanted is not None:
            rows = rows[rows[column] == wanted]
        elif rows[column].nunique() > 1:
            listed = ", ".join(sorted(set(rows[column])))
            raise TesseraError(
                owner, f"it has several of {column}: {listed}", f"give --{column}", code="misses-several"
            )
    rows = rows[rows["stlb_misses"].notna()]
    if rows.empty:
        raise TesseraError(
            owner, "no good row has M", "tessera measure import makes cells with M",
            exit_code=EXIT_FAILED, code="misses-absent",
        )  # fmt: skip
    if kinds := set(rows["tlb_provenance"]) - {"measured"}:
        raise TesseraError(
            owner,
            f"M is {', '.join(sorted(map(str, kinds)))}, not measured",
            "samples of a processor need M of the same processor",
            exit_code=EXIT_FAILED, code="misses-simulated",
        )  # fmt: skip
    return round(float(rows["stlb_misses"].mean()))
