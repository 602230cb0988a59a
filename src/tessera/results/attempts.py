"""Outcomes of the parts of a run that can fail (docs/contracts.md, "Parts of the kernel")."""

from __future__ import annotations

import json
from pathlib import Path

#: Name of the file in a part's folder.
OUTCOME = "attempt.json"


def outcomes(folder: Path) -> dict[str, dict]:
    """Part -> outcome, for every attempted part below ``folder``."""
    return {path.parent.name: json.loads(path.read_text()) for path in sorted(folder.glob(f"*/{OUTCOME}"))}
