"""stress-ng's memory stressors in the guest, each verifying what it reads, under replicas on all nodes."""

from __future__ import annotations

import re
from pathlib import Path

from tessera.kernel.guest import GuestProgram, GuestRun, run_in_guest
from tessera.kernel.machine import Machine
from tessera.machine.container.toolchain import Toolchain

#: Those of stress-ng's class "vm" (and fork, memfd, numa, remap) that fit in a small guest. Left out:
#: bigheap, brk, malloc, stack (they grow until the OOM killer comes), mlockmany (stress-ng calls it
#: pathological), physpage and watchdog (other matters).
STRESSORS = (
    "dev-shm fork madvise memfd mlock mmap mmapaddr mmapfixed mmapfork mmapmany mprotect mremap "
    "msync msyncmany munmap numa pagemove pageswap remap shm shm-sysv stackmmap swap tmpfs userfaultfd "
    "vm vm-addr vm-rw vm-segv vm-splice"
).split()

SCRIPT = """replication-on || exit
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
SIZES = (
    "--vm-bytes 64M --mmap-bytes 64M --mremap-bytes 32M --memfd-bytes 32M --vm-splice-bytes 16M "
    "--vm-rw-bytes 16M"
)
#: Statuses of stress-ng: it refuses politely what this kernel can't (no such system call, no resource).
SKIPPED = {3: "no resource", 4: "not implemented"}


def stress(
    tools: Toolchain, program: GuestProgram, out: Path, seconds_each: int, stressors: list[str] | None = None
) -> tuple[list[str], list[str], list[str]]:
    """Run the stressors one after the other; returns passed, skipped and failed ones."""
    chosen = stressors or STRESSORS
    script = SCRIPT.format(stressors=" ".join(chosen), seconds=seconds_each, sizes=SIZES)
    done = run_in_guest(
        tools, program, script, out, machine=Machine(), timeout_seconds=300 + len(chosen) * 60
    )
    return judge(done, chosen)


def judge(done: GuestRun, chosen: list[str]) -> tuple[list[str], list[str], list[str]]:
    """Sort the stressors by their statuses, and the kernel's own complaints to the failures."""
    statuses = dict(re.findall(r"^([a-z-]+) (\d+)$", done.text("stdout"), re.MULTILINE))
    passed = [name for name in chosen if statuses.get(name) == "0"]
    skipped = [
        f"{name} ({SKIPPED[int(statuses[name])]})" for name in chosen if int(statuses.get(name, 1)) in SKIPPED
    ]
    failures = [
        f"{name}: status {statuses.get(name, 'none: it never ran')}"
        for name in chosen
        if int(statuses.get(name, 1)) not in (0, *SKIPPED)
    ]
    failures += [f"kernel: {line}" for line in done.warnings[:5]]
    if done.status != 0:
        failures.append(f"the script ended with status {done.status}: {done.text('stderr')[-300:]}")
    return passed, skipped, failures
