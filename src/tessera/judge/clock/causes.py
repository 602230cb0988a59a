"""What explains a large error of a mark or a program: ``causes.csv``. It is text, and changes no number.

The sentences were written after the first comparison; a cause is a hypothesis about the difference between
core and processor, not a result.
"""

from __future__ import annotations

import csv
from pathlib import Path


def causes() -> dict[str, str]:
    """Name of a mark or program -> sentence."""
    with Path(__file__).with_name("causes.csv").open() as stream:
        return {row["name"]: row["cause"] for row in csv.DictReader(stream)}
