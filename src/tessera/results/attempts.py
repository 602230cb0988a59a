"""Outcomes of the parts of a run that may fail (docs/contracts.md, "Parts of the kernel")."""

from __future__ import annotations

import json
from pathlib import Path

#: Name of the file in a part's folder.
OUTCOME = "attempt.json"


def outcomes(folder: Path) -> dict[str, dict]:
    """Part -> its outcome, for all parts below ``folder`` that were attempted."""
    return {path.parent.name: json.loads(path.read_text()) for path in sorted(folder.glob(f"*/{OUTCOME}"))}
