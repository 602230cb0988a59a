"""Runs a command that may fail, and writes its outcome to a file, so that other jobs continue."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

from tessera.core.files import write_text

#: Lines of output that the message of a failure keeps.
KEPT_LINES = 8


def attempt(command: list[str], out: Path) -> dict:
    """Run ``tessera COMMAND --out <folder of out>`` and write ``out``: ``command, status, message, seconds``.

    ``status`` is ``ok`` or ``failed``; ``message`` has the last lines of output of a failed command. Deletes
    the tables of an earlier attempt first.

    Raises:
        SystemExit: a signal stopped the command; nothing is written, and the next run starts it again.
    """
    folder = out.parent
    folder.mkdir(parents=True, exist_ok=True)
    for table in folder.glob("*.csv"):
        table.unlink()
    began = time.monotonic()
    argv = ["tessera", *command, "--out", str(folder)]
    lines: list[str] = []
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        for line in process.stdout:
            sys.stdout.write(line)
            sys.stdout.flush()
            lines = [*lines[-KEPT_LINES + 1 :], line.rstrip()]
    if process.returncode < 0 or process.returncode > 128:
        raise SystemExit(process.returncode)
    outcome = {
        "command": " ".join(argv),
        "status": "failed" if process.returncode else "ok",
        "message": "\n".join(lines) if process.returncode else "",
        "seconds": round(time.monotonic() - began, 1),
    }
    write_text(out, json.dumps(outcome, indent=1) + "\n")
    return outcome
