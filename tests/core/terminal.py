"""Runs a piece of Python on a terminal of its own."""

from __future__ import annotations

import os
import pty
import subprocess
import sys


def on_terminal(code: str, columns: int = 60) -> str:
    """What the code writes to stdout and stderr, both a terminal of this width."""
    ours, theirs = pty.openpty()
    environment = os.environ | {"COLUMNS": str(columns), "TERM": "xterm"}
    process = subprocess.Popen([sys.executable, "-c", code], stdout=theirs, stderr=theirs, env=environment)
    os.close(theirs)
    written = b""
    try:
        while piece := os.read(ours, 65536):
            written += piece
    except OSError:  # the terminal's other end is closed
        pass
    os.close(ours)
    assert process.wait() == 0, written
    return written.decode()
