"""Table 5: the cost of replicas, as ratios of instructions.

The paper counts cycles on a machine with four sockets; QEMU has no meaningful cycles, so those are
NOT-MEASURABLE-HERE. Instructions under ``-icount`` show how much more work the kernel does.
One processor, so that nothing else runs; memory on four nodes.
"""

from __future__ import annotations

import io
from pathlib import Path

import pandas as pd

from tessera import reference
from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.kernel.experiments.scripts import CONFIGS, failed
from tessera.kernel.guest import GuestProgram, run_in_guest
from tessera.kernel.machine import Machine
from tessera.machine.container.toolchain import Toolchain
from tessera.reference.mitosis import PRINTED_REGION
from tessera.results.schema.kernel import TABLE5_COUNTS

#: Regions of Table 5 in bytes; the last one stands for the paper's 4 GB: the largest that fits in the guest.
REGIONS_BYTES = {"4KB": 4096, "8MB": 8 << 20, "1GB": 1 << 30}
REPEATS = {"4KB": 200, "8MB": 20, "1GB": 1}

_VMAOPS = """
for region in {regions}; do
    set -- $(echo $region | tr : ' ')
    {wrapper} vmaops $1 $2 > /out/$1.csv || exit
done
"""


def vma_operations(
    tools: Toolchain, config: str, program: GuestProgram, out: Path, regions: dict[str, int] | None = None
) -> pd.DataFrame:
    """Instructions of mmap, mprotect and munmap for one of ``scripts.CONFIGS``; the median over repeats.

    The median leaves out the timer's interrupts, which hit single repeats.
    """
    regions = regions or REGIONS_BYTES
    _, begin, wrapper, copies = CONFIGS[config]
    asked = " ".join(f"{size}:{REPEATS[name]}" for name, size in regions.items())
    script = begin + _VMAOPS.format(regions=asked, wrapper=wrapper)
    machine = Machine(nodes=4, cpus=1, memory_mb=2048, icount=True)
    done = run_in_guest(tools, program, script, out, machine=machine, timeout_seconds=1800)
    if done.status != 0:
        raise failed(f"a count of instructions, {config}", done)
    tables = []
    for name, size in regions.items():
        frame = pd.read_csv(io.StringIO(done.text(f"{size}.csv")))
        check_calibration(frame)
        median = (
            frame[frame.operation != "calibration"].groupby("operation", sort=False).instructions.median()
        )
        tables.append(median.reset_index().assign(region=name, bytes=size, config=config, copies=copies))
    return pd.concat(tables).assign(provenance="measured")[list(TABLE5_COUNTS.names)]


def check_calibration(frame: pd.DataFrame) -> None:
    """An error unless the loop of 200,000 instructions was counted as such, to 1%."""
    counted = int(frame[frame.operation == "calibration"].instructions.iloc[0])
    if abs(counted - 200_000) > 2_000:
        raise TesseraError(
            "a count of instructions",
            f"QEMU counted {counted} instructions for a loop of 200000",
            "use a QEMU, such as 7.2, whose time-stamp counter advances by 1 per instruction",
            exit_code=EXIT_FAILED,
        )


def table5(measured: pd.DataFrame) -> pd.DataFrame:
    """One row an operation and region: instructions by configuration, and their ratios.

    ``replicated_ratio`` is the paper's (4 copies to the patched kernel with the mechanism off),
    ``off_ratio`` what the patches cost when they are not used (off to unpatched), ``published_ratio`` what
    Table 5 prints in cycles.
    """
    wide = measured.pivot_table(
        index=["operation", "region"], columns="config", values="instructions", sort=False
    )
    table = wide.rename(columns=lambda name: f"{name.replace(',', '').replace(' ', '_')}_instructions")
    table["replicated_ratio"] = wide["replicated"] / wide["off"]
    table["off_ratio"] = wide["off"] / wide["unpatched"]
    table["provenance"] = "measured"
    table["published_ratio"] = [printed_ratio(*key) for key in table.index]
    return table.reset_index()


def printed_ratio(operation: str, region: str) -> float:
    """Ratio of cycles, 4 copies to one, that Table 5 prints for an operation and one of our regions."""
    printed = {"operation": operation, "region": PRINTED_REGION.get(region, region), "quantity": "overhead"}
    return reference.lookup("mitosis_table5", printed)
