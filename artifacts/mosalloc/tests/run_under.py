#!/usr/bin/env python3
"""Run one test program under one condition. Exit status 77: skipped, and the output says what is missing.

usage: run_under.py BUILD CONDITION PROGRAM [ARGUMENT...]
conditions: kernel (no library); 4kb; qemu (4KB under QEMU); events (the same, telling of each call); preload (another library is preloaded too);
with huge pages, which the launcher confirms: 2mb, 1gb, demand (2MB pages on demand, none kept), exact (2MB
pages that split at any difference of protections), stacks (2MB pages, stacks of threads in the pool too)
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SKIP = 77
POOLS = "type,pageSize,startOffset,endOffset\nbrk,-1,0,512MB\nmmap,-1,0,{anon}\n"
# Edges on purpose: a gap of 4KB pages between windows, and one window in the heap.
TWO_MB = "brk,2MB,0,2MB\nmmap,2MB,0,6MB\nmmap,2MB,8MB,16MB\n"
WINDOWS = {"2mb": TWO_MB, "demand": TWO_MB, "exact": TWO_MB, "stacks": TWO_MB, "1gb": "mmap,1GB,0,1GB\n"}
OPTIONS = {
    "demand": ["--no-prefault"],
    "exact": ["--protections", "exact"],
    "stacks": ["--stacks", "pool", "--protections", "soft"],
}
VARIABLES = {"demand": {"MOSALLOC_KEEP_BYTES": "0"}}
# These protect or map over parts of huge pages: they must work, and the launcher must report the split.
SPLITTING = {"mprotect", "guard", "file_over_memory", "wipe_on_fork", "holes"}
# These use memory that the windows cannot reach; the launcher must report that.
UNREACHED = {"reservation": 64 * 4096}
SPLITS = {"2mb": SPLITTING, "demand": SPLITTING, "1gb": SPLITTING}
NEEDS = {"1gb": (1048576, 1)} | {name: (2048, 8) for name in ("2mb", "demand", "exact", "stacks")}


def skip(reason: str) -> None:
    print(f"SKIP: {reason}")
    sys.exit(SKIP)


def need_pages(condition: str) -> None:
    kilobytes, pages = NEEDS[condition]
    folder = Path(f"/sys/kernel/mm/hugepages/hugepages-{kilobytes}kB")
    if not folder.exists():
        skip(f"this kernel has no pages of {kilobytes}KB")
    free = int((folder / "free_hugepages").read_text()) - int((folder / "resv_hugepages").read_text())
    if free < pages:
        skip(f"{pages} pages of {kilobytes}KB needed, {free} free; write {pages} to {folder}/nr_hugepages")


def main() -> int:
    build, condition, program = Path(sys.argv[1]), sys.argv[2], sys.argv[3:]
    if condition in NEEDS:
        need_pages(condition)
    if condition == "kernel":
        return subprocess.run(program).returncode
    with tempfile.TemporaryDirectory() as folder:
        layout = Path(folder) / "layout.csv"
        layout.write_text(layout_of(condition))
        if condition in ("qemu", "events"):
            if shutil.which("qemu-x86_64") is None:
                skip("qemu-x86_64 not found; apt install qemu-user")
            name = "libmosalloc-events.so" if condition == "events" else "libmosalloc.so"
            own = [
                "-E",
                f"LD_PRELOAD={preloadable(build, name)}",
                "-E",
                f"MOSALLOC_LAYOUT={layout}",
                "-E",
                f"MOSALLOC_TARGET={program[0]}",
            ]
            return subprocess.run(["qemu-x86_64", *own, *program]).returncode
        return confirmed(build, condition, program, layout)


def preloadable(build: Path, name: str) -> str:
    """A path of this library that LD_PRELOAD can hold."""
    sys.path.insert(0, str(Path(__file__).parent / "differential"))
    import judge  # not at the top: other programs load this file for its layouts

    return judge.preloadable(build, build / name)


def confirmed(build: Path, condition: str, program: list[str], layout: Path) -> int:
    """Run under the launcher; check its verdict as well as the program's status."""
    environment = dict(os.environ) | VARIABLES.get(condition, {})
    if condition == "preload":
        environment["LD_PRELOAD"] = preloadable(build, "libother.so")
    report = layout.with_name("report.json")
    run = [str(build / "mosalloc-run"), "--layout", str(layout), "--report", str(report)]
    run += options_of(condition, program[-1])
    status = subprocess.run([*run, "--", *program], env=environment).returncode
    if status != 0:
        return status
    wrong = wrong_in(json.loads(report.read_text()), condition, program[-1])
    if wrong:
        print(wrong)
    return 1 if wrong else 0


def wrong_in(report: dict, condition: str, name: str) -> str:
    """What contradicts the condition in the report of a case that ended well; empty: nothing."""
    splits = name in SPLITS.get(condition, set())
    split_pages = report["counters"]["split_pages"]
    if condition != "exact" and (split_pages > 0) != splits:
        return f"{split_pages} huge pages were split, verdict {report['verdict']}"
    opened = report["counters"]["opened_bytes"]
    if opened != UNREACHED.get(name, 0):
        return f"{opened} bytes of reservations outside the pools are in use"
    if name in UNREACHED and (report["verdict"] == "confirmed") == (condition in WINDOWS):
        return f"the verdict is {report['verdict']}, with {opened} bytes outside the layout"
    return ""


def options_of(condition: str, name: str) -> list[str]:
    """Options of the launcher; cases that split huge pages, or use memory outside, are allowed to run on."""
    splits = name in SPLITS.get(condition, set())
    admitted = splits or condition == "exact" or name in UNREACHED
    return OPTIONS.get(condition, []) + ["--allow-fallback"] * admitted


def layout_of(condition: str) -> str:
    """Text of the layout file."""
    return POOLS.format(anon="2GB" if condition == "1gb" else "1000MB") + WINDOWS.get(condition, "")


if __name__ == "__main__":
    sys.exit(main())
