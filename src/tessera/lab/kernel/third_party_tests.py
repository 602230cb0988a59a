"""Tests by others in the guest, under replicas: Linux's selftests of memory management, and stress-ng."""

from __future__ import annotations

import re

import pandas as pd

from tessera.core.errors import unknown_name
from tessera.core.results.kernel_tables import SELFTESTS_MM, STRESS_NG
from tessera.core.results.table_io import frame_of
from tessera.lab.kernel import image
from tessera.lab.kernel.guest import GuestRun, run_in_guest
from tessera.lab.kernel.qemu import EmulatedMachine
from tessera.lab.study import Count, Names, Run, printed, study

# The kernel's own tests of memory management (tools/testing/selftests/mm), as they are and under replicas.
#
# They were written for other purposes, and some fail in a small guest on any kernel. The result is a pass if
# every test that passes without replicas passes with them, without kernel warnings and checker findings.

#: name -> the program with its arguments.
SELFTESTS_MM_RUNS = {
    "cow": "cow",
    "gup_longterm": "gup_longterm",
    "hugepage-mmap": "hugepage-mmap",
    "hugepage-mremap": "hugepage-mremap",
    "khugepaged": "khugepaged all:anon",
    "ksm_functional_tests": "ksm_functional_tests",
    "madv_populate": "madv_populate",
    "map_fixed_noreplace": "map_fixed_noreplace",
    "map_populate": "map_populate",
    "mdwe_test": "mdwe_test",
    "mkdirty": "mkdirty",
    "mlock2-tests": "mlock2-tests",
    "mremap_dontunmap": "mremap_dontunmap",
    "mremap_test": "mremap_test",
    "mseal_test": "mseal_test",
    "on-fault-limit": "on-fault-limit",
    "soft-dirty": "soft-dirty",
    "split_huge_page_test": "split_huge_page_test",
    "thuge-gen": "thuge-gen",
    "uffd-stress": "uffd-stress anon 16 4",
    "uffd-unit-tests": "uffd-unit-tests",
}

SELFTESTS_SCRIPT = """replication-on || exit
echo 64 > /proc/sys/vm/nr_hugepages
cd /tmp
{runs}
echo 0 > /proc/sys/vm/nr_hugepages
replication-report
"""
_SELFTEST_RUN = """timeout {seconds} {wrapper} /mm/{command} > /out/{name}.{how} 2>&1; echo "{name} {how} $?"
"""
SELFTESTS_SKIPPED = 4


OUTCOME_WORDS = {
    0: "passed",
    SELFTESTS_SKIPPED: "skipped",
    None: "never ran",
    124: "timed out",
    143: "timed out",
}


@study(SELFTESTS_MM, show=printed())
def selftests_mm(run: Run, seconds: Count = 120, accept_series: bool = False) -> pd.DataFrame:
    """Run the kernel's selftests of memory management, without replicas and with replicas on all nodes.

    The exit status is 1 if a test that passes without replicas does not pass with them.

    Example: ./run tessera lab run kernel-selftests-mm --out build/kernel/selftests-mm-run

    Args:
        seconds: a test is stopped after so many.
        accept_series: take another version of the kernel source's series if all patches apply.

    Raises:
        TesseraError: the kernel or its tests cannot be built, or QEMU failed.
    """
    program = image.guest_program("checked", run.say, accept_series=accept_series, selftests_mm=True)
    runs = "".join(
        _SELFTEST_RUN.format(seconds=seconds, wrapper=wrapper, command=command, name=name, how=how)
        for name, command in SELFTESTS_MM_RUNS.items()
        for how, wrapper in (("plain", ""), ("replicated", "pgtblrepl -r all"))
    )
    done = run_in_guest(
        image.kernel_tools(run.say),
        program,
        SELFTESTS_SCRIPT.format(runs=runs),
        run.folder,
        machine=EmulatedMachine(),
        timeout_seconds=300 + 2 * seconds * len(SELFTESTS_MM_RUNS),
    )
    table, failures = judge_selftests(done, list(SELFTESTS_MM_RUNS))
    run.wrong.extend(failures)
    return table


def judge_selftests(done: GuestRun, names: list[str]) -> tuple[pd.DataFrame, list[str]]:
    """Compare the two statuses of each test: one that passes without replicas must pass with them."""
    statuses = {
        (name, how): int(status)
        for name, how, status in re.findall(r"^(\S+) (plain|replicated) (\d+)$", done.text("stdout"), re.M)
    }
    rows, failures = [], []
    for name in names:
        plain, replicated = (statuses.get((name, how)) for how in ("plain", "replicated"))
        without, with_replicas = (
            OUTCOME_WORDS.get(status, f"status {status}") for status in (plain, replicated)
        )
        outcome = _outcome(plain, replicated)
        rows.append((name, without, with_replicas, outcome, "measured"))
        if outcome == "failed":
            failures.append(f"{name}: {without} without replicas, {with_replicas} with")
    failures += [f"kernel: {line}" for line in done.warnings[:5]]
    if done.status != 0:
        failures.append(f"the script ended with status {done.status}: {done.text('stderr')[-300:]}")
    return frame_of(SELFTESTS_MM, rows), failures


