"""The kernel's own tests of memory management (tools/testing/selftests/mm), as they are and under replicas.

They were written for other purposes, and some fail in a small guest on any kernel. The result is a pass if
every test that passes without replicas passes with them, without kernel warnings and checker findings.
"""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd

from tessera.kernel.guest import GuestProgram, GuestRun, run_in_guest
from tessera.kernel.machine import Machine
from tessera.machine.container.toolchain import Toolchain
from tessera.results.schema.kernel import SELFTESTS_MM
from tessera.results.write import frame_of

#: name -> the program with its arguments.
TESTS = {
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

SCRIPT = """replication-on || exit
echo 64 > /proc/sys/vm/nr_hugepages
cd /tmp
{runs}
echo 0 > /proc/sys/vm/nr_hugepages
replication-report
"""
_RUN = """timeout {seconds} {wrapper} /mm/{command} > /out/{name}.{how} 2>&1; echo "{name} {how} $?"
"""
SKIPPED = 4


WORDS = {0: "passed", SKIPPED: "skipped", None: "never ran", 124: "timed out", 143: "timed out"}


def check(
    tools: Toolchain, program: GuestProgram, out: Path, *, seconds_each: int
) -> tuple[pd.DataFrame, list[str]]:
    """Run each test without and with replicas; returns a row per test and the failures."""
    runs = "".join(
        _RUN.format(seconds=seconds_each, wrapper=wrapper, command=command, name=name, how=how)
        for name, command in TESTS.items()
        for how, wrapper in (("plain", ""), ("replicated", "pgtblrepl -r all"))
    )
    timeout = 300 + 2 * seconds_each * len(TESTS)
    done = run_in_guest(
        tools, program, SCRIPT.format(runs=runs), out, machine=Machine(), timeout_seconds=timeout
    )
    return judge(done, list(TESTS))


def judge(done: GuestRun, names: list[str]) -> tuple[pd.DataFrame, list[str]]:
    """Compare the two statuses of each test: one that passes without replicas must pass with them."""
    statuses = {
        (name, how): int(status)
        for name, how, status in re.findall(r"^(\S+) (plain|replicated) (\d+)$", done.text("stdout"), re.M)
    }
    rows, failures = [], []
    for name in names:
        plain, replicated = (statuses.get((name, how)) for how in ("plain", "replicated"))
        without, with_replicas = (WORDS.get(status, f"status {status}") for status in (plain, replicated))
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
