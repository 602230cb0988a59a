"""What replicas cost (Mitosis, Tables 4 to 6): memory, instructions of calls and of whole runs."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import pandas as pd

from tessera.core import reference
from tessera.core.errors import EXIT_FAILED, TesseraError, unknown_name
from tessera.core.reference.published_tables import PRINTED_REGION
from tessera.core.results.kernel_tables import (
    TABLE4,
    TABLE4_MEASURED,
    TABLE5,
    TABLE5_COUNTS,
    TABLE6,
    TABLE6_COUNTS,
)
from tessera.core.results.table_io import empty_table, frame_of
from tessera.core.tables import frame_rows, print_table
from tessera.core.units import PAGE_4KB, parse_bytes
from tessera.lab.kernel import image
from tessera.lab.kernel.guest import (
    REPLICA_CONFIGS,
    GuestProgram,
    config_folder_name,
    run_in_guest,
    script_failed,
)
from tessera.lab.kernel.page_tables import ENTRIES
from tessera.lab.kernel.qemu import EmulatedMachine
from tessera.lab.study import Names, Run, printed, study
from tessera.machine.container.toolchain import Toolchain

# Table 4: the memory overhead of replicas, ``mem_overhead(footprint, replicas)`` of section 8.3.1.
#
# Four levels of x86-64 tables, a compact address space that starts at 0, at least one table per level.

LEVELS = 4


def table_count(footprint_bytes: int) -> int:
    """Tables of one copy for a compact address space of ``footprint_bytes`` in 4KB pages."""
    if footprint_bytes <= 0:
        raise TesseraError(
            f"page tables of {footprint_bytes} bytes",
            "a footprint must be positive",
            "give a size such as 1GB",
            code="footprint-not-positive",
        )
    total, covered = 0, -(-footprint_bytes // PAGE_4KB)
    for _ in range(LEVELS):
        covered = -(-covered // ENTRIES)
        total += covered
    return total


def table_bytes(footprint_bytes: int) -> int:
    """Bytes of one copy of the page tables."""
    return table_count(footprint_bytes) * PAGE_4KB


def memory_overhead(footprint_bytes: int, replicas: int) -> float:
    """Memory with so many copies of the tables, relative to one copy (1.0 for one)."""
    if replicas < 1:
        raise TesseraError(
            f"{replicas} copies of page tables",
            "the number of copies must be at least 1",
            "give 1 or more",
            code="no-copies",
        )
    one = table_bytes(footprint_bytes)
    return (footprint_bytes + replicas * one) / (footprint_bytes + one)


def memory_table() -> pd.DataFrame:
    """Table 4: the function (``overhead``) beside the printed numbers (``published_overhead``).

    Footprints and numbers of copies are those of the printed table.
    """
    printed = reference.select_published("mitosis_table4", {"quantity": "overhead"})
    sizes = printed["footprint"].map(parse_bytes)
    copies = printed["replicas"].astype(int)
    return pd.DataFrame(
        {
            "footprint": printed["footprint"],
            "footprint_bytes": sizes,
            "page_table_bytes": sizes.map(table_bytes),
            "replicas": copies,
            "overhead": [memory_overhead(size, count) for size, count in zip(sizes, copies, strict=True)],
            "published_overhead": printed["value"],
        }
    ).reset_index(drop=True)


# Table 4, measured: the memory of page tables and their copies, as the kernel counts it.

#: What fits in the guest. Larger footprints are arithmetic: :func:`memory_table`.
FOOTPRINTS_BYTES = (1 << 20, 64 << 20, 1 << 30)
#: Copies of the tables -> nodes that ``pgtblrepl`` is asked for.
COPIES = {1: "none", 2: "0-1", 4: "0-3"}

FOOTPRINT_SCRIPT = """echo 1 > /proc/sys/vm/pgtable_replication || exit
for bytes in {footprints}; do
{runs}
done
"""
#: On processor 0: a process that is born outside its nodes has home tables there, one copy more.
_FOOTPRINT_RUN = (
    "    taskset 1 pgtblrepl -r {nodes} -- footprint $bytes > /tmp/line"
    " && sed 's/^/{copies},/' /tmp/line || exit"
)


def run_footprint(tools: Toolchain, program: GuestProgram, out: Path) -> pd.DataFrame:
    """Run ``footprint`` in the guest for all sizes and numbers of copies.

    The kernel doesn't count roots among the home tables, and those of replicas exist before the region
    does; one page for each copy's root is added here.

    Returns:
        A row a footprint and number of copies; bytes of all copies of the tables, and the memory relative
        to that with one copy.
    """
    runs = "\n".join(_FOOTPRINT_RUN.format(nodes=nodes, copies=copies) for copies, nodes in COPIES.items())
    script = FOOTPRINT_SCRIPT.format(footprints=" ".join(map(str, FOOTPRINTS_BYTES)), runs=runs)
    done = run_in_guest(
        tools, program, script, out, machine=EmulatedMachine(memory_mb=3072), timeout_seconds=600
    )
    if done.status != 0:
        raise script_failed("the memory of page tables", done)
    return footprint_table(done.text("stdout"))


def footprint_table(text: str) -> pd.DataFrame:
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
    frame["page_table_bytes"] = 1024 * (frame.home_kb + frame.replica_kb) + PAGE_4KB * frame.copies
    memory = frame.footprint_bytes + frame.page_table_bytes
    single = frame[frame.copies == 1].set_index("footprint_bytes").page_table_bytes
    frame["overhead"] = memory / (frame.footprint_bytes + frame.footprint_bytes.map(single))
    frame["calculated_overhead"] = [
        memory_overhead(size, copies)
        for size, copies in zip(frame.footprint_bytes, frame.copies, strict=True)
    ]
    frame["provenance"] = "measured"
    return frame[list(TABLE4_MEASURED.names)]


def _show_table4(calculated: pd.DataFrame, measured: pd.DataFrame) -> None:
    print_table(**frame_rows(measured if len(measured) else calculated, 4))


@study(TABLE4, TABLE4_MEASURED, show=_show_table4)
def table4_study(
    run: Run, measured: bool = True, accept_series: bool = False
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Compute the memory of replicas (Table 4) by the paper's formula; measure small sizes in the guest.

    The exit status is 1 if the guest's page tables have another size than the formula gives.

    Example: ./run tessera lab run kernel-table4 measured=no --out /tmp/table4

    Args:
        measured: no: only the formula, without a guest.
        accept_series: take another version of the kernel source's series if all patches apply.

    Raises:
        TesseraError: the kernel cannot be built, or the script in the guest failed.
    """
    if not measured:
        return memory_table(), empty_table(TABLE4_MEASURED)
    program = image.guest_program("checked", run.say, accept_series=accept_series)
    found = run_footprint(image.kernel_tools(run.say), program, run.folder)
    run.wrong.extend(footprint_disagreements(found))
    return memory_table(), found


