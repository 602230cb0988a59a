"""A window cut out of a recorded trace: a study simulates all of it."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from tessera.core.errors import TesseraError
from tessera.core.files import sha256_of, write_text
from tessera.core.results.outcomes import FAILED, OK, TRACE_NAME, is_ok
from tessera.lab.study import Count, Recording, Run, study
from tessera.record import traces

# The window lies in the middle of the region of interest, because the beginning is the least typical part.
# It keeps the trace's pools, so the trace's layouts fit it.


def show_window(info: dict) -> None:
    """Print what info.json of the window says."""
    if is_ok(info):
        print(f"{info['workload']}: {info['accesses']} accesses from {info['window_start_access']} on")
    else:
        print(f"failed: {info['message']}", file=sys.stderr)


@study(show=show_window)
def window(run: Run, trace: Recording, accesses: Count) -> dict:
    """Cut a window out of the middle of a trace: info.json, and trace.tst beside it.

    If the recording has no more accesses, the window is the whole recording. The window of a failed recording
    is an info.json with the failure, without a trace.

    Example, after ./run smoke:
      ./run tessera lab run window trace=results/smoke/traces/gups/info.json accesses=1000000 \\
        --out /tmp/window

    Args:
        trace: trace (.tst), or info.json of a recording.
        accesses: length of the window.

    Returns:
        content of the info.json that was written.
    """
    found = {"workload": trace.workload, "status": OK, "message": ""}
    found |= traces.trace_info(trace.path) if trace.info is None else trace.info
    out = run.file("info.json")
    out.parent.mkdir(parents=True, exist_ok=True)
    target = out.with_name(TRACE_NAME)
    target.unlink(missing_ok=True)
    if is_ok(found):
        try:
            start = _cut(trace.trace, found["accesses"], accesses, target)
            found |= traces.trace_info(target) | {"window_start_access": start, "sha256": sha256_of(target)}
        except TesseraError as error:
            found |= {"status": FAILED, "message": error.sentence}
    write_text(out, json.dumps(found, indent=1, sort_keys=True) + "\n")
    return found


def middle(available: int, accesses: int) -> int:
    """First access of the window of ``accesses`` in the middle of ``available``."""
    return (available - accesses) // 2


def _cut(trace: Path, available: int, accesses: int, target: Path) -> int:
    if accesses >= available:
        os.link(trace, target)  # the same bytes, no second copy
        return 0
    start = middle(available, accesses)
    traces.cut(trace, target, start_access=start, accesses=accesses)
    return start
