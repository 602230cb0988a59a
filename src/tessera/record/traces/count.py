"""Count the accesses of a region of interest without recording them."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tessera.record.traces.header import info
from tessera.record.traces.record import record


@dataclass(frozen=True)
class Counted:
    """A region of interest: its data accesses and its instructions."""

    accesses: int
    instructions: int


def count(argv: Sequence[str | Path], **options: Any) -> Counted:
    """Run ``argv`` to its end under QEMU and count its region, as positions of windows are counted.

    Args:
        options: those of :func:`tessera.record.traces.record.record` that say which region is meant and
            where the program runs.

    Raises:
        TesseraError: as of ``record``: the program failed, or its region never began.
    """
    with tempfile.TemporaryDirectory(prefix="tessera-count-") as folder:
        found = info(record(argv, Path(folder) / "count.tst", windows=0, **options).trace)
    return Counted(found["region_accesses_seen"], found["region_instructions_seen"])
