"""Table 6 as extra cycles of a mapped page, beside the archived cost of mmap (Table 5).

Both runs of Table 6 have everything local, so they show the cost of replicas without their gain. Extra cycles
of a page = (on - off) x frequency / pages, with 4KB pages of the footprint of Table 1 (GB as powers of two).
The standard deviation of a difference is the root of the sum of squares; bounds are two of them on either
side. Table 6 prints no unit. Seconds are the only one that fits: the same program without initialization
takes fewer seconds in Figure 6. The number of replicas is not printed either.

The archived mmap of 4GB is in quarantine, because Table 5 prints 1.4e9 cycles and the archive has 3.4e9. Its
difference between on and off is used here beside Table 6, and the note says so.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from tessera import reference
from tessera.numa.archive import Archive, column, cycles_of
from tessera.numa.arithmetic.check import Check
from tessera.numa.machine import printed, published
from tessera.numa.placement import LOCAL

PAGE_BYTES = 4096
REGION_BYTES = 1 << 32  #: of the archived mmap
DEVIATIONS = 2
PROGRAMS = ("GUPS", "Redis")


def extra_cycles_a_page(program: str) -> tuple[float, float]:
    """Extra cycles of Mitosis for each mapped page of Table 6, and their standard deviation."""
    name = program.lower()
    where = {"workload": program, "scenario": "migration"}
    pages = reference.lookup("mitosis_table1", where) * 2**30 / PAGE_BYTES
    off, on = (
        reference.lookup("mitosis_values", {"quantity": f"runtime_{name}_{state}"}) for state in ("off", "on")
    )
    spread = math.hypot(printed(f"deviation_{name}_off"), printed(f"deviation_{name}_on"))
    cycles = published().frequency_hz / pages
    return (on - off) * cycles, spread * cycles


def archived_mmap(archive: Archive) -> float:
    """Extra cycles a page of mmap of 4GB in the archive; NaN if it is not there."""
    rows = archive.every
    rows = rows[(rows["workload"] == "mmap") & (rows["quantity"] == "avg")]
    rows = rows[rows["region_bytes"] == REGION_BYTES].set_index("configuration")["value"]
    if not {"on", "off"} <= set(rows.index):
        return float("nan")
    return float(rows["on"] - rows["off"]) / (REGION_BYTES / PAGE_BYTES)


def table6(archive: Archive) -> Iterator[Check]:
    """Table 6 costs as much for a page as mmap does, and its unit is seconds."""
    mmap = archived_mmap(archive)
    runtime = column(cycles_of(archive.good, "Figure 6", "runtime", "4KB"), LOCAL)
    for program in PROGRAMS:
        extra, spread = extra_cycles_a_page(program)
        yield Check(
            "mmap beside Table 6", program, "4KB", mmap, extra - DEVIATIONS * spread,
            extra + DEVIATIONS * spread, "cycles a page",
            f"Table 6: {extra:.0f} +- {spread:.0f} cycles a page; archived mmap of 4GB, set aside",
        )  # fmt: skip
    for program in PROGRAMS:
        whole = reference.lookup("mitosis_values", {"quantity": f"runtime_{program.lower()}_off"})
        seconds = float(runtime.get(program, float("nan"))) / published().frequency_hz
        yield Check(
            "part of Table 6's run",
            program,
            "4KB",
            seconds,
            0,
            whole,
            "s",
            "Figure 6, without initialization",
        )
