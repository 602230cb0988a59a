"""The table of faults of several logs: ``tessera simulate --os ... --faults-out``."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path

from tessera.core.files import writing
from tessera.scenarios import imitated

#: ``access``: data accesses before the fault; ``kind``: docs/os.md; ``order``: log2 of the page in 4KB pages.
COLUMNS = "layout access block kind order pool page frame write fallback major".split()
ORDER_OF = {"4KB": 0, "2MB": 9, "1GB": 18}


def write_faults(logs: Iterable[Path], out: Path) -> int:
    """One row for each fault of each log, in the order of the program; returns their number.

    Raises:
        TesseraError: a file that is no complete log.
    """
    count = 0
    with writing(out) as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(COLUMNS)
        for log in logs:
            for row in csv.DictReader(imitated.lines(log, "faults")):
                named = row | {"layout": log.stem, "kind": row["cause"], "order": ORDER_OF[row["page_size"]]}
                table.writerow([named[column] for column in COLUMNS])
                count += 1
    return count
