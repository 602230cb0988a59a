"""P(S/n) of one trace: the partial engine with L3 / n for every n (docs/energy.md, Hit rates by size).

Each run is one program alone with an n-th of the cache, as n threads that share L3 evenly and share no data
would see it. P = 1 - DRAM loads / memory instructions: the program's loads that reached memory, over all
its loads and stores. Samples can have more accesses per instruction than the trace, so their DRAM loads are
scaled by accesses. Sizes are rounded to whole sets of every slice. At n = 1 the cell is that of the platform
as it is. Not modelled: threads that use the same lines, or unequal shares.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from tessera.core.errors import TesseraError
from tessera.energy.locality import Locality, fit_locality
from tessera.layouts.model import write_layout
from tessera.layouts.names import ALL_4KB
from tessera.layouts.space import Space
from tessera.platforms import Platform
from tessera.platforms.change import with_values
from tessera.record import traces
from tessera.results.schema.energy import THREADS_SWEEP
from tessera.results.status import FAILED, OK, is_ok
from tessera.results.trace_notes import note_in
from tessera.results.write import frame_of
from tessera.simulate.cache import CellCache
from tessera.simulate.plan import Sampling
from tessera.simulate.runner import simulate_all

ENGINE = "partial"
L3, WAYS, SLICES = "cache.l3.bytes", "cache.l3.ways", "cache.l3.slices"
LINE_BYTES = 64
MOST_THREADS = 4096


@dataclass(frozen=True)
class Request:
    """What is swept; ``threads`` ascending, each once."""

    workload: str
    trace: Path
    platform: Platform
    threads: Sequence[int]
    sampling: Sampling
    cache: CellCache
    jobs: int = 1


def parse_threads(text: str) -> list[int]:
    """``1-24`` or ``1,2,4-6``, ascending, each once.

    Raises:
        TesseraError: another form, a number below 1, or above :data:`MOST_THREADS`.
    """
    found: set[int] = set()
    for part in text.split(","):
        low, dash, high = part.strip().partition("-")
        if not (low.isascii() and low.isdigit() and (not dash or (high.isascii() and high.isdigit()))):
            raise TesseraError(
                f"--threads {text}", f"'{part}' is no number and no range", "write for example 1,2,4-8"
            )
        first, last = int(low), int(high or low)
        if not 1 <= first <= last <= MOST_THREADS:
            rule = f"'{part}' must ascend from at least 1 to at most {MOST_THREADS}"
            raise TesseraError(f"--threads {text}", rule, "write for example 1,2,4-8")
        found.update(range(first, last + 1))
    return sorted(found)


def l3_bytes(platform: Platform, threads: int) -> int:
    """L3 / threads, rounded to whole sets of every slice; one set of each at least."""
    values = platform.values
    ways, slices = (int(values[key].value) for key in (WAYS, SLICES))
    grain = ways * LINE_BYTES * max(1, slices)
    whole = int(values[L3].value)
    if threads == 1:
        return whole
    return max(1, round(whole / threads / grain)) * grain


def smaller(platform: Platform, threads: int) -> Platform:
    """The platform with :func:`l3_bytes`; unchanged for one thread."""
    if threads == 1:
        return platform
    return with_values(
        platform, {L3: l3_bytes(platform, threads)}, f"assumed: L3 of one of {threads} threads"
    )


def sweep(request: Request, progress: Callable[[str], None] = lambda line: None) -> pd.DataFrame:
    """The table :data:`THREADS_SWEEP`.

    Raises:
        TesseraError: the trace is refused, the simulator died, or nothing can be fitted.
    """
    rows = [
        _row(request, n, cell) for n, (cell,) in zip(request.threads, _cells(request, progress), strict=True)
    ]
    good = [row for row in rows if is_ok(row)]
    fitted = fit_locality([row["l3_bytes"] for row in good], [row["hit_rate"] for row in good])
    return frame_of(THREADS_SWEEP, [row | _fitted(row, fitted) if is_ok(row) else row for row in rows])


def failed(workload: str, platform: str, message: str) -> pd.DataFrame:
    """One row that says why there is no sweep."""
    head = {"workload": workload, "platform": platform, "status": FAILED, "message": message}
    return frame_of(THREADS_SWEEP, [head])


def _cells(request: Request, progress: Callable[[str], None]) -> list[list[dict]]:
    """A cell of the 4KB layout for each number of threads; all platforms share passes over the trace."""
    space = Space.from_trace_info(traces.info(request.trace))
    with tempfile.TemporaryDirectory(prefix="tessera-threads-") as name:
        path = Path(name) / f"{ALL_4KB}.csv"
        write_layout(space.layout(ALL_4KB, 0, 0), path)
        return simulate_all(
            request.trace, [smaller(request.platform, n) for n in request.threads], [path],
            workload=request.workload, engine=ENGINE, sampling=request.sampling, cache=request.cache,
            progress=progress, threads=request.jobs,
        )  # fmt: skip


def _row(request: Request, threads: int, cell: dict) -> dict:
    head = {
        "workload": request.workload, "platform": request.platform.name, "threads": threads,
        "l3_bytes": l3_bytes(request.platform, threads), "provenance": "simulated",
    }  # fmt: skip
    if not is_ok(cell):
        return head | {"status": FAILED, "message": cell["message"]}
    accesses, sampled = int(cell["accesses"]), int(cell["program_l1d_loads"])
    if not sampled:
        return head | {"status": FAILED, "message": "no access was simulated"}
    # accesses / sampled is 1 if all accesses are simulated
    loads = round(int(cell["program_dram_loads"]) * accesses / sampled)
    counted = {"accesses": accesses, "dram_loads": loads, "hit_rate": 1 - loads / accesses}
    return head | {"status": OK, "message": note_in(cell["message"])} | counted


def _fitted(row: dict, fitted: Locality) -> dict:
    return {
        "fitted_hit_rate": float(fitted.hit_rate(row["l3_bytes"])),
        "locality_exponent": fitted.exponent,
        "locality_bytes": fitted.bytes,
    }
