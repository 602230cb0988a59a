"""What replicas cost beyond Mitosis's tables: each update of an entry, requests of a process, and memory.

All in one guest, whose first processor executes the counted programs. The counts are instructions under
``-icount``, as for Table 5 in :mod:`tessera.lab.kernel.cost_experiments`.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.results.kernel_tables import COST_MEMORY, COST_OPERATIONS, COST_REQUESTS, COST_UPDATES
from tessera.core.tables import frame_rows, print_table
from tessera.core.units import MB, PAGE_4KB, parse_bytes
from tessera.lab.kernel import image
from tessera.lab.kernel.cost_experiments import COUNTING_MACHINE, check_calibration
from tessera.lab.kernel.guest import REPLICATION_ON, GuestProgram, GuestRun, run_in_guest, script_failed
from tessera.lab.study import Names, Run, study
from tessera.machine.container.toolchain import Toolchain

#: Leaves of the region of :data:`COST_OPERATIONS`: 8 MB.
REGION_LEAVES = 2048
#: Two numbers of entries that need the same tables; the difference of their counts is that of the entries.
FEW_LEAVES, MANY_LEAVES = 10, 490
FEW_TABLES, MANY_TABLES = 5, 105
#: Copies of the tables -> how a program gets them. 0: the mechanism is off.
COPIES = {0: "", 1: "", 2: "pgtblrepl -r 0-1 --", 3: "pgtblrepl -r 0-2 --", 4: "pgtblrepl -r 0-3 --"}
#: Memory of the process of :data:`COST_MEMORY`, and pages of the reserve on each node.
ACCOUNTED_BYTES, RESERVE_PAGES = 64 * MB, 256
#: What one more copy may add to an update, relative to what the copy before it added: as good as the same.
EQUAL_STEPS = 1.05

_UPDATES = (
    f"{{wrapper}} leafops leaves 5 {FEW_LEAVES} {MANY_LEAVES} > /out/leaves-{{copies}}.csv || exit\n"
    f"{{wrapper}} leafops tables 5 {FEW_TABLES} {MANY_TABLES} > /out/tables-{{copies}}.csv || exit\n"
)
_REGION = f"{{wrapper}} leafops leaves 3 {REGION_LEAVES} > /out/region-{{config}}.csv || exit\n"
#: On one processor, because each keeps charged pages of its own.
_ACCOUNTS = f"""mkdir -p /cgroups && mount -t cgroup2 cgroup2 /cgroups || exit
echo +memory > /cgroups/cgroup.subtree_control && mkdir /cgroups/measured /cgroups/reader || exit
accounts /cgroups {ACCOUNTED_BYTES} {RESERVE_PAGES} > /out/accounts.csv || exit
"""
_ON_ONE_PROCESSOR = "taskset -p 1 $$ > /dev/null || exit\n"


def costs_script(patched: bool, sizes: Sequence[int]) -> str:
    """Script of the guest with a kernel with or without the series."""
    if not patched:
        return _ON_ONE_PROCESSOR + _REGION.format(wrapper="", config="unpatched")
    lines = [_ON_ONE_PROCESSOR]
    for copies, wrapper in COPIES.items():
        if copies == 1:
            lines.append(REPLICATION_ON)
        lines.append(_UPDATES.format(wrapper=wrapper, copies=copies))
        if config := {0: "off", 1: "on_not_replicated", 4: "replicated"}.get(copies):
            lines.append(_REGION.format(wrapper=wrapper, config=config))
    lines.append(f"requests {' '.join(map(str, sizes))} > /out/requests.csv || exit\n{_ACCOUNTS}")
    return "".join(lines)


def _run(tools: Toolchain, program: GuestProgram, out: Path, patched: bool, sizes: Sequence[int]) -> GuestRun:
    done = run_in_guest(
        tools,
        program,
        costs_script(patched, sizes),
        out,
        machine=COUNTING_MACHINE,
        timeout_seconds=1800,
    )
    if done.status != 0:
        raise script_failed("the costs of replicas", done)
    return done


def leaf_counts(text: str) -> pd.Series:
    """Median over the repeats (without interrupts, which hit single ones) by operation, pages and entries.

    Raises:
        TesseraError: the counter counts something else than instructions.
    """
    frame = pd.read_csv(io.StringIO(text))
    check_calibration(frame)
    frame = frame[frame.operation != "calibration"]
    return frame.groupby(["operation", "pages", "entries"], sort=False).instructions.median()


def update_costs(texts: dict[int, str]) -> pd.DataFrame:
    """Instructions per entry: of the two counts of an operation, the difference over that of the entries.

    Args:
        texts: lines of ``leafops`` with the smaller and the larger number of entries, by copies.
    """
    tables = []
    for copies, text in texts.items():
        counts = leaf_counts(text).reset_index()
        first = counts.groupby(["operation", "pages"], sort=False).first()
        last = counts.groupby(["operation", "pages"], sort=False).last()
        each = (last.instructions - first.instructions) / (last.entries - first.entries)
        tables.append(each.rename("instructions").reset_index().assign(copies=copies))
    table = pd.concat(tables)
    keys = [table.operation, table.pages]
    table["added_instructions"] = table.instructions - table.groupby(keys).instructions.transform("first")
    return table.assign(provenance="measured")[list(COST_UPDATES.names)].reset_index(drop=True)


def unequal_steps(updates: pd.DataFrame) -> list[str]:
    """A line for each operation whose fourth copy adds more than its third: it walks a ring for each copy."""
    wide = updates.pivot_table(index=["operation", "pages"], columns="copies", values="instructions")
    third, fourth = wide[3] - wide[2], wide[4] - wide[3]
    return [
        f"{operation} of {pages} pages: the fourth copy adds {fourth[operation, pages]:.1f} instructions an "
        f"entry, the third {third[operation, pages]:.1f}"
        for operation, pages in wide.index[fourth > EQUAL_STEPS * third.clip(lower=1)]
    ]


def region_costs(texts: dict[str, str]) -> pd.DataFrame:
    """Instructions of each operation on 8 MB by configuration, and their ratios, as in Table 5.

    Args:
        texts: lines of ``leafops``, by configuration.
    """
    wide = pd.DataFrame({config: leaf_counts(text) for config, text in texts.items()})
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
    process, so what counts is how they differ from the first step; a cgroup also pays for what the kernel
    allocates once, before the first step, and frees after the last node.
    """
    first, wrong = accounts.iloc[0], []
    for row in accounts.itertuples():
        pages = row.replica_pages - first.replica_pages
        more = f"bytes, {pages} pages more than before"
        if row.replica_pages != row.nodes * row.home_tables:
            wrong.append(f"{row.step}: {row.replica_pages} replicas of {row.home_tables} tables")
        if row.meminfo_bytes - first.meminfo_bytes != pages * PAGE_4KB:
            wrong.append(f"{row.step}: meminfo has {row.meminfo_bytes} {more}")
        if row.nodes and row.cgroup_bytes - first.cgroup_bytes != pages * PAGE_4KB:
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
    done = {}
    for variant in ("plain", "measure"):
        program = image.guest_program(variant, run.say, accept_series=accept_series)
        run.say(f"counting instructions: {variant}")
        done[variant] = _run(tools, program, run.folder / variant, variant == "measure", asked)
    plain, ours = done["plain"], done["measure"]
    regions = {"unpatched": plain.text("region-unpatched.csv")}
    for config in ("off", "on_not_replicated", "replicated"):
        regions[config] = ours.text(f"region-{config}.csv")
    updates = pd.concat(
        update_costs({copies: ours.text(f"{kind}-{copies}.csv") for copies in COPIES})
        for kind in ("leaves", "tables")
    )
    accounts = memory_accounts(ours.text("accounts.csv"))
    run.wrong.extend(unequal_steps(updates) + account_disagreements(accounts))
    return region_costs(regions), updates, request_costs(ours.text("requests.csv")), accounts
