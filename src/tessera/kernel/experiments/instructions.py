"""Tables 5 and 6: what replicas cost, as ratios of instructions.

The paper counts cycles on a machine with four sockets; QEMU has no meaningful cycles, so those are
NOT-MEASURABLE-HERE. Instructions under ``-icount`` say how much more work the kernel does.
One processor, so that nothing else runs; memory on four nodes.
"""

from __future__ import annotations

import io
import re
from pathlib import Path

import pandas as pd

from tessera.container.toolchain import Toolchain
from tessera.errors import EXIT_FAILED, TesseraError
from tessera.kernel.guest import GuestRun, Program, run
from tessera.kernel.machine import Machine

#: Regions of Table 5 in bytes; the last one stands for the paper's 4 GB: the largest that fits in the guest.
REGIONS_BYTES = {"4KB": 4096, "8MB": 8 << 20, "1GB": 1 << 30}
REPEATS = {"4KB": 200, "8MB": 20, "1GB": 3}
COLUMNS = ["operation", "region", "bytes", "config", "copies", "instructions", "provenance"]

_VMAOPS = """
for region in {regions}; do
    set -- $(echo $region | tr : ' ')
    {wrapper} vmaops $1 $2 > /out/$1.csv || exit
done
"""
_ON = "echo 1 > /proc/sys/vm/pgtable_replication || exit\n"
#: name -> kernel variant, first lines of the script, wrapper of the program, copies of the tables
CONFIGS = {
    "unpatched": ("plain", "", "", 1),
    "off": ("measure", "", "", 1),
    "on, not replicated": ("measure", _ON, "", 1),
    "replicated": ("measure", _ON, "pgtblrepl -r 0-3", 4),
}


def vma_operations(tools: Toolchain, config: str, program: Program, out: Path) -> pd.DataFrame:
    """Instructions of mmap, mprotect and munmap for one of :data:`CONFIGS`; the median over repeats.

    The median leaves out the timer's interrupts, which hit single repeats.
    """
    _, begin, wrapper, copies = CONFIGS[config]
    regions = " ".join(f"{size}:{REPEATS[name]}" for name, size in REGIONS_BYTES.items())
    script = begin + _VMAOPS.format(regions=regions, wrapper=wrapper)
    machine = Machine(nodes=4, cpus=1, memory_mb=2048, icount=True)
    done = run(tools, program, script, out, machine=machine, timeout_seconds=900)
    if done.status != 0:
        raise _failed(config, done)
    tables = []
    for name, size in REGIONS_BYTES.items():
        frame = pd.read_csv(io.StringIO(done.text(f"{size}.csv")))
        check_calibration(frame)
        median = (
            frame[frame.operation != "calibration"].groupby("operation", sort=False).instructions.median()
        )
        tables.append(median.reset_index().assign(region=name, bytes=size, config=config, copies=copies))
    return pd.concat(tables).assign(provenance="measured")[COLUMNS]


def check_calibration(frame: pd.DataFrame) -> None:
    """An error unless the loop of 200,000 instructions was counted as such, to 1%."""
    counted = int(frame[frame.operation == "calibration"].instructions.iloc[0])
    if abs(counted - 200_000) > 2_000:
        raise TesseraError(
            "a count of instructions",
            f"a loop of 200000 instructions counts as {counted}",
            "QEMU's time-stamp counter must advance by one an instruction: -icount shift=0 (QEMU 7.2 does)",
            exit_code=EXIT_FAILED,
        )


def table5(measured: pd.DataFrame) -> pd.DataFrame:
    """Ratios to the patched kernel with the mechanism off: one row an operation and region."""
    wide = measured.pivot_table(
        index=["operation", "region"], columns="config", values="instructions", sort=False
    )
    ratios = wide.div(wide["off"], axis=0).add_prefix("ratio of ")
    return pd.concat([wide, ratios], axis=1).reset_index()


#: Table 6's question for a program that fits in the guest: the whole run, initialisation included.
_WHOLE_RUN = "{begin}{wrapper} countrun {command} > /out/program 2> /out/count\n"


def whole_run(
    tools: Toolchain,
    config: str,
    program: Program,
    command: list[str],
    files: dict[str, bytes],
    out: Path,
) -> int:
    """Instructions of a whole run of ``command`` for one of :data:`CONFIGS`."""
    _, begin, wrapper, _ = CONFIGS[config]
    script = _WHOLE_RUN.format(begin=begin, wrapper=wrapper, command=" ".join(command))
    machine = Machine(nodes=4, cpus=1, memory_mb=2048, icount=True)
    done = run(tools, program, script, out, machine=machine, timeout_seconds=900, files=files)
    counted = re.search(r"^instructions (\d+)$", done.text("count"), re.MULTILINE)
    if done.status != 0 or counted is None:
        raise _failed(config, done)
    return int(counted.group(1))


def _failed(config: str, done: GuestRun) -> TesseraError:
    return TesseraError(
        f"a count of instructions, {config}",
        f"the guest's script ended with status {done.status}: {done.text('stderr').strip()[-300:]}",
        f"read the files of {done.folder}",
        exit_code=EXIT_FAILED,
    )
