"""A worker for programs that misbehave on purpose: ``harness.py KIND FOLDER``, one JSON line as the real one.

It runs as a process of its own, as the real worker does, because it kills everything below itself.
"""

from __future__ import annotations

import dataclasses
import json
import os
import sys
from pathlib import Path

from tessera.lab.allocator_proof.programs import driver
from tessera.lab.allocator_proof.programs.driver import Need, ProvedProgram, expect_equal
from tessera.lab.allocator_proof.programs.worker import become_subreaper, run_program

FOLDER = Path(sys.argv[2])

#: Sleeps in a session of its own, as a daemon does, below a shell that sleeps as well.
DAEMON = f"setsid sleep 1000 & echo $! > {FOLDER}/daemon.pid"


def under_mosaic(box) -> bool:
    return box.layout is not None


def only_under_mosaic(box, script: str) -> str:
    return box.run(["sh", "-c", script if under_mosaic(box) else "true"]).out


DRIVES = {
    "right": lambda box: box.run(["echo", "41"]).out,
    "wrong-answer": lambda box: box.run(["echo", "42" if under_mosaic(box) else "41"]).out,
    "wrong-status": lambda box: only_under_mosaic(box, "echo last words >&2; exit 3"),
    "signal": lambda box: only_under_mosaic(box, "kill -SEGV $$"),
    "own-check": lambda box: expect_equal("rows", box.run(["echo", "6"]).out, "7\n") or "",
    "client-dies": lambda box: str({}["no such key"]),
    "hangs": lambda box: only_under_mosaic(box, f"{DAEMON}; sleep 1000"),
    "leaves-a-daemon": lambda box: only_under_mosaic(box, DAEMON),
    "missing": lambda box: "",
}


def launcher(program, layout, *, report, **options) -> list[str]:
    """In place of mosalloc-run: a shell that writes a report with the verdict of the environment."""
    text = json.dumps(
        {
            "verdict": os.environ.get("VERDICT", "confirmed"),
            "reason": "",
            "pools": [{"type": "brk", "used_bytes": 1}, {"type": "mmap", "used_bytes": 2}],
            "counters": {"fallback_windows": 0},
        }
    )
    return ["sh", "-c", f"echo '{text}' > {report}; shift; exec \"$@\"", "launcher", "--", *map(str, program)]


def main() -> None:
    kind = sys.argv[1]
    needs = (Need("no-such-command", "no-such-package"),) if kind == "missing" else ()
    driver.mosalloc_command = launcher
    program = ProvedProgram(kind, "", DRIVES[kind], needs, timeout_seconds=2)
    become_subreaper()
    run_program(program, ["4kb"], FOLDER, None, lambda found: print(json.dumps(dataclasses.asdict(found))))


main()