def _outcome(plain: int | None, replicated: int | None) -> str:
    """``inconclusive``: the test does not pass in this guest, with or without replicas."""
    if plain is None or (plain == 0 and replicated != 0):
        return "failed"
    return "passed" if plain == 0 else "inconclusive"


# stress-ng's memory stressors in the guest, each verifying what it reads, under replicas on all nodes.

#: Those of stress-ng's class "vm" (and fork, memfd, numa, remap) that fit in a small guest. Left out:
#: bigheap, brk, malloc, stack (they grow until the OOM killer comes), mlockmany (stress-ng calls it
#: pathological), physpage and watchdog (other matters).
STRESSORS = (
    "dev-shm fork madvise memfd mlock mmap mmapaddr mmapfixed mmapfork mmapmany mprotect mremap "
    "msync msyncmany munmap numa pagemove pageswap remap shm shm-sysv stackmmap swap tmpfs userfaultfd "
    "vm vm-addr vm-rw vm-segv vm-splice"
).split()

STRESS_SCRIPT = """replication-on || exit
ulimit -c 0
mkdir -p /tmp/stress && cd /tmp/stress
for stressor in {stressors}; do
    pgtblrepl -r all stress-ng --verify --no-rand-seed --$stressor 4 --timeout {seconds}s {sizes} \\
        > /tmp/log 2>&1
    status=$?
    echo "$stressor $status"
    [ $status = 0 ] || {{ cat /tmp/log >&2; }}
done
cd / && rm -rf /tmp/stress
replication-report
"""
#: So that four of each fit in the guest.
STRESS_SIZES = (
    "--vm-bytes 64M --mmap-bytes 64M --mremap-bytes 32M --memfd-bytes 32M --vm-splice-bytes 16M "
    "--vm-rw-bytes 16M"
)
#: Statuses of stress-ng: it refuses politely what this kernel can't (no such system call, no resource).
STRESS_SKIPPED = {3: "no resource", 4: "not implemented"}


def _show_stress(table: pd.DataFrame) -> None:
    for outcome in ("passed", "skipped"):
        names = list(table.stressor[table.outcome == outcome])
        print(f"{outcome} {len(names)}: {', '.join(names)}")


@study(STRESS_NG, show=_show_stress)
def stress_ng(
    run: Run, stressors: Names = (), seconds: Count = 5, accept_series: bool = False
) -> pd.DataFrame:
    """Run the memory stressors of stress-ng (--verify), with replicas on all nodes and the checker on.

    The exit status is 1 if one failed, or if the kernel warned.

    Example: ./run tessera lab run kernel-stress-ng seconds=5 --out build/kernel/stress-ng

    Args:
        stressors: names; none: all.
        seconds: duration of each stressor.
        accept_series: take another version of the kernel source's series if all patches apply.

    Raises:
        TesseraError: an unknown stressor, or the kernel or stress-ng cannot be built.
    """
    for name in stressors:
        if name not in STRESSORS:
            raise unknown_name("stressor", name, tuple(STRESSORS))
    program = image.guest_program("checked", run.say, accept_series=accept_series, stress_ng=True)
    chosen = list(stressors) or STRESSORS
    script = STRESS_SCRIPT.format(stressors=" ".join(chosen), seconds=seconds, sizes=STRESS_SIZES)
    done = run_in_guest(
        image.kernel_tools(run.say), program, script, run.folder, machine=EmulatedMachine(),
        timeout_seconds=300 + len(chosen) * 60,
    )  # fmt: skip
    passed, skipped, failures = judge_stress(done, chosen)
    run.wrong.extend(failures)
    outcomes = {"passed": passed, "skipped": skipped, "failed": failures}
    return frame_of(
        STRESS_NG, [(name, what, "measured") for what, names in outcomes.items() for name in names]
    )


def judge_stress(done: GuestRun, chosen: list[str]) -> tuple[list[str], list[str], list[str]]:
    """Sort the stressors by their statuses, and the kernel's own complaints to the failures."""
    statuses = dict(re.findall(r"^([a-z-]+) (\d+)$", done.text("stdout"), re.MULTILINE))
    passed = [name for name in chosen if statuses.get(name) == "0"]
    skipped = [
        f"{name} ({STRESS_SKIPPED[int(statuses[name])]})"
        for name in chosen
        if int(statuses.get(name, 1)) in STRESS_SKIPPED
    ]
    failures = [
        f"{name}: status {statuses.get(name, 'none: it never ran')}"
        for name in chosen
        if int(statuses.get(name, 1)) not in (0, *STRESS_SKIPPED)
    ]
    failures += [f"kernel: {line}" for line in done.warnings[:5]]
    if done.status != 0:
        failures.append(f"the script ended with status {done.status}: {done.text('stderr')[-300:]}")
    return passed, skipped, failures
