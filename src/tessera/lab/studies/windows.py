"""The trace that a study is given, and a window cut out of it: a study simulates all of a window."""

from __future__ import annotations

import json
import os
from functools import cached_property
from pathlib import Path

from tessera.core.errors import TesseraError
from tessera.core.files import write_text
from tessera.core.results.outcomes import TRACE_NAME, is_ok, recorded
from tessera.record import traces

# The trace that a study is given: a file, or the info.json of a recording, which may have failed.


def recording_of(info_path: Path) -> Path:
    """The trace of a recording.

    Raises:
        TesseraError: it failed, or the file is not the info.json of a recording.
    """
    info, trace = recorded(info_path)
    if not is_ok(info):
        raise TesseraError(f"trace of {info['workload']}", "recording failed", str(info.get("message", "")))
    return trace


class GivenTrace:
    """For jobs with an attribute ``trace``: a trace, or the info.json of a recording."""

    trace: Path

    @cached_property
    def info(self) -> dict | None:
        """Content of info.json; None if a trace is given."""
        return recorded(self.trace)[0] if self.trace.suffix == ".json" else None

    @property
    def workload(self) -> str:
        """From info.json, else the file's or the folder's name."""
        if self.info is not None:
            return self.info["workload"]
        path = self.trace.absolute()
        return path.parent.name if path.name == TRACE_NAME else path.stem

    @property
    def recording(self) -> Path:
        """The trace; TesseraError if its recording failed."""
        if self.info is None:
            return self.trace
        return recording_of(self.trace)


# Cut a window out of a recorded trace, as a separate trace: a study simulates all of it.
#
# The window lies in the middle of the region of interest, because the beginning is the least typical part.
# It keeps the trace's pools, so the trace's layouts fit it.


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
            info |= {"status": "failed", "message": error.sentence}
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
