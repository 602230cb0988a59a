"""stress-ng: its own stressors of memory, two workers each, with verification on."""

from __future__ import annotations

import re

from tessera.core.units import MB
from tessera.lab.allocator_proof.programs.driver import Box, Need, ProvedProgram, WrongAnswer

#: stressor -> operations, about a second of work without the library; and its own options.
STRESSORS: dict[str, tuple[int, tuple[str, ...]]] = {
    "malloc": (20_000, ("--malloc-bytes", "8m")),
    "mmap": (20, ("--mmap-bytes", "8m")),
    "mremap": (2000, ("--mremap-bytes", "4m")),
    "brk": (50_000, ()),
    "vm": (3000, ("--vm-bytes", "8m")),
    "fork": (1000, ()),
    "pthread": (2000, ()),
    "memfd": (100, ("--memfd-bytes", "8m")),
}

#: Seconds after which a stressor stops by itself, whatever it has done: a limit, never reached.
LIMIT_SECONDS = 40


def driver(stressor: str):
    """Runs one stressor for its operations; the answer is the number of operations that were done."""

    def drive(box: Box) -> str:
        operations, more = STRESSORS[stressor]
        argv = ["stress-ng", f"--{stressor}", "2", f"--{stressor}-ops", operations, *more]
        argv += ["--verify", "--timeout", f"{LIMIT_SECONDS}s", "--metrics", "--temp-path", box.folder]
        done = box.run(argv)
        printed = done.out + done.err
        if (failed := re.search(r"^.*\b(?:fail|error):.*$", printed, re.M)) is not None:
            raise WrongAnswer(failed.group(0).strip())
        row = re.search(rf"metrc:.*\] {stressor} +(\d+) ", printed)
        if row is None or int(row.group(1)) == 0:
            raise WrongAnswer(f"stress-ng --{stressor} reports no operation done")
        return f"{stressor} verified"

    return drive


def row(stressor: str) -> ProvedProgram:
    return ProvedProgram(
        name=f"stress-{stressor}",
        what=f"stress-ng --{stressor} 2 --verify",
        drive=driver(stressor),
        needs=(Need("stress-ng", "stress-ng"),),
        heap_bytes=32 * MB,
        anon_bytes=64 * MB,
        maps_huge_pages=stressor == "mmap",
        timeout_seconds=60,
    )


PROGRAMS = tuple(map(row, STRESSORS))
