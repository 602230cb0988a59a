"""Table 4, measured: the memory of page tables and their copies, as the kernel counts it."""

from __future__ import annotations

import io
from pathlib import Path

import pandas as pd

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.kernel.experiments.scripts import failed
from tessera.kernel.guest import GuestProgram, run_in_guest
from tessera.kernel.machine import Machine
from tessera.kernel.overhead import PAGE_BYTES, overhead, table_bytes
from tessera.machine.container.toolchain import Toolchain
from tessera.results.schema.kernel import TABLE4_MEASURED

#: What fits in the guest. Larger footprints are arithmetic: :func:`tessera.kernel.overhead.table4`.
FOOTPRINTS_BYTES = (1 << 20, 64 << 20, 1 << 30)
#: Copies of the tables -> nodes that ``pgtblrepl`` is asked for.
COPIES = {1: "none", 2: "0-1", 4: "0-3"}

SCRIPT = """echo 1 > /proc/sys/vm/pgtable_replication || exit
for bytes in {footprints}; do
{runs}
done
"""
#: On processor 0: a process that is born outside its nodes has home tables there, one copy more.
_RUN = (
    "    taskset 1 pgtblrepl -r {nodes} -- footprint $bytes > /tmp/line"
    " && sed 's/^/{copies},/' /tmp/line || exit"
)


def measure(tools: Toolchain, program: GuestProgram, out: Path) -> pd.DataFrame:
    """Run ``footprint`` in the guest for all sizes and numbers of copies.

    The kernel doesn't count roots among the home tables, and those of replicas exist before the region
    does; one page for each copy's root is added here.

    Returns:
        A row a footprint and number of copies; bytes of all copies of the tables, and the memory relative
        to that with one copy.
    """
    runs = "\n".join(_RUN.format(nodes=nodes, copies=copies) for copies, nodes in COPIES.items())
    script = SCRIPT.format(footprints=" ".join(map(str, FOOTPRINTS_BYTES)), runs=runs)
    done = run_in_guest(tools, program, script, out, machine=Machine(memory_mb=3072), timeout_seconds=600)
    if done.status != 0:
        raise failed("the memory of page tables", done)
    return weigh(done.text("stdout"))


def weigh(text: str) -> pd.DataFrame:
    """Table of the lines ``copies,footprint,kB of home tables,kB of replicas``."""
    names = ["copies", "footprint_bytes", "home_kb", "replica_kb"]
    frame = pd.read_csv(io.StringIO(text), names=names)
    if len(frame) != len(FOOTPRINTS_BYTES) * len(COPIES):
        raise TesseraError(
            "the memory of page tables",
            f"the guest wrote {len(frame)} lines, expected {len(FOOTPRINTS_BYTES) * len(COPIES)}",
            "read the guest's console",
            exit_code=EXIT_FAILED,
        )
    frame["page_table_bytes"] = 1024 * (frame.home_kb + frame.replica_kb) + PAGE_BYTES * frame.copies
    memory = frame.footprint_bytes + frame.page_table_bytes
    single = frame[frame.copies == 1].set_index("footprint_bytes").page_table_bytes
    frame["overhead"] = memory / (frame.footprint_bytes + frame.footprint_bytes.map(single))
    frame["calculated_overhead"] = [
        overhead(size, copies) for size, copies in zip(frame.footprint_bytes, frame.copies, strict=True)
    ]
    frame["provenance"] = "measured"
    return frame[list(TABLE4_MEASURED.names)]


def disagreements(measured: pd.DataFrame) -> list[str]:
    """A line for each footprint whose page tables have another size than the paper's formula gives."""
    return [
        f"{row.footprint_bytes} bytes, {row.copies} copies: {row.page_table_bytes} bytes of page tables, "
        f"calculated {row.copies * table_bytes(row.footprint_bytes)}"
        for row in measured.itertuples()
        if row.page_table_bytes != row.copies * table_bytes(row.footprint_bytes)
    ]
