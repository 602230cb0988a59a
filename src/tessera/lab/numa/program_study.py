"""A recorded program under every placement, on a platform whose caches are scaled to its footprint."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import pandas as pd

from tessera.core import platforms
from tessera.core.errors import TesseraError
from tessera.core.layouts.generation import Space
from tessera.core.layouts.layout import Layout, write_layout
from tessera.core.platforms import Platform, with_values
from tessera.core.results.kernel_tables import PROGRAMS
from tessera.core.results.outcomes import FAILED, OK, SKIPPED, is_ok
from tessera.core.results.table_io import frame_of
from tessera.lab.numa.placement_costs import LINE_BYTES, PLATFORM, published_machine
from tessera.lab.numa.placement_study import (
    PAGE_SIZES,
    placed_cells,
    placement_cases,
    placement_rows,
    show_ratios,
)
from tessera.lab.study import Bounds, Engine, Inputs, Jobs, Recording, Run, study
from tessera.record import traces
from tessera.simulate.runner import CellCache
from tessera.simulate.sampling import PLAN, Plan, parse_sampling

# The scaled machine: a platform whose L3, STLB and walk caches are as much smaller as a program's footprint.
#
# The programs of Mitosis need 32 GB to 85 GB. With 1/k of the footprint, page tables fit in an L3 of 35 MB,
# and walks never reach memory. On the scaled machine, L3, STLB and page-walk caches have 1/k of their
# entries, so they cover the same share of the footprint as the whole ones of the paper's. k = 14 leaves one
# slice of L3.
#
# Not scaled: L1 TLBs, L1 and L2 caches, which hold what a program uses again at once (for example its stack,
# of the same size with every footprint), latencies, rates, and the hog.

ARRAYS = ("tlb.stlb", "pwc.pde", "pwc.pdpte", "pwc.pml4e")  #: keys ``.entries`` and ``.ways``
SMALLEST_L3 = 4  #: in L2 caches: below, L3 would add little to L2


def smaller_array(entries: int, ways: int, scale: float) -> tuple[int, int]:
    """Entries and ways of an array with 1/scale of the entries; it has fewer ways only below one set."""
    wanted = max(1, round(entries / scale))
    ways = min(ways, wanted)
    return max(1, round(wanted / ways)) * ways, ways


def scaled(platform: Platform, scale: float) -> Platform:
    """The platform with 1/scale of its L3, STLB and walk caches, named ``<platform>-by-<scale>``.

    ``scale`` 1 is the platform itself.

    Raises:
        TesseraError: a scale below 1, or one that leaves an L3 smaller than :data:`SMALLEST_L3` L2 caches.
    """
    if not scale >= 1:
        raise TesseraError(
            f"a machine scaled by {scale:g}",
            "the scale must be at least 1: the published footprint over that of the trace",
            "correct the scale, for example scale=14",
            code="numa-scale",
        )
    if scale == 1:
        return platform
    value = {key: one.value for key, one in platform.values.items()}
    keys = {}
    for array in ARRAYS:
        if entries := int(value.get(f"{array}.entries", 0)):
            made = smaller_array(entries, int(value[f"{array}.ways"]), scale)
            keys[f"{array}.entries"], keys[f"{array}.ways"] = made
    ways, slices = int(value["cache.l3.ways"]), int(value.get("cache.l3.slices", 0))
    if slices:
        keys["cache.l3.slices"] = max(1, round(slices / scale))
    step = ways * LINE_BYTES * keys.get("cache.l3.slices", 1)  # one set of each slice
    keys["cache.l3.bytes"] = max(1, round(int(value["cache.l3.bytes"]) / scale / step)) * step
    least = SMALLEST_L3 * int(value["cache.l2.bytes"])
    if keys["cache.l3.bytes"] < least:
        raise TesseraError(
            f"{platform.name} scaled by {scale:g}",
            f"its L3 would have {keys['cache.l3.bytes']} bytes, less than {least}: {SMALLEST_L3} times L2",
            "record a larger size of the program, which needs a smaller scale",
            code="numa-scale-l3",
        )
    why = (
        f"assumed: 1/{scale:g} of {platform.name}, as the footprint "
        "(docs/explain/numa.md, The scaled machine)"
    )
    return replace(with_values(platform, keys, why), name=f"{platform.name}-by-{scale:g}")


# The program under every placement, on the scaled machine: the table :data:`PROGRAMS`.
#
# All placements share the trace and its samples. All pages are 4KB, then 2MB pages; the paper's programs had
# 2MB pages where Linux could give them, so the second half is a bound.

TABLE1 = "mitosis"  #: the key of a workload's ``rows`` that names the program of Mitosis Table 1
PROGRAM_PLAN = parse_sampling(PLAN)
Scale = Annotated[float, Bounds(1)]


@study(PROGRAMS, show=show_ratios)
def placements_of_program(
    run: Run,
    trace: Recording,
    cache: CellCache,
    platform: Platform | None = None,
    scale: Scale = 1,
    sampling: Plan = PROGRAM_PLAN,
    engine: Engine = "timing",
    jobs: Jobs = 1,
) -> pd.DataFrame:
    """Simulate a recorded program under the placements of Mitosis Table 2, on a scaled machine.

    With 1/14 of a published footprint, page tables fit in the caches of the whole machine. The scaled machine
    has 1/14 of its L3, STLB and walk caches. All pages are 4KB pages, then 2MB pages. A recording that failed
    or was skipped is one row that says so.

    Example, after ./run smoke:
      ./run tessera lab run numa-program trace=results/smoke/traces/gups-1gb/info.json scale=14 \\
        --out /tmp/program.csv

    Args:
        trace: trace (.tst), or info.json of a recording.
        platform: name or YAML file; default: haswell-4s-sim.
        scale: L3, STLB and walk caches are so many times smaller: published over recorded footprint.
        sampling: sampling plan (tessera simulate --help).
        engine: of the simulator; partial gives walk cycles only.
        jobs: threads of the simulator.
        cache: folder of finished simulations; default: .cache beside the table.

    Raises:
        TesseraError: a scale that is too small or too large, or a component that is not built.
    """
    about = trace.info or {"status": OK}
    platform = scaled(platform or platforms.load_platform(PLATFORM), scale)
    same = {
        "platform": platform.name, "scale": scale, "size": about.get("size", ""),
        "program": about.get("about", {}).get("rows", {}).get(TABLE1, ""),
        "footprint_bytes": about.get("about", {}).get("footprint_bytes"),
    }  # fmt: skip
    if not is_ok(about):
        status = SKIPPED if about["status"] == SKIPPED else FAILED
        lost = {"workload": trace.workload, "status": status, "message": about["message"]}
        return frame_of(PROGRAMS, [same | lost])
    machine, header = published_machine(), traces.trace_info(trace.trace)
    asked = list(placement_cases(machine))
    with tempfile.TemporaryDirectory(prefix="tessera-numa-") as name:
        layouts = _written(_layouts(Space.from_trace_info(header)), Path(name))
        inputs = Inputs(trace.workload, trace.trace, platform, layouts, cache, sampling, jobs, run.say)
        cells = placed_cells(inputs, machine, asked, PAGE_SIZES, engine)
    return frame_of(
        PROGRAMS, placement_rows(asked, cells, platform, machine, same | {"accesses": header["accesses"]})
    )


def _written(layouts: list[Layout], folder: Path) -> list[Path]:
    for layout in layouts:
        write_layout(layout, folder / f"{layout.name}.csv")
    return [folder / f"{layout.name}.csv" for layout in layouts]


def _layouts(space: Space) -> list[Layout]:
    """The whole program in pages of one size, in the order of :data:`PAGE_SIZES`."""
    return [space.layout(name, 0, space.size if size == "2MB" else 0) for name, size in PAGE_SIZES.items()]
