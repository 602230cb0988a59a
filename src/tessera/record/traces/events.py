"""The program's calls to memory management that a trace has, by ``tessera-trace events``."""

from __future__ import annotations

from pathlib import Path

from tessera.record.traces.convert import _existing, _tool


def events(trace: Path | str, *, csv: bool = False) -> str:
    """The events of ``trace`` in their order, as text for readers or as CSV.

    Raises:
        TesseraError: the trace is missing or damaged, or it was recorded without events.
    """
    path = _existing(trace)
    return _tool(["events", path, *(["--csv"] if csv else [])], [path.parent])
