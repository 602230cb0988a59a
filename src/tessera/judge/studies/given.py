"""The trace that a study is given: a file, or the info.json of a recording, which may have failed."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

from tessera.core.errors import TesseraError
from tessera.results.recordings import TRACE_NAME, recorded
from tessera.results.status import is_ok


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
        if not is_ok(self.info):
            raise TesseraError(f"trace of {self.workload}", "recording failed", self.info["message"])
        return self.trace.with_name(TRACE_NAME)
