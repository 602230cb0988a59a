"""A recorded program under every placement, on the scaled machine: the table :data:`PROGRAMS`.

The paper's programs have 32 GB to 85 GB. Ours are smaller, and so is their machine
(:mod:`tessera.numa.scaled`). All placements share the trace and its samples. All pages are 4KB, then
2MB pages; the paper's programs had 2MB pages where Linux could give them, so the second half is a bound.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from tessera import platforms
from tessera.layouts.model import Layout, write_layout
from tessera.layouts.space import Space
from tessera.numa.machine import published
from tessera.numa.rows import PAGE_SIZES, rows_of
from tessera.numa.scaled import scaled
from tessera.numa.variants import cases, variant
from tessera.record import traces
from tessera.results.recordings import recorded
from tessera.results.schema.numa import PROGRAMS
from tessera.results.status import FAILED, SKIPPED, is_ok
from tessera.results.write import frame_of, write
from tessera.simulate.cache import CellCache
from tessera.simulate.plan import parse_sampling
from tessera.simulate.runner import simulate_all

TABLE1 = "mitosis"  #: the key of a workload's ``rows`` that names the program of Mitosis Table 1


@dataclass(frozen=True)
class Program:
    """What is simulated: a recording, on a platform scaled by ``scale``, with these samples."""

    info: Path
    platform: str
    scale: float
    sampling: str
    cache: Path | None
    out: Path
    engine: str = "timing"
    jobs: int = 1


def program_study(program: Program, progress: Callable[[str], None] = lambda line: None) -> pd.DataFrame:
    """Simulate the trace under every placement and write the table.

    A recording that failed or was skipped is one row that says so.

    Raises:
        TesseraError: no such recording, an unknown platform, a scale that is too small or too large, or a
            component that is not built.
    """
    about, trace = recorded(program.info)
    platform = scaled(platforms.load(program.platform), program.scale)
    same = {
        "platform": platform.name, "scale": program.scale, "size": about.get("size", ""),
        "program": about.get("about", {}).get("rows", {}).get(TABLE1, ""),
        "footprint_bytes": about.get("about", {}).get("footprint_bytes"),
    }  # fmt: skip
    if not is_ok(about):
        status = SKIPPED if about["status"] == SKIPPED else FAILED
        lost = {"workload": about["workload"], "status": status, "message": about["message"]}
        return write(PROGRAMS, frame_of(PROGRAMS, [same | lost]), program.out)
    machine, header = published(), traces.info(trace)
    asked = list(cases(machine))
    with tempfile.TemporaryDirectory(prefix="tessera-numa-") as name:
        layouts = _written(_layouts(Space.from_trace_info(header)), Path(name))
        tables = simulate_all(
            trace, [variant(platform, machine, case) for case in asked], layouts,
            workload=about["workload"], engine=program.engine, sampling=parse_sampling(program.sampling),
            cache=CellCache(program.cache), progress=progress, threads=program.jobs,
        )  # fmt: skip
    found = [dict(zip(PAGE_SIZES, cells, strict=True)) for cells in tables]
    rows = rows_of(asked, found, platform, machine, same | {"accesses": header["accesses"]})
    return write(PROGRAMS, frame_of(PROGRAMS, rows), program.out)


def _written(layouts: list[Layout], folder: Path) -> list[Path]:
    for layout in layouts:
        write_layout(layout, folder / f"{layout.name}.csv")
    return [folder / f"{layout.name}.csv" for layout in layouts]


def _layouts(space: Space) -> list[Layout]:
    """The whole program in pages of one size, in the order of :data:`PAGE_SIZES`."""
    return [space.layout(name, 0, space.size if size == "2MB" else 0) for name, size in PAGE_SIZES.items()]
