"""Recordings: info.json says how one went, the trace lies beside it (docs/contracts.md, "Traces")."""

from __future__ import annotations

import json
from pathlib import Path

TRACE_NAME = "trace.tst"


def recorded(info_path: Path) -> tuple[dict, Path]:
    """The info of a recording and the path of its trace."""
    return json.loads(info_path.read_text()), info_path.with_name(TRACE_NAME)
