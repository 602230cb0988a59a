"""The order in which a trace first touches the pages of its pools, by ``tessera-trace touches``."""

from __future__ import annotations

from pathlib import Path

from tessera.record.traces.convert import _existing, _tool, _writable


def touches(trace: Path | str, out: Path | str) -> None:
    """Write ``pool,page,access`` of the first touch of each 4KB page of the pools, in order, to ``out``.

    Raises:
        TesseraError: the trace is missing or damaged, or ``out`` can't be written.
    """
    path, target = _existing(trace), _writable(out)
    _tool(["touches", path, target], [path.parent, target.parent])
