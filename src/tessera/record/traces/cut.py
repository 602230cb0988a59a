"""Write a part of a trace as a new trace, by ``tessera-trace cut``."""

from __future__ import annotations

from pathlib import Path

from tessera.record.traces.convert import _existing, _tool, _writable


def cut(trace: Path | str, out: Path | str, *, start_access: int, accesses: int) -> None:
    """Write ``accesses`` accesses from ``start_access`` on to ``out``; both ends move to block boundaries.

    Raises:
        TesseraError: the part does not lie inside the trace, or the trace is damaged.
    """
    path, target = _existing(trace), _writable(out)
    span = ["--start", str(start_access), "--accesses", str(accesses)]
    _tool(["cut", path, target, *span], [path.parent, target.parent])
