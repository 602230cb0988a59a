"""What replicas cost beyond Mitosis's tables: each update of an entry, requests of a process, and memory.

All in one guest, whose first processor executes the counted programs. Instructions are counted under
``-icount``, as for Table 5 in :mod:`tessera.lab.kernel.cost_experiments`, and loads and stores by a plugin of
QEMU (``artifacts/kernel-stream/plugin/references.c``).
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.files import built
from tessera.core.results.kernel_tables import COST_MEMORY, COST_OPERATIONS, COST_REQUESTS, COST_UPDATES
from tessera.core.tables import frame_rows, print_table
from tessera.core.units import MB, PAGE_4KB, parse_bytes
from tessera.lab.kernel import image
from tessera.lab.kernel.cost_experiments import COUNTING_MACHINE, check_calibration
from tessera.lab.kernel.guest import REPLICATION_ON, GuestProgram, run_in_guest, script_failed
from tessera.lab.kernel.qemu import EmulatedMachine
from tessera.lab.study import Names, Run, study
from tessera.machine.container.build import build_component
from tessera.machine.container.toolchain import Toolchain

#: Leaves of the region of :data:`COST_OPERATIONS`: 8 MB.
REGION_LEAVES = 2048
#: Two numbers of entries that need the same tables; the difference of their counts is that of the entries.
FEW_LEAVES, MANY_LEAVES = 10, 490
FEW_TABLES, MANY_TABLES = 5, 405
#: Copies of the tables -> how a program gets them. 0: the mechanism is off.
COPIES = {0: "", 1: "", 2: "pgtblrepl -r 0-1 --", 3: "pgtblrepl -r 0-2 --", 4: "pgtblrepl -r 0-3 --"}
#: Memory of the process of :data:`COST_MEMORY`, and pages of the reserve on each node.
ACCOUNTED_BYTES, RESERVE_PAGES = 64 * MB, 256
#: What the fourth copy may add to an update, relative to the third. Calls that allocate repeat less well.
EQUAL_STEPS, ABOUT_EQUAL_STEPS = 1.05, 1.25

#: The component with the plugin that counts loads and stores.
COMPONENT, PLUGIN, REFERENCES = "kernel-stream", "libtessera-references.so", "references"

_ON_ONE_PROCESSOR = "taskset -p 1 $$ > /dev/null || exit\n"
#: On one processor, too: each keeps charged pages of its own.
_ACCOUNTS = f"""mkdir -p /cgroups && mount -t cgroup2 cgroup2 /cgroups || exit
echo +memory > /cgroups/cgroup.subtree_control && mkdir /cgroups/measured /cgroups/reader || exit
accounts /cgroups {ACCOUNTED_BYTES} {RESERVE_PAGES} > /out/accounts.csv || exit
"""


@dataclass(frozen=True)
class ReferencesMachine(EmulatedMachine):
    """A machine that counts loads and stores, too; its file ``references`` has a line for each operation.

    Attributes:
        plugin: what counts them.
    """

    plugin: Path = Path()

    @property
    def written(self) -> tuple[str, ...]:
        """Files that QEMU writes in its folder, and that a run keeps."""
        return (*super().written, REFERENCES)

    def command(self, folder: Path, kernel: Path, initrd: Path, append: str = "") -> list[str]:
        """QEMU's argument list."""
        plugin = ["-plugin", f"{self.plugin},out={folder / REFERENCES}"]
        return [*super().command(folder, kernel, initrd, append), *plugin]


def counted_files(patched: bool) -> dict[str, tuple[int, str]]:
    """Files with the output of ``leafops``, in the script's order -> copies of the tables, arguments."""
    region = f"leaves 3 {REGION_LEAVES}"
    if not patched:
        return {"region-unpatched": (0, region)}
    files = {}
    for copies in COPIES:
        files[f"leaves-{copies}"] = (copies, f"leaves 7 {FEW_LEAVES} {MANY_LEAVES}")
        files[f"tables-{copies}"] = (copies, f"tables 7 {FEW_TABLES} {MANY_TABLES}")
        if config := {0: "off", 1: "on_not_replicated", 4: "replicated"}.get(copies):
            files[f"region-{config}"] = (copies, region)
    return files


def costs_script(patched: bool, sizes: Sequence[int]) -> str:
    """Script of the guest with a kernel with or without the series."""
    lines, on = [_ON_ONE_PROCESSOR], False
    for name, (copies, words) in counted_files(patched).items():
        if copies and not on:
            lines.append(REPLICATION_ON)
            on = True
        lines.append(f"{COPIES[copies]} leafops {words} > /out/{name}.csv || exit\n".lstrip())
    if patched:
        lines.append(f"requests {' '.join(map(str, sizes))} > /out/requests.csv || exit\n{_ACCOUNTS}")
    return "".join(lines)


