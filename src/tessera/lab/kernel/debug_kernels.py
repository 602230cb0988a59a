"""Selftests and stress in kernels that check themselves: locks (lockdep), memory (kasan), races (kcsan).

They are slow to build and to run, so that no default run has them. Of kcsan's reports, those of the replicas'
code count; Linux has races of its own that it reports as well.
"""

from __future__ import annotations

import re
from typing import Literal

import pandas as pd

from tessera.core.results.kernel_tables import DEBUG
from tessera.core.results.table_io import frame_of
from tessera.lab.kernel import image
from tessera.lab.kernel.guest import GuestRun, run_in_guest
from tessera.lab.kernel.patch_tests import SELFTESTS, judge_kselftest, kselftest_of
from tessera.lab.kernel.qemu import EmulatedMachine
from tessera.lab.study import Count, Run, Seed, printed, study

#: Without a look from outside, unlike the stress of kernel-test: these kernels look from inside.
STRESS = """replication-on || exit
echo 64 > /proc/sys/vm/pgtable_replica_cache
STRESS_NODES={nodes} pgtblrepl -r all stress {seconds} {seed} || exit
echo 0 > /proc/sys/vm/pgtable_replica_cache
replication-report
"""
#: Half of it is for what these kernels remember of all memory.
MACHINE = EmulatedMachine(memory_mb=4096)
#: Enough of the kernel's log to have every report.
LOG = "log_buf_len=8M"
#: A report starts with one of these, and goes on to the line of the next one.
_REPORT = re.compile(r"(?:WARNING|BUG): .*|Oops.*|Bad page.*|pgtable_replica: difference.*")
_KCSAN = "BUG: KCSAN"
_OURS = re.compile("pgtable_replica|replica_")

Variant = Literal["lockdep", "kasan", "kcsan"]


@study(DEBUG, show=printed(1))
def debug_kernel(
    run: Run,
    variant: Variant = "lockdep",
    stress_seconds: Count = 60,
    seed: Seed = 1,
    accept_series: bool = False,
) -> pd.DataFrame:
    """Run selftests and stress in a kernel that checks its locks, its memory, or races of its processors.

    The exit status is 1 if a test failed, or the kernel complained.

    Example: ./run tessera lab run kernel-debug variant=lockdep --out build/kernel/debug

    Args:
        variant: the kernel: lockdep (locks, use of freed pages), kasan (use of memory), kcsan (races).
        stress_seconds: duration of the random operations, seconds.
        seed: of the random operations.
        accept_series: take another version of the kernel source's series if all patches apply.

    Raises:
        TesseraError: the kernel cannot be built, or QEMU failed.
    """
    program = image.guest_program(variant, run.say, accept_series=accept_series)
    tools = image.kernel_tools(run.say)
    stress = STRESS.format(seconds=stress_seconds, seed=seed, nodes=hex((1 << MACHINE.filled) - 1))
    rows = []
    for part, script, seconds in (
        ("selftests", SELFTESTS, 3000),
        ("stress", stress, 1200 + stress_seconds * 5),
    ):
        run.say(f"running {part} in the kernel {variant}")
        done = run_in_guest(
            tools, program, script, run.folder / part, machine=MACHINE, timeout_seconds=seconds, append=LOG,
            files=kselftest_of(program),
        )  # fmt: skip
        passed, failures, ours, others = judge_debug(done)
        if script == SELFTESTS:
            own_passed, own_failures = judge_kselftest(done)
            passed, failures = passed + own_passed, failures + own_failures
        rows.append((variant, part, passed, len(failures), len(ours), len(others), done.seconds, "measured"))
        run.wrong += [f"{part}: {line}" for line in (*failures, *ours[:5])]
    return frame_of(DEBUG, rows)


def judge_debug(done: GuestRun) -> tuple[int, list[str], list[str], list[str]]:
    """Checks that passed, failures, and the kernel's reports: those of replicas, and others.

    Every report counts as one of replicas, except for a race in code that is none of theirs.
    """
    lines = done.text("stdout").splitlines()
    failures = [line for line in lines if line.startswith("not ok")]
    if done.status != 0:
        failures.append(f"the script ended with status {done.status}: {done.text('stderr')[-300:]}")
    passed = sum(line.startswith("ok ") for line in lines) or int(not failures)
    reports: list[list[str]] = []
    for line in done.text("dmesg").splitlines():
        if _REPORT.search(line):
            reports.append([])
        if reports:
            reports[-1].append(line)
    ours, others = [], []
    for report in reports:
        known = _KCSAN in report[0] and not any(map(_OURS.search, report))
        (others if known else ours).append(report[0])
    return passed, failures, ours, others
