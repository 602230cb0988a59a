"""Recordings: info.json has the outcome; the trace is beside it (docs/contracts.md, "Traces")."""

from __future__ import annotations

import json
from pathlib import Path

from tessera.core.errors import TesseraError
from tessera.results.tree import TRACE_NAME


def recorded(info_path: Path) -> tuple[dict, Path]:
    """The info of a recording and the path of its trace.

    Raises:
        TesseraError: the file is not the info.json of a recording.
    """
    try:
        info = json.loads(info_path.read_text())
    except ValueError as error:
        remedy = "name the info.json of a recording; ./run reproduce makes them"
        raise TesseraError(f"recording {info_path}", f"not JSON: {error}", remedy) from error
    return info, info_path.with_name(TRACE_NAME)