def _run(
    tools: Toolchain, program: GuestProgram, out: Path, machine: EmulatedMachine, script: str
) -> dict[str, str]:
    """The files of the guest, by their stems."""
    done = run_in_guest(tools, program, script, out, machine=machine, timeout_seconds=1800)
    if done.status != 0:
        raise script_failed("the costs of replicas", done)
    return {path.stem: path.read_text() for path in out.glob("*.csv")}


def with_references(texts: dict[str, str], references: str) -> dict[str, str]:
    """The output of ``leafops`` with loads and stores of each row, which the plugin wrote in the same order.

    Args:
        texts: output by file, in the script's order.
        references: lines of the plugin.

    Raises:
        TesseraError: there are more or fewer lines than rows.
    """
    counted, found = references.splitlines(), {}
    rows = {name: text.splitlines() for name, text in texts.items()}
    if len(counted) != (expected := sum(len(lines) - 2 for lines in rows.values())):
        raise TesseraError(
            "a count of references",
            f"the plugin wrote {len(counted)} lines for {expected} operations",
            "use QEMU 7.2, for which the plugin is written",
            exit_code=EXIT_FAILED,
        )
    for name, (header, calibration, *lines) in rows.items():
        mine, counted = counted[: len(lines)], counted[len(lines) :]
        joined = [f"{line},{more}" for line, more in zip(lines, mine, strict=True)]
        found[name] = "\n".join([f"{header},loads,stores", f"{calibration},0,0", *joined]) + "\n"
    return found


def leaf_counts(text: str, over_repeats: str = "median") -> pd.DataFrame:
    """One row by operation, pages and entries: the median over the repeats, as for Table 5, or the minimum.

    Raises:
        TesseraError: the counter counts something else than instructions.
    """
    frame = pd.read_csv(io.StringIO(text))
    check_calibration(frame)
    frame = frame[frame.operation != "calibration"].drop(columns="repeat")
    return frame.groupby(["operation", "pages", "entries"], sort=False).agg(over_repeats)


def update_costs(texts: dict[int, str]) -> pd.DataFrame:
    """Costs of an entry: of the two counts of an operation, the difference over that of the entries.

    A count is the minimum over the repeats: interrupts, and pages for the kernel's lists, only add to it.

    Args:
        texts: output of ``leafops`` with loads and stores for two numbers of entries, by copies.
    """
    tables = []
    for copies, text in texts.items():
        counts = leaf_counts(text, "min").reset_index()
        of_call = counts.groupby(["operation", "pages"], sort=False)
        more = of_call.last() - of_call.first()
        names = ["instructions", "loads", "stores"]
        tables.append(more[names].div(more.entries, axis=0).reset_index().assign(copies=copies))
    table = pd.concat(tables)
    references = table.loads + table.stores
    for name, column in (("instructions", table.instructions), ("references", references)):
        off = column.groupby([table.operation, table.pages]).transform("first")
        table[f"added_{name}"] = column - off
    return table.assign(provenance="measured")[list(COST_UPDATES.names)].reset_index(drop=True)


def unequal_steps(updates: pd.DataFrame) -> list[str]:
    """A line for each operation whose fourth copy adds more than its third: it walks a ring for each copy."""
    wide = updates.pivot_table(index=["operation", "pages"], columns="copies", values="instructions")
    third, fourth = wide[3] - wide[2], wide[4] - wide[3]
    pages = wide.index.get_level_values("pages")
    most = third.clip(lower=1) * np.where(pages == "tables", EQUAL_STEPS, ABOUT_EQUAL_STEPS)
    return [
        f"{operation} of {pages} pages: the fourth copy adds {fourth[operation, pages]:.1f} instructions an "
        f"entry, the third {third[operation, pages]:.1f}"
        for operation, pages in wide.index[fourth > most]
    ]


def region_costs(texts: dict[str, str]) -> pd.DataFrame:
    """Instructions of each operation on 8 MB by configuration, and their ratios, as in Table 5.

    Args:
        texts: output of ``leafops``, by configuration.
    """
    wide = pd.DataFrame({config: leaf_counts(text).instructions for config, text in texts.items()})
    table = wide.add_suffix("_instructions")
    table["replicated_ratio"] = wide["replicated"] / wide["off"]
    table["off_ratio"] = wide["off"] / wide["unpatched"]
    return table.assign(provenance="measured").reset_index()[list(COST_OPERATIONS.names)]


