"""Cut a window out of a recorded trace, as a separate trace: a study simulates all of it.

The window lies in the middle of the region of interest, because the beginning is the least typical part. It
keeps the trace's pools, so the trace's layouts fit it.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from tessera.core.errors import TesseraError
from tessera.core.files import write_text
from tessera.record import traces
from tessera.results.recordings import TRACE_NAME, recorded
from tessera.results.status import is_ok


def make_window(info_path: Path, accesses: int, out: Path) -> dict:
    """Write ``out`` (info.json) and the window's trace beside it; returns what ``out`` holds.

    If the recording has at most ``accesses`` accesses, the window is the whole recording. For a failed
    recording, the info contains the failure and there is no trace.
    """
    info, trace = recorded(info_path)
    out.parent.mkdir(parents=True, exist_ok=True)
    target = out.with_name(TRACE_NAME)
    target.unlink(missing_ok=True)
    if is_ok(info):
        try:
            start = _cut(trace, info["accesses"], accesses, target)
            info |= traces.info(target) | {"window_start_access": start}
        except TesseraError as error:
            info |= {"status": "failed", "message": f"{error.asked}: {error.found}; {error.remedy}"}
    write_text(out, json.dumps(info, indent=1, sort_keys=True) + "\n")
    return info


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
