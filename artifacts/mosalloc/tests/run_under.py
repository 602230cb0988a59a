#!/usr/bin/env python3
"""Runs one test program under one condition; exit 77 is SKIP, and says what is missing.

usage: run_under.py BUILD CONDITION PROGRAM [ARGUMENT...]
conditions: kernel (no library), 4kb, 2mb, 1gb (mosaics; the launcher confirms the pages), qemu (4KB under
QEMU), preload (another library is preloaded too)
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SKIP = 77
POOLS = "type,pageSize,startOffset,endOffset\nbrk,-1,0,512MB\nmmap,-1,0,{anon}\n"
WINDOWS = {
    "4kb": "",
    "qemu": "",
    "preload": "",
    # Edges on purpose: a gap of 4KB pages between windows, and one window in the heap.
    "2mb": "brk,2MB,0,2MB\nmmap,2MB,0,6MB\nmmap,2MB,8MB,16MB\n",
    "1gb": "mmap,1GB,0,1GB\n",
}
NEEDS = {"2mb": (2048, 8 + 6), "1gb": (1048576, 1)}  # 6: for the copies that forked children make


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
    library = str(build / "libmosalloc.so")
    if condition in NEEDS:
        need_pages(condition)
    if condition == "kernel":
        return subprocess.run(program).returncode
    with tempfile.TemporaryDirectory() as folder:
        layout = Path(folder) / "layout.csv"
        anon = "2GB" if condition == "1gb" else "1000MB"
        layout.write_text(POOLS.format(anon=anon) + WINDOWS[condition])
        if condition == "qemu":
            if shutil.which("qemu-x86_64") is None:
                skip("qemu-x86_64 not found; apt install qemu-user")
            own = [
                "-E",
                f"LD_PRELOAD={library}",
                "-E",
                f"MOSALLOC_LAYOUT={layout}",
                "-E",
                f"MOSALLOC_TARGET={program[0]}",
            ]
            return subprocess.run(["qemu-x86_64", *own, *program]).returncode
        environment = dict(os.environ)
        if condition == "preload":
            environment["LD_PRELOAD"] = str(build / "libother.so")
        run = [str(build / "mosalloc-run"), "--layout", str(layout), "--", *program]
        return subprocess.run(run, env=environment).returncode


sys.exit(main())