def footprint_disagreements(measured: pd.DataFrame) -> list[str]:
    """A line for each footprint whose page tables have another size than the paper's formula gives."""
    return [
        f"{row.footprint_bytes} bytes, {row.copies} copies: {row.page_table_bytes} bytes of page tables, "
        f"calculated {row.copies * table_bytes(row.footprint_bytes)}"
        for row in measured.itertuples()
        if row.page_table_bytes != row.copies * table_bytes(row.footprint_bytes)
    ]


# Table 5: the cost of replicas, as ratios of instructions.
#
# The paper counts cycles on a machine with four sockets; QEMU has no meaningful cycles, so those are
# NOT-MEASURABLE-HERE. Instructions under ``-icount`` show how much more work the kernel does.
# Four nodes, because a node without a processor gets no replicas; all that runs is on the first processor.

#: Its processors take turns, and all count with one counter.
COUNTING_MACHINE = EmulatedMachine(nodes=4, cpus=4, memory_mb=2048, icount=True)

#: Regions of Table 5 in bytes; the last one stands for the paper's 4 GB: the largest that fits in the guest.
REGIONS_BYTES = {"4KB": 4096, "8MB": 8 << 20, "1GB": 1 << 30}
REPEATS = {"4KB": 200, "8MB": 20, "1GB": 1}

_VMAOPS = """
for region in {regions}; do
    set -- $(echo $region | tr : ' ')
    taskset 1 {wrapper} vmaops $1 $2 > /out/$1.csv || exit
done
"""


def vma_operations(
    tools: Toolchain, config: str, program: GuestProgram, out: Path, regions: dict[str, int] | None = None
) -> pd.DataFrame:
    """Instructions of mmap, mprotect and munmap for one of :data:`REPLICA_CONFIGS`; the median over repeats.

    The median leaves out the timer's interrupts, which hit single repeats.
    """
    regions = regions or REGIONS_BYTES
    _, begin, wrapper, copies = REPLICA_CONFIGS[config]
    asked = " ".join(f"{size}:{REPEATS[name]}" for name, size in regions.items())
    script = begin + _VMAOPS.format(regions=asked, wrapper=wrapper)
    done = run_in_guest(tools, program, script, out, machine=COUNTING_MACHINE, timeout_seconds=1800)
    if done.status != 0:
        raise script_failed(f"a count of instructions, {config}", done)
    tables = []
    for name, size in regions.items():
        frame = pd.read_csv(io.StringIO(done.text(f"{size}.csv")))
        check_calibration(frame)
        median = (
            frame[frame.operation != "calibration"].groupby("operation", sort=False).instructions.median()
        )
        tables.append(median.reset_index().assign(region=name, bytes=size, config=config, copies=copies))
    return pd.concat(tables).assign(provenance="measured")[list(TABLE5_COUNTS.names)]