def request_costs(text: str) -> pd.DataFrame:
    """What each request cost, by the size of the process; ``pages`` are the tables that came or went.

    Raises:
        TesseraError: the processor time of a process is not one instruction a nanosecond.
    """
    frame = pd.read_csv(io.StringIO(text))
    calibration = frame[frame.request == "calibration"].iloc[0]
    if abs(calibration.instructions / calibration.elapsed - 1) > 0.01:
        raise TesseraError(
            "a count of instructions",
            f"{calibration.elapsed} instructions took {calibration.instructions} ns of processor time",
            "use a guest whose kernel takes the time-stamp counter for its clock",
            exit_code=EXIT_FAILED,
        )
    frame = frame[frame.request != "calibration"].copy()
    tables = 1024 * frame.replica_kb // PAGE_4KB
    before = tables.groupby(frame.bytes).shift(fill_value=0)
    frame["footprint_bytes"] = frame.bytes
    frame["home_tables"] = 1024 * frame.home_kb // PAGE_4KB + 1
    frame["pages"] = (tables - before).abs()
    frame["elapsed_instructions"] = frame.elapsed
    frame["instructions_per_page"] = (frame.instructions / frame.pages).where(frame.pages > 0)
    return frame.assign(provenance="measured")[list(COST_REQUESTS.names)].reset_index(drop=True)


def memory_accounts(text: str) -> pd.DataFrame:
    """What each account says about the memory of replicas, a row a step."""
    frame = pd.read_csv(io.StringIO(text))
    frame["home_tables"] = 1024 * frame.home_kb // PAGE_4KB + 1
    frame["replica_pages"] = 1024 * frame.replica_kb // PAGE_4KB
    frame["meminfo_bytes"] = 1024 * frame.meminfo_kb
    frame["reserve_bytes"] = (1024 * frame.reserve_kb).where(frame.reserve_kb >= 0)
    return frame.assign(provenance="measured")[list(COST_MEMORY.names)]


def account_disagreements(accounts: pd.DataFrame) -> list[str]:
    """A line for each account that is not exactly 4 KiB times the pages.

    The process's replicas are its home tables times its nodes. The other two accounts have more than this
    process, or more than its replicas, so what counts is how they differ from the first step.
    """
    first, wrong = accounts.iloc[0], []
    for row in accounts.itertuples():
        pages = row.replica_pages - first.replica_pages
        more = f"bytes, {pages} pages more than before"
        if row.replica_pages != row.nodes * row.home_tables:
            wrong.append(f"{row.step}: {row.replica_pages} replicas of {row.home_tables} tables")
        if row.meminfo_bytes - first.meminfo_bytes != pages * PAGE_4KB:
            wrong.append(f"{row.step}: meminfo has {row.meminfo_bytes} {more}")
        if row.cgroup_bytes - first.cgroup_bytes != pages * PAGE_4KB:
            wrong.append(f"{row.step}: the cgroup has {row.cgroup_bytes} {more}")
        reserve = RESERVE_PAGES * COUNTING_MACHINE.nodes * PAGE_4KB if row.step == "reserve" else 0
        if row.reserve_bytes != reserve:
            wrong.append(f"{row.step}: meminfo has a reserve of {row.reserve_bytes} bytes, not {reserve}")
    return wrong


def _show(*tables: pd.DataFrame) -> None:
    for table in tables:
        print_table(**frame_rows(table.drop(columns="provenance"), 3, missing=""))


@study(COST_OPERATIONS, COST_UPDATES, COST_REQUESTS, COST_MEMORY, show=_show)
def costs_study(
    run: Run, sizes: Names = ("64MB", "256MB"), accept_series: bool = False
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Count what replicas cost an update of an entry, by its accessed and dirty bits, and what requests cost.

    The exit status is 1 if a copy adds more to an update than the copy before it, or if the kernel's accounts
    of the memory of replicas differ from 4 KiB a page.

    Example: ./run tessera lab run kernel-costs sizes=64MB --out build/kernel/costs

    Args:
        sizes: of processes that ask for replicas, at most 1GB.
        accept_series: take another version of the kernel source's series if all patches apply.

    Raises:
        TesseraError: a kernel cannot be built, or the script in the guest failed.
    """
    asked = [parse_bytes(size, owner="sizes") for size in sizes]
    tools = image.kernel_tools(run.say)
    build_component(COMPONENT, run.say)
    counting = ReferencesMachine(**asdict(COUNTING_MACHINE), plugin=built(COMPONENT, PLUGIN))
    files: dict[str, str] = {}
    for variant, machine in (("plain", COUNTING_MACHINE), ("measure", counting)):
        program = image.guest_program(variant, run.say, accept_series=accept_series)
        run.say(f"counting instructions: {variant}")
        script = costs_script(variant == "measure", asked)
        files |= _run(tools, program, run.folder / variant, machine, script)
    references = (run.folder / "measure" / REFERENCES).read_text()
    counts = with_references({name: files[name] for name in counted_files(True)}, references)
    regions = {name: counts[f"region-{name}"] for name in ("off", "on_not_replicated", "replicated")}
    updates = pd.concat(
        update_costs({copies: counts[f"{kind}-{copies}"] for copies in COPIES})
        for kind in ("leaves", "tables")
    )
    accounts = memory_accounts(files["accounts"])
    run.wrong.extend(unequal_steps(updates) + account_disagreements(accounts))
    return (
        region_costs({"unpatched": files["region-unpatched"], **regions}),
        updates,
        request_costs(files["requests"]),
        accounts,
    )
