"""Show the output of a running program as it arrives, and keep it."""

from __future__ import annotations

import subprocess
import sys
import threading
from typing import TextIO


def communicate(process: subprocess.Popen, show_stdout: bool) -> tuple[str, str]:
    """Wait for ``process`` (text pipes); returns its standard output and error.

    Standard error always appears on ours at once; standard output on ours if ``show_stdout``.
    """
    kept: dict[str, list[str]] = {"out": [], "err": []}

    def copy(name: str, source: TextIO, target: TextIO | None) -> None:
        for line in source:
            kept[name].append(line)
            if target is not None:
                target.write(line)
                target.flush()

    threads = [
        threading.Thread(target=copy, args=("out", process.stdout, sys.stdout if show_stdout else None)),
        threading.Thread(target=copy, args=("err", process.stderr, sys.stderr)),
    ]
    for thread in threads:
        thread.start()
    process.wait()
    for thread in threads:
        thread.join()
    return "".join(kept["out"]), "".join(kept["err"])