@study(TABLE5_COUNTS, TABLE5, show=printed(3))
def table5_study(
    run: Run, regions: Names = tuple(REGIONS_BYTES), accept_series: bool = False
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Count instructions of mmap, mprotect and munmap without and with replicas (Table 5).

    Example: ./run tessera lab run kernel-table5 regions=4KB --out build/kernel/table5

    Args:
        regions: sizes: 4KB, 8MB, 1GB.
        accept_series: take another version of the kernel source's series if all patches apply.

    Raises:
        TesseraError: an unknown region, a kernel cannot be built, or the script in the guest failed.
    """
    for name in regions:
        if name not in REGIONS_BYTES:
            raise unknown_name("region", name, tuple(REGIONS_BYTES))
    asked = {name: REGIONS_BYTES[name] for name in regions}
    measured = _count(run, accept_series, list(REPLICA_CONFIGS), partial(vma_operations, regions=asked))
    return measured, operations_table(measured)


def _count(
    run: Run, accept_series: bool, configs: Sequence[str], measure: Callable[..., pd.DataFrame]
) -> pd.DataFrame:
    """The rows of all of these configurations."""
    tables = []
    for config in configs:
        run.say(f"counting instructions: {config}")
        program = image.guest_program(REPLICA_CONFIGS[config][0], run.say, accept_series=accept_series)
        tables.append(
            measure(image.kernel_tools(run.say), config, program, run.folder / config_folder_name(config))
        )
    return pd.concat(tables)


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


def operations_table(measured: pd.DataFrame) -> pd.DataFrame:
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


# Table 6's question as a ratio of instructions: does a whole run cost more with replicas?
#
# The paper times GUPS and Redis, initialisation included, with everything on the socket that runs them. Here
# a program runs on one processor whose memory is on its own node, and each instruction counts, the kernel's
# too.

#: Programs of the guest, sized to one node's memory: GUPS is the paper's, btree in the place of Redis.
WHOLE_RUN_PROGRAMS = {
    "gups": "gups --mode update --size 64MB --reads 2000000",
    "btree": "btree --elements 200000 --lookups 100000",
}
#: Our program -> the same one in Table 6, whose overhead is in per cent of time.
PRINTED_QUANTITY = {"gups": "overhead_gups"}

_WHOLE_RUN_SCRIPT = "taskset 1 {wrapper} countrun {command} > /out/{name} 2> /out/{name}.count || exit\n"


def measure_whole_run(tools: Toolchain, config: str, program: GuestProgram, out: Path) -> pd.DataFrame:
    """Instructions of :data:`WHOLE_RUN_PROGRAMS` for one of :data:`REPLICA_CONFIGS`."""
    _, begin, wrapper, copies = REPLICA_CONFIGS[config]
    script = begin + "".join(
        _WHOLE_RUN_SCRIPT.format(wrapper=wrapper, command=command, name=name)
        for name, command in WHOLE_RUN_PROGRAMS.items()
    )
    done = run_in_guest(tools, program, script, out, machine=COUNTING_MACHINE, timeout_seconds=1800)
    rows = []
    for name in WHOLE_RUN_PROGRAMS:
        counted = re.search(r"^instructions (\d+)$", done.text(f"{name}.count"), re.MULTILINE)
        if done.status != 0 or counted is None or '"verified":true' not in done.text(name).replace(" ", ""):
            raise script_failed(f"a whole run of {name}, {config}", done)
        rows.append((name, config, copies, int(counted.group(1)), "measured"))
    return frame_of(TABLE6_COUNTS, rows)


@study(TABLE6_COUNTS, TABLE6, show=printed(3))
def table6_study(run: Run, accept_series: bool = False) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Count instructions of whole programs without and with replicas (Table 6).

    Example: ./run tessera lab run kernel-table6 --out build/kernel/table6

    Args:
        accept_series: take another version of the kernel source's series if all patches apply.

    Raises:
        TesseraError: a kernel cannot be built, or the script in the guest failed.
    """
    measured = _count(run, accept_series, ["off", "replicated"], measure_whole_run)
    return measured, program_overheads(measured)


def program_overheads(measured: pd.DataFrame) -> pd.DataFrame:
    """One row a program: instructions off and replicated, overhead in per cent, and the paper's (of time)."""
    wide = measured.pivot_table(index="program", columns="config", values="instructions", sort=False)
    table = pd.DataFrame(
        {
            "off_instructions": wide["off"],
            "replicated_instructions": wide["replicated"],
            "overhead_percent": 100 * (wide["replicated"] / wide["off"] - 1),
            "provenance": "measured",
        }
    )
    table["published_overhead_percent"] = [_printed_overhead(name) for name in table.index]
    return table.reset_index()


def _printed_overhead(program: str) -> float:
    if program not in PRINTED_QUANTITY:
        return float("nan")
    return reference.lookup("mitosis_values", {"quantity": PRINTED_QUANTITY[program]})
