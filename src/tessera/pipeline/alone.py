"""One run of a configuration at a time, and none that has died stands in the way of the next.

Snakemake's own lock is a file that stays when its process is killed; this one belongs to the process.
"""

from __future__ import annotations

import fcntl
import os
import sys
from pathlib import Path

from tessera.core.errors import TesseraError
from tessera.pipeline.retry import NOT_A_RUN

_held = []  # open files; closing one gives the lock back


def alone(results: Path) -> None:
    """Hold ``results`` until this process ends, however it ends.

    Only the main process of a real run does this: jobs run inside it, and a dry run changes nothing.

    Raises:
        TesseraError: another run holds it.
    """
    if NOT_A_RUN.intersection(sys.argv):
        return
    results.mkdir(parents=True, exist_ok=True)
    stream = (results / ".running").open("a+")
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        stream.seek(0)
        other = stream.read().strip() or "unknown"
        stream.close()
        raise TesseraError(
            f"a run of {results}",
            f"another one is at work (process {other})",
            f"wait for its end, or stop it: kill {other}",
        ) from None
    stream.truncate(0)
    stream.write(f"{os.getpid()}\n")
    stream.flush()
    _held.append(stream)
